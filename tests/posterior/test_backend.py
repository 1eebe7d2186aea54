"""What one array library does with triangles, against plain products."""

import numpy as np
import pytest

from svmselect.posterior import backend
from svmselect.posterior.backend import get_backend


@pytest.mark.parametrize("device", ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)])
def test_triangles(monkeypatch, device):
    monkeypatch.setattr(backend, "_BLOCK", 8)
    monkeypatch.setattr(backend, "_THIN", 8)
    rng, on = np.random.default_rng(0), get_backend(device)
    lower = np.asfortranarray(np.tril(rng.normal(size=(45, 45))) + 10.0 * np.eye(45))
    right = rng.normal(size=(45, 7))
    inverse = on.lower_inverse(on.put(lower.copy(order="F")))
    np.testing.assert_allclose(on.get(inverse), np.linalg.inv(lower), atol=1e-12)
    np.testing.assert_allclose(on.get(on.lower_gram(on.put(lower))), lower.T @ lower, atol=1e-10)
    product = on.lower_times(on.put(lower), on.put(right.copy()))
    np.testing.assert_allclose(on.get(product), lower @ right, atol=1e-12)
    solved = on.lower_solve(on.put(lower), on.put(right))
    np.testing.assert_allclose(on.get(solved), np.linalg.solve(lower, right), atol=1e-12)
