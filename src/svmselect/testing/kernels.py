"""What every kernel must do; and a kernel that must not be touched."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import partial
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from svmselect.kernels import Kernel, available
from svmselect.kernels.tangents import Memo, directional
from svmselect.testing.checks import Check, require, run, strictly
from svmselect.types import Array


class Untouchable(Kernel):
    """A kernel whose every evaluation is a failure: it proves that no work was done."""

    stationary = True
    needs_scaling = False
    theta = np.zeros(1)
    bounds = np.array([[-1.0, 1.0]])
    names = ("untouchable.parameter",)

    def leaves(self) -> Iterator[Kernel]:
        yield self

    def at(self, theta: ArrayLike) -> Kernel:
        return self

    def block(self, X: Array, Z: Array | None) -> NoReturn:
        raise AssertionError("the kernel was evaluated where nothing should be computed")

    def _diag(self, X: Array) -> NoReturn:
        raise AssertionError("the kernel was evaluated where nothing should be computed")


def kernel_checks(kernel: Kernel, n_inputs: int = 3) -> list[Check]:
    """List every check of a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    n_inputs : int, default 3
        How many columns the rows have.

    Returns
    -------
    list of (str, callable)
        Names and functions; a function raises AssertionError.
    """
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(30, n_inputs)), rng.normal(size=(17, n_inputs))
    checks: list[Check] = [
        ("parameters", partial(_check_parameters, kernel)),
        ("value object", partial(_check_value_object, kernel)),
        ("Gram matrix", partial(_check_gram, kernel, X)),
        ("rows and columns", partial(_check_rectangular, kernel, X, Z)),
        ("pullback: square", partial(_check_pullback, kernel, X, None)),
        ("pullback: rectangular", partial(_check_pullback, kernel, X, Z)),
        ("pullback: repeated rows", partial(_check_pullback, kernel, X[np.arange(30) // 2], None)),
        ("tangents", partial(_check_tangents, kernel, X)),
        ("tangents: repeated rows", partial(_check_tangents, kernel, X[np.arange(30) // 2])),
    ]
    return [(name, partial(strictly, body)) for name, body in checks]


def check_kernel(kernel: Kernel, n_inputs: int = 3) -> None:
    """Run every check of a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    n_inputs : int, default 3
        How many columns the rows have.

    Raises
    ------
    AssertionError
        If any check fails; it lists those that failed, and why.
    """
    run(kernel, kernel_checks(kernel, n_inputs))


def _check_parameters(kernel: Kernel) -> None:
    """Names, logarithms and bounds fit together, and ``at`` moves exactly there."""
    p = len(kernel.names)
    require(len(set(kernel.names)) == p, f"names are not unique: {kernel.names}")
    require(kernel.theta.shape == (p,), f"theta has shape {kernel.theta.shape} for {p} names")
    require(kernel.bounds.shape == (p, 2), f"bounds have shape {kernel.bounds.shape}")
    require(bool((kernel.bounds[:, 0] < kernel.bounds[:, 1]).all()), "bounds are not ordered")
    require(kernel.at(kernel.theta) == kernel, "k.at(k.theta) is not k")
    moved = kernel.at(kernel.theta + 0.5)
    require(moved.names == kernel.names, "at() changes the names")
    require(
        bool(np.allclose(moved.theta, kernel.theta + 0.5, rtol=1e-14, atol=1e-14)),
        f"at(theta) has another theta: {moved.theta} for {kernel.theta + 0.5}",
    )


def _check_value_object(kernel: Kernel) -> None:
    """Immutable, hashable, picklable, and repr evaluates."""
    again = pickle.loads(pickle.dumps(kernel))
    require(again == kernel and hash(again) == hash(kernel), "pickling changes it")
    names = {cls.__name__: cls for cls in available().values()}
    names |= {type(leaf).__name__: type(leaf) for leaf in kernel.leaves()}  # type: ignore[misc]
    require(eval(repr(kernel), dict(names)) == kernel, f"repr does not evaluate: {kernel!r}")
    for name in vars(kernel):
        try:
            setattr(kernel, name, None)
        except AttributeError:
            continue
        raise AssertionError(f"{type(kernel).__name__}.{name} can be changed")


def _check_gram(kernel: Kernel, X: Array) -> None:
    """Exactly symmetric, its diagonal is diag(), positive semi-definite."""
    K = kernel(X)
    require(bool(np.isfinite(K).all()), "the Gram matrix has entries that are not finite")
    require(np.array_equal(K, K.T), "the Gram matrix is not exactly symmetric")
    require(np.array_equal(np.diag(K), kernel.diag(X)), "diag(X) is not the diagonal of k(X)")
    eigenvalues = np.linalg.eigvalsh(K)
    require(
        bool(eigenvalues[0] >= -1e-12 * max(eigenvalues[-1], 1e-300)),
        f"the Gram matrix has the negative eigenvalue {eigenvalues[0]:.2e}",
    )
    if kernel.stationary:
        moved = kernel(X + 3.0)
        require(
            bool(np.allclose(moved, K, rtol=1e-10, atol=1e-12)), "stationary, but a shift counts"
        )


def _check_rectangular(kernel: Kernel, X: Array, Z: Array) -> None:
    """K(X, Z) is the block of k of both together."""
    both = kernel(np.vstack([X, Z]))
    require(
        bool(np.allclose(kernel(X, Z), both[: len(X), len(X) :], rtol=1e-10, atol=1e-12)),
        "k(X, Z) is not a block of k of all rows",
    )


def _check_pullback(kernel: Kernel, X: Array, Z: Array | None) -> None:
    """Sum_ij G_ij dK_ij/dtheta agrees with central differences, with and without K given."""
    K = kernel(X, Z)
    G = np.random.default_rng(2).normal(size=K.shape)  # not symmetric
    h, theta = 1e-4, kernel.theta
    differences = np.empty(len(theta))
    for i, e in enumerate(np.eye(len(theta))):
        v = [float(np.sum(G * kernel.at(theta + k * h * e)(X, Z))) for k in (-2, -1, 1, 2)]
        differences[i] = (v[0] - 8 * v[1] + 8 * v[2] - v[3]) / (12 * h)
    size = float(np.abs(G * K).sum())  # the rounding of the differences
    for known in (None, K):
        pulled = kernel.pullback(X, G, Z, K=known)
        require(
            bool(np.allclose(pulled, differences, rtol=1e-7, atol=1e-11 * size)),
            f"the pullback {pulled} by {kernel.names} differs from central differences "
            f"{differences}",
        )


def _check_tangents(kernel: Kernel, X: Array) -> None:
    """(dK/dtheta) v at some rows agrees with the pullback of the same numbers."""
    rng = np.random.default_rng(3)
    memo: Memo = {}
    K = kernel.gram(X, memo)
    require(
        bool(np.allclose(K, kernel(X), rtol=1e-10, atol=1e-14 * np.abs(K).max())),
        "gram(X, memo) is not kernel(X)",
    )
    rows, used = np.arange(3, 12), np.arange(0, len(X), 2)
    v, W = rng.normal(size=len(used)), rng.normal(size=K.shape)
    found = kernel.tangents(X, K, memo)
    for weights, tangents in ((np.ones_like(K), found), (W, [t.times(W) for t in found])):
        moved = directional(tangents, rows, used, v)
        require(
            moved.shape == (len(rows), len(kernel.theta)),
            f"tangents give an array of shape {moved.shape}",
        )
        for at, i in enumerate(rows):
            G = np.zeros_like(K)
            G[i, used] = v * weights[i, used]
            expected = kernel.pullback(X, G)
            size = float(np.abs(G * K).sum()) + float(np.abs(expected).max())
            require(
                bool(np.allclose(moved[at], expected, rtol=1e-7, atol=1e-9 * size)),
                f"row {i} of the tangents, {moved[at]}, is not the pullback {expected}",
            )
