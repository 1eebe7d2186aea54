"""Values against loops, scikit-learn and exact arithmetic."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as gp

from svmselect.kernels import RBF, Constant, Kernel, Linear, Matern, Polynomial

Scalar = Callable[[np.ndarray, np.ndarray], float]


def scaled(x: np.ndarray, z: np.ndarray, length_scale: float | list[float]) -> float:
    return math.sqrt(sum(((x - z) / np.asarray(length_scale)) ** 2))


LOOPS: list[tuple[Kernel, Scalar]] = [
    (RBF([0.5, 2.0]), lambda x, z: math.exp(-0.5 * scaled(x, z, [0.5, 2.0]) ** 2)),
    (Matern(0.8, 0.5), lambda x, z: math.exp(-scaled(x, z, 0.8))),
    (
        Matern([0.5, 2.0], 1.5),
        lambda x, z: (1 + (t := math.sqrt(3) * scaled(x, z, [0.5, 2.0]))) * math.exp(-t),
    ),
    (
        Matern(0.8, 2.5),
        lambda x, z: (1 + (t := math.sqrt(5) * scaled(x, z, 0.8)) + t * t / 3) * math.exp(-t),
    ),
    (Polynomial(3, 0.5, 2.0), lambda x, z: (0.5 * float(x @ z) + 2.0) ** 3),
    (Linear(0.3), lambda x, z: 0.3 * float(x @ z)),
    (Constant(0.3), lambda x, z: 0.3),
    (
        2.0 * RBF(0.7) * Linear(3.0) + 0.1,
        lambda x, z: 2.0 * math.exp(-0.5 * scaled(x, z, 0.7) ** 2) * 3.0 * float(x @ z) + 0.1,
    ),
]

PEERS = [
    (RBF([1.0, 2.0, 0.5]), gp.RBF([1.0, 2.0, 0.5])),
    (Matern([1.0, 2.0, 0.5], 0.5), gp.Matern([1.0, 2.0, 0.5], nu=0.5)),
    (Matern(0.7, 1.5), gp.Matern(0.7, nu=1.5)),
    (Matern(0.7, 2.5), gp.Matern(0.7, nu=2.5)),
    (Polynomial(3, 1.0, 0.25), gp.DotProduct(0.5) ** 3),
    (2.0 * RBF(3.0) + 0.1, gp.ConstantKernel(2.0) * gp.RBF(3.0) + gp.ConstantKernel(0.1)),
]


@pytest.mark.parametrize(
    ("kernel", "scalar"), LOOPS, ids=lambda v: repr(v) if isinstance(v, Kernel) else "loop"
)
def test_gram_against_loops(kernel: Kernel, scalar: Scalar) -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(13, 2)), rng.normal(size=(9, 2))
    square = [[scalar(x, z) for z in X] for x in X]
    block = [[scalar(x, z) for z in Z] for x in X]
    np.testing.assert_allclose(kernel(X), square, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(kernel(X, Z), block, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(kernel.diag(X), np.diag(square), rtol=1e-13)


@pytest.mark.parametrize(("kernel", "peer"), PEERS, ids=lambda v: repr(v))
@pytest.mark.parametrize("n", [5, 200, 201, 403])
def test_gram_and_gradient_against_scikit_learn(kernel: Kernel, peer: gp.Kernel, n: int) -> None:
    rng = np.random.default_rng(n)
    X, Z = rng.normal(size=(n, 3)), rng.normal(size=(250, 3))
    np.testing.assert_allclose(kernel(X), peer(X), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel(X, Z), peer(X, Z), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel.diag(X), peer.diag(X), rtol=1e-13)
    if kernel.stationary:  # the others have parameters that the peer has not
        G = rng.normal(size=(n, n))
        expected = np.einsum("ij,ijp->p", G, peer(X, eval_gradient=True)[1])
        np.testing.assert_allclose(kernel.pullback(X, G), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [3, 200, 500])
def test_rbf_has_unit_diagonal_and_stays_in_the_unit_interval(n: int) -> None:
    X = np.random.default_rng(0).normal(size=(n, 40)) * 1e3 + 1e6
    K = RBF(1e7)(X)
    assert (np.diag(K) == 1.0).all()
    assert K.min() >= 0.0
    assert K.max() <= 1.0


@pytest.mark.parametrize("kernel", [RBF([1.0, 2.0, 0.5]), Matern(1.0, 2.5), Matern([1.0] * 3, 0.5)])
@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_an_offset_of_the_inputs_changes_nothing(kernel: Kernel, offset: float) -> None:
    # Multiples of 2^-10 survive the addition of the offset exactly.
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(300, 3)) * 1024) / 1024
    Z = np.round(rng.normal(size=(50, 3)) * 1024) / 1024
    G, H = rng.normal(size=(300, 300)), rng.normal(size=(300, 50))
    np.testing.assert_allclose(kernel(X + offset), kernel(X), rtol=0, atol=2e-14)
    np.testing.assert_allclose(kernel(X + offset, Z + offset), kernel(X, Z), rtol=0, atol=2e-14)
    np.testing.assert_allclose(kernel.pullback(X + offset, G), kernel.pullback(X, G), rtol=1e-10)
    shifted = kernel.pullback(X + offset, H, Z + offset)
    np.testing.assert_allclose(shifted, kernel.pullback(X, H, Z), rtol=1e-10)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_almost_coincident_points_far_from_the_centre(nu: float) -> None:
    # Without the recomputed differences the distance 1e-7 would drown: 1e3^2 * 1e-16 = 1e-10.
    X = np.array([[1000.0, 0.0], [1000.0 + 2.0**-23, 0.0], [-1000.0, 1.0]])
    gap = 2.0**-23
    kernel = Matern([1e-6, 1.0], nu)
    r = gap / 1e-6
    expected = Matern(1.0, nu)([[0.0], [r]])[0, 1]
    assert kernel(X)[0, 1] == pytest.approx(expected, rel=1e-12)
    G = np.zeros((3, 3))
    G[0, 1] = 1.0
    one = Matern([1.0], nu).pullback([[0.0], [r]], [[0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(kernel.pullback(X, G), [one[0], 0.0], rtol=1e-12)


def test_one_distant_row_does_not_spoil_the_others() -> None:
    X = np.random.default_rng(0).normal(size=(250, 2))
    far = np.concatenate([X, [[1e12, -1e12]]])
    np.testing.assert_allclose(RBF(1.0)(far)[:250, :250], RBF(1.0)(X), rtol=0, atol=1e-14)
    G = np.random.default_rng(1).normal(size=(251, 251))
    expected = RBF([1.0, 1.0]).pullback(X, G[:250, :250])
    np.testing.assert_allclose(RBF([1.0, 1.0]).pullback(far, G), expected, rtol=1e-11)


def test_inputs_of_very_different_scale() -> None:
    rng = np.random.default_rng(0)
    unit = rng.normal(size=(220, 2))
    X = unit * [1e12, 1e-12]
    kernel = RBF([1e12, 1e-12])
    np.testing.assert_allclose(kernel(X), RBF(1.0)(unit), rtol=1e-12, atol=1e-14)
    G = rng.normal(size=(220, 220))
    expected = RBF([1.0, 1.0]).pullback(unit, G)
    np.testing.assert_allclose(kernel.pullback(X, G), expected, rtol=1e-10)
    K = RBF(1.0)(X)
    assert np.array_equal(K, np.eye(220))


@pytest.mark.parametrize("size", [1e160, 1e300])
def test_enormous_inputs_give_no_nan(size: float) -> None:
    X = np.array([[size], [-size], [0.0], [size]])
    for kernel in (RBF(1e-3), RBF([1e-3]), Matern(1e-3, 0.5), Matern([1e-3], 2.5)):
        K = kernel(X)
        assert K[0].tolist() == [1.0, 0.0, 0.0, 1.0]
        assert np.isfinite(kernel.pullback(X, np.ones((4, 4)))).all()


def test_many_inputs_need_no_third_axis() -> None:
    # An (n, n, p) array would be 400 * 400 * 1000 * 8 bytes, more than a gigabyte.
    import tracemalloc

    X = np.random.default_rng(0).normal(size=(400, 1000))
    G = np.ones((400, 400))
    kernel = RBF([30.0] * 1000)
    tracemalloc.start()
    kernel.pullback(X, G)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * X.nbytes


def test_known_matrix_beside_a_large_constant_keeps_its_digits() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    kernel = 1e13 + RBF([1.0, 2.0])
    G = np.random.default_rng(1).normal(size=(50, 50))
    expected = RBF([1.0, 2.0]).pullback(X, G)
    np.testing.assert_allclose(kernel.pullback(X, G, K=kernel(X))[1:], expected, rtol=1e-12)


@pytest.mark.parametrize("scales", [2.5, (0.1, 1e-300 / 3.0)])
def test_a_copy_of_a_kernel_is_the_kernel(scales: float | tuple[float, ...]) -> None:
    kernel = RBF(scales, variables=(0, 1, 1))
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert (again.length_scale, again.variables) == (kernel.length_scale, kernel.variables)
    assert hash(again) == hash(kernel)
