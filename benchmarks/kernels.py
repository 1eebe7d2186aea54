"""Time of Gram matrices and pullbacks beside their floor: the exponentials and one product.

    python benchmarks/kernels.py [inputs]

One core. The floor is measured in the same run: numpy's exponential of
n^2 numbers in place, and one n x d x n matrix product into a given array. Symmetric matrices
compute about half of each, so a ratio below one is possible.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from svmselect.kernels import RBF, Constant, Kernel, Linear, Matern, Polynomial


def milliseconds(call: Callable[[], object], repeats: int = 9) -> float:
    call()  # warm: pages touched, code loaded
    times = []
    for _ in range(repeats):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return 1e3 * min(times)


def floor(X: np.ndarray, Z: np.ndarray) -> tuple[float, float]:
    """Time of the exponentials and of one product, alone."""
    out = np.empty((len(X), len(Z)))
    other = np.ascontiguousarray(Z)  # another array, else numpy takes the symmetric product
    values = -np.abs(np.random.default_rng(0).normal(size=out.shape))
    exponentials = milliseconds(lambda: np.exp(values, out=out))
    return exponentials, milliseconds(lambda: np.matmul(X, other.T, out=out))


def row(name: str, kernel: Kernel, X: np.ndarray, Z: np.ndarray, G: np.ndarray) -> str:
    exponentials, product = floor(X, Z)
    both = exponentials + product
    K = kernel(X)
    square = milliseconds(lambda: kernel(X))
    block = milliseconds(lambda: kernel(X, Z))
    pull = milliseconds(lambda: kernel.pullback(X, G))
    known = milliseconds(lambda: kernel.pullback(X, G, K=K))
    exp = exponentials if kernel.stationary else 0.0
    return (
        f"{name:<16}{square:8.2f}{square / both:8.2f}{block:9.2f}{block / both:8.2f}"
        f"{exp / block:6.0%}{product / block:6.0%}{pull:10.2f}{known:8.2f}"
    )


def main(d: int) -> None:
    width = float(np.sqrt(d))
    kernels: dict[str, Kernel] = {
        "rbf": RBF(width),
        "rbf, ARD": RBF([width] * d),
        "c rbf + c, ARD": Constant(2.0) * RBF([width] * d) + Constant(0.1),
        "matern 1/2, ARD": Matern([width] * d, 0.5),
        "matern 5/2": Matern(width, 2.5),
        "polynomial 3": Polynomial(3, 1.0 / d),
        "linear": Linear(),
    }
    for n in (500, 2000):
        rng = np.random.default_rng(0)
        X, Z, G = rng.normal(size=(n, d)), rng.normal(size=(n, d)), rng.normal(size=(n, n))
        exponentials, product = floor(X, Z)
        print(f"\nn = {n}, {d} inputs: exp {exponentials:.2f} ms, product {product:.2f} ms")
        print(
            f"{'kernel':<16}{'k(X)':>8}{'/floor':>8}{'k(X, Z)':>9}{'/floor':>8}"
            f"{'exp':>6}{'prod':>6}{'pullback':>10}{'with K':>8}  (ms; shares of k(X, Z))"
        )
        for name, kernel in kernels.items():
            print(row(name, kernel, X, Z, G))


if __name__ == "__main__":
    with threadpool_limits(1):
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
