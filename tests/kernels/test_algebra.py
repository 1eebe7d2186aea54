"""Expressions: names, numbers, validation and what a kernel tells about itself."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from svmselect import kernels
from svmselect.kernels import RBF, Constant, Kernel, Linear, Matern, Polynomial, Product, Sum


def test_names_are_left_to_right_and_unique() -> None:
    kernel = Constant(1.0) * RBF(length_scale=[1.0, 2.0]) + Constant(0.1)
    assert kernel.names == (
        "constant.value",
        "rbf.length_scale[0]",
        "rbf.length_scale[1]",
        "constant_2.value",
    )
    np.testing.assert_allclose(kernel.theta, np.log([1.0, 1.0, 2.0, 0.1]), rtol=1e-15)
    assert RBF(3.0).names == ("rbf.length_scale",)
    assert RBF([3.0]).names == ("rbf.length_scale[0]",)
    assert Polynomial(2).names == ("polynomial.scale", "polynomial.coef0")
    assert Matern().names == ("matern.length_scale",)
    assert Linear().names == ("linear.scale",)
    nested = RBF(1.0) * (RBF(2.0) + Constant(1.0) * RBF(3.0))
    assert nested.names == (
        "rbf.length_scale",
        "rbf_2.length_scale",
        "constant.value",
        "rbf_3.length_scale",
    )


@pytest.mark.parametrize("number", [2, 2.0, np.float64(2.0), np.float32(2.0), np.int64(2)])
def test_numbers_become_constants_on_either_side(number: float) -> None:
    k = RBF(1.0)
    assert number * k == Product((Constant(2.0), k))
    assert k * number == Product((k, Constant(2.0)))
    assert number + k == Sum((Constant(2.0), k))
    assert k + number == Sum((k, Constant(2.0)))


@pytest.mark.parametrize("other", ["rbf", None, [1.0], np.ones(2)])
def test_other_things_do_not(other: object) -> None:
    with pytest.raises(TypeError):
        RBF(1.0) + other  # type: ignore[operator]
    with pytest.raises(TypeError):
        other * RBF(1.0)  # type: ignore[operator]


def test_values_of_equal_meaning_are_equal() -> None:
    assert RBF(1) == RBF(1.0) == RBF(np.float64(1.0)) == RBF(np.array(1.0))
    assert RBF([1, 2]) == RBF((1.0, 2.0)) == RBF(np.array([1.0, 2.0]))
    assert RBF(1.0) != RBF([1.0])
    assert RBF(1.0) != Matern(1.0)
    assert Sum((RBF(1.0),)) != Product((RBF(1.0),))
    assert len({RBF(1), RBF(1.0), 2 * RBF(1), 2.0 * RBF(1.0)}) == 2


def test_a_source_array_can_change_without_changing_the_kernel() -> None:
    scales = np.array([1.0, 2.0])
    kernel = RBF(scales)
    scales[0] = 7.0
    assert kernel.length_scale == (1.0, 2.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(0.0), "length_scale of RBF must be positive and finite, got 0.0"),
        (lambda: RBF(np.inf), "length_scale of RBF must be positive and finite, got inf"),
        (lambda: RBF([1.0, -2.0]), r"length_scale of RBF\[1\] must be positive"),
        (lambda: RBF([[1.0]]), r"one for each column, got an array of shape \(1, 1\)"),
        (lambda: RBF([]), r"got an array of shape \(0,\)"),
        (lambda: RBF("wide"), "length_scale of RBF must be a positive number, got 'wide'"),  # type: ignore[arg-type]
        (lambda: Constant(-1.0), "value of Constant must be positive"),
        (lambda: Constant([1.0]), "value of Constant must be one number"),  # type: ignore[arg-type]
        (lambda: RBF() * -1.0, "value of Constant must be positive"),
        (lambda: Linear(np.nan), "scale of Linear must be positive and finite, got nan"),
        (lambda: Polynomial(2, coef0=0.0), "coef0 of Polynomial must be positive"),
        (lambda: Polynomial(2.5), "degree of Polynomial must be a whole number"),  # type: ignore[arg-type]
        (lambda: Polynomial(0), "degree of Polynomial must be a whole number"),
        (lambda: Matern(1.0, nu=3.5), "nu of Matern must be 0.5, 1.5 or 2.5, got 3.5"),
        (lambda: Sum(()), "Sum needs a non-empty tuple of kernels"),
        (lambda: RBF().at([1000.0]), "length_scale of RBF must be positive and finite, got inf"),
        (lambda: RBF().at([np.nan]), "got nan"),
        (lambda: RBF().at([[0.0]]), r"theta has shape \(1, 1\)"),
        (
            lambda: (2.0 * RBF([1.0, 2.0]))(np.ones((3, 4))),
            "length_scale of RBF has 2 entries but the data have 4 columns; give one for each",
        ),
    ],
)
def test_bad_parameters_are_named(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("kernel", "constant"),
    [
        (RBF(), 0.0),
        (Constant(2.0), 2.0),
        (2.0 * RBF(), 0.0),
        (2.0 * RBF() + 0.1, 0.1),
        (0.1 + RBF() + 0.2, 0.3),
        (2.0 * (RBF() + 0.1) * (Linear() + 3.0), 0.6),
        (Polynomial(2), 0.0),
    ],
    ids=repr,
)
def test_additive_constant(kernel: Kernel, constant: float) -> None:
    assert kernel.additive_constant() == pytest.approx(constant, rel=1e-15)


def test_what_a_kernel_tells_about_itself() -> None:
    assert RBF().stationary
    assert (2.0 * Matern() + 1.0).stationary
    assert not (RBF() + Linear()).stationary
    assert (2.0 * RBF()).needs_scaling
    assert not (Constant(1.0) + 2.0).needs_scaling
    assert Linear().needs_scaling


def test_bounds_follow_the_parameters() -> None:
    kernel = Constant(1.0) * RBF([1.0, 1.0])
    assert kernel.bounds.shape == (3, 2)
    assert np.array_equal(kernel.bounds[1], RBF().bounds[0])
    assert np.array_equal(kernel.bounds[0], Constant().bounds[0])
    assert ((kernel.bounds[:, 0] < kernel.theta) & (kernel.theta < kernel.bounds[:, 1])).all()


def test_a_file_added_to_the_folder_is_found(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "cosine.py").write_text(
        "from dataclasses import dataclass\n"
        "from svmselect.kernels.rbf import RBF\n"
        "@dataclass(frozen=True, repr=False)\n"
        "class Cosine(RBF):\n    '''Another kernel.'''\n"
    )
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "__path__", [*kernels.__path__, str(tmp_path)])
        kernels._found.cache_clear()
        assert kernels.available()["cosine"].__name__ == "Cosine"
        assert kernels.Cosine().names == ("cosine.length_scale",)
        assert kernels.as_kernel("cosine") == kernels.Cosine()
    kernels._found.cache_clear()
    sys.modules.pop("svmselect.kernels.cosine")
    del kernels.cosine
    with pytest.raises(AttributeError, match="no attribute 'Cosine'"):
        kernels.Cosine  # noqa: B018


def test_import_is_light() -> None:
    heavy = ("sklearn", "pandas", "torch", "matplotlib", "scipy")
    code = (
        "import sys, svmselect.kernels, svmselect.data; "
        f"sys.exit(','.join(m for m in {heavy!r} if m in sys.modules) or 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
