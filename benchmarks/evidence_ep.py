"""Time of the evidence and its gradient by expectation propagation.

    python benchmarks/evidence_ep.py                                     # one core, GS's sizes
    python benchmarks/evidence_ep.py --device cuda --n 2000 5000 10000 20000 [--peak 67000]

On one core: milliseconds (of processor time) of a value with gradient, cold, warm (from the answer
at hyperparameters 5 % away) and of 20 sweeps of the classical algorithm's linear algebra (one
Cholesky factorisation and one triangular solve each) in the same run, beside Gold & Sollich's
seconds of 2003 (Table 1).

On a device: seconds of a value with gradient, and of moving K there and R back; factorisations;
floating-point operations counted where they are asked for (n^3/3 for a factorisation, an inverse of
a triangle, a product of triangles) over the time without transfers; as a share of --peak GFLOP/s.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular
from threadpoolctl import threadpool_limits

from svmselect.kernels import RBF, Constant
from svmselect.posterior.backend import Backend, get_backend
from svmselect.posterior.ep import propagate

# n, inputs, seconds for one gradient in Gold & Sollich 2003
PUBLISHED = {
    "crabs": (80, 5, 137),
    "pima": (200, 7, 1805),
    "wdbc": (300, 30, 9352),
    "twonorm": (300, 20, 7779),
    "ringnorm": (300, 20, 10665),
}
POINTS = {"k0=1, C=1": (1.0, 1.0), "k0=180, C=2": (180.0, 2.0)}


def sample(name: str, n: int, d: int) -> tuple[Any, Any]:
    """Draw two Gaussian classes of the size of the data set; Twonorm and Ringnorm as Breiman's."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.normal(size=(n, d))
    if name == "ringnorm":
        return np.where(y[:, None] > 0, 2.0 * X, X + 1.0 / np.sqrt(d)), y
    return X + (2.0 / np.sqrt(d)) * y[:, None], y


def seconds(call: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


def classical(K: Any, sweeps: int = 20) -> None:
    """The linear algebra of classical sweeps, nothing else."""
    n = len(K)
    for _ in range(sweeps):
        lower, _ = lapack.dpotrf(K + np.eye(n), lower=1, overwrite_a=1)
        solve_triangular(lower, K, lower=True, check_finite=False)


def on_one_core(losses: list[str]) -> None:
    print(f"{'data':<10}{'point':<13}{'loss':<15}{'n':>4}{'cold ms':>9}{'sweeps':>7}", end="")
    print(f"{'warm ms':>9}{'sweeps':>7}{'20 classical':>14}{'GS 2003':>10}")
    for name, (n, d, published) in PUBLISHED.items():
        X, y = sample(name, n, d)
        for point, (amplitude, C) in POINTS.items():
            form = Constant(amplitude) * RBF(float(np.sqrt(d))) + Constant(0.1)
            K, near = form(X), form.at(form.theta + 0.05)(X)
            for loss in losses:
                ones = np.ones(n)
                start = propagate(near, y, 1.05 * C, loss, ones).start
                run = lambda s=None: propagate(K, y, C, loss, ones, start=s)  # noqa: E731, B023
                cold, warm = run(), run(start)
                t_cold, t_warm = seconds(run, 9), seconds(lambda: run(start), 9)  # noqa: B023
                t_old = seconds(lambda: classical(K), 3)  # noqa: B023
                print(f"{name:<10}{point:<13}{loss:<15}{n:>4}{1e3 * t_cold:>9.1f}", end="")
                print(f"{cold.sweeps:>7}{1e3 * t_warm:>9.1f}{warm.sweeps:>7}", end="")
                print(f"{1e3 * t_old:>11.1f} ms{published:>8} s")


class Counter:
    """Floating-point operations and transfer seconds of a backend, from now on."""

    def __init__(self, backend: Backend) -> None:
        self.flops = self.transfer = 0.0
        counted: Any = backend
        for verb in ("cholesky", "lower_inverse", "lower_gram"):
            setattr(counted, verb, self.count(getattr(type(counted), verb), counted))
        for verb in ("put", "get"):
            setattr(counted, verb, self.watch(getattr(type(counted), verb), counted))

    def count(self, verb: Callable[..., Any], backend: Backend) -> Callable[..., Any]:
        def counted(matrix: Any) -> Any:
            self.flops += len(matrix) ** 3 / 3.0
            return verb(backend, matrix)

        return counted

    def watch(self, verb: Callable[..., Any], backend: Any) -> Callable[..., Any]:
        def watched(matrix: Any) -> Any:
            if matrix.ndim < 2:
                return verb(backend, matrix)
            self.wait(backend)
            start = perf_counter()
            out = verb(backend, matrix)
            self.wait(backend)
            self.transfer += perf_counter() - start
            return out

        return watched

    @staticmethod
    def wait(backend: Any) -> None:
        if "torch" in vars(backend) and backend.device.type == "cuda":
            backend.torch.cuda.synchronize()


def on_device(device: str, sizes: list[int], losses: list[str], peak: float | None) -> None:
    counter = Counter(get_backend(device))
    X, y = sample("twonorm", 500, 20)
    propagate(RBF(4.0)(X), y, 1.0, "hinge", np.ones(500), device=device)  # warm: code loaded
    print(f"{'n':>6} {'point':<13}{'loss':<15}{'start':<6}{'seconds':>8}{'K, R moved':>11}", end="")
    print(f"{'sweeps':>7}{'GFLOP/s':>9}{'of peak':>8}  E")
    for n in sizes:
        X, y = sample("twonorm", n, 20)
        for point, (amplitude, C) in POINTS.items():
            form = Constant(amplitude) * RBF(4.5) + Constant(0.1)
            K = form(X)
            for loss in losses:
                begin = None
                for title in ("cold", "warm"):
                    counter.flops = counter.transfer = 0.0
                    start = perf_counter()
                    ep = propagate(K, y, C, loss, np.ones(n), start=begin, device=device)
                    took = perf_counter() - start - counter.transfer
                    rate = 1e-9 * counter.flops / took
                    share = "" if peak is None else f"{rate / peak:.0%}"
                    print(f"{n:>6} {point:<13}{loss:<15}{title:<6}{took:>8.3f}", end="")
                    print(f"{counter.transfer:>11.3f}{ep.sweeps:>7}{rate:>9.0f}{share:>8}", end="")
                    print(f"  {ep.log_evidence / n:.6f} {ep.status.name}")
                    if title == "cold":  # warm: from the answer 5 % away
                        near = form.at(form.theta + 0.05)(X)
                        begin = propagate(
                            near, y, 1.05 * C, loss, np.ones(n), start=ep.start, device=device
                        ).start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--n", type=int, nargs="+", default=None)
    parser.add_argument("--loss", nargs="+", default=["hinge"])
    parser.add_argument("--peak", type=float, default=None, help="GFLOP/s in float64")
    given = parser.parse_args()
    if given.device == "cpu" and given.n is None:
        with threadpool_limits(limits=1):
            on_one_core(given.loss)
    else:
        on_device(given.device, given.n or [2000], given.loss, given.peak)


if __name__ == "__main__":
    main()
