"""Who does the work: this process, or joblib's workers; each with one thread of algebra.

The number of BLAS threads changes the last bits of a result, so every evaluation, in whatever
process, runs under the same limit. That is what makes results independent of ``n_jobs``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

from threadpoolctl import ThreadpoolController


class Pool(Protocol):
    """Something that evaluates; ``size`` tasks at a time."""

    @property
    def size(self) -> int:
        """How many tasks run at the same time."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin one task."""

    def abandon(self) -> None:
        """Give up what is still running."""


class Serial:
    """This process; a task is done when ``submit`` returns."""

    size = 1

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(single_threaded(function, *arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def abandon(self) -> None:
        """Nothing runs."""


class Joblib:
    """Processes of joblib's reusable pool."""

    def __init__(self, size: int) -> None:
        from joblib.externals.loky import get_reusable_executor

        self.size = size
        self._executor = get_reusable_executor(max_workers=size)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = self._executor.submit(single_threaded, function, *arguments)
        return future

    def abandon(self) -> None:
        self._executor.shutdown(wait=False, kill_workers=True)


@contextmanager
def pool(n_jobs: int | None) -> Iterator[Pool]:
    """Open a pool of ``n_jobs`` workers, counted as joblib counts them (None: 1, -1: all cores)."""
    if n_jobs in (None, 1):
        yield Serial()
        return
    from joblib import effective_n_jobs

    size = int(effective_n_jobs(n_jobs))
    yield Serial() if size == 1 else Joblib(size)


@contextmanager
def one_thread() -> Iterator[None]:
    """Give linear algebra one thread: on small matrices more only wait for one another."""
    with _controller().limit(limits=1):
        yield


def single_threaded(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with one thread for linear algebra."""
    with one_thread():
        return function(*arguments)


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  - loads the libraries the limit is for

    return ThreadpoolController()
