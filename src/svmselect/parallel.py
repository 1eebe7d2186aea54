"""Who does the work: this process, or workers of joblib or Dask; one thread of algebra each.

The number of BLAS threads changes the last bits of a result, so every evaluation, in whatever
process, runs under the same limit. That is what makes results independent of ``n_jobs``.
"""

from __future__ import annotations

import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from importlib import import_module
from itertools import chain, repeat
from threading import get_ident
from typing import Any, ClassVar, Protocol, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")

_IDLE = 10.0  # seconds after which a process without work ends
_limited: int | None = None  # the thread that has set the limit, if one has


class Pool(Protocol):
    """Something that evaluates, several tasks at a time."""

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


class Threads:
    """Threads of this process, with one thread of algebra each: NumPy works outside the lock."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._executor = ThreadPoolExecutor(size)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._executor.submit(function, *arguments)

    def abandon(self) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def threads(size: int | None = None) -> Iterator[Pool]:
    """Open a pool of threads, by default as many as linear algebra would use.

    Parameters
    ----------
    size : int, optional
        How many.

    Yields
    ------
    Pool
        The pool, which is closed in the end.
    """
    if size is None:
        size = max((one["num_threads"] for one in _controller().info()), default=1)
    if size == 1:
        yield Serial()
        return
    pool = Threads(size)
    try:
        with one_thread():  # of the whole process, so the threads have one each
            yield pool
    finally:
        pool.abandon()


class Joblib:
    """Processes of joblib's, kept for the next pool of the same size.

    They are ours alone: ``joblib.Parallel`` fails if it finds the reusable pool of its own made
    by someone else.
    """

    _kept: ClassVar[dict[int, Any]] = {}

    def __init__(self, size: int) -> None:
        self.size = size
        self._executor = self._kept.get(size) or self._renewed()
        self._used = False

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        try:
            future: Future[Any] = self._executor.submit(single_threaded, function, *arguments)
        except BrokenExecutor:
            if self._used:
                raise
            self._executor = self._renewed()  # those that were kept have died meanwhile
            future = self._executor.submit(single_threaded, function, *arguments)
        self._used = True
        future.add_done_callback(self._look)
        return future

    def abandon(self) -> None:
        self._forget()
        self._executor.shutdown(wait=False, kill_workers=True)

    def _renewed(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        made = ProcessPoolExecutor(max_workers=self.size, timeout=_IDLE, initializer=_deaf)
        self._kept[self.size] = made
        return made

    def _forget(self) -> None:
        if self._kept.get(self.size) is self._executor:
            del self._kept[self.size]

    def _look(self, future: Future[Any]) -> None:
        """Do not keep processes of which one has died."""
        if not future.cancelled() and isinstance(future.exception(), BrokenExecutor):
            self._forget()


class Dask:
    """Workers of a Dask cluster, by the address of its scheduler.

    Parameters
    ----------
    address : str
        The address of the scheduler.
    retries : int, default 2
        How often a task that raised an error is tried again, for errors that pass, such as a lost
        connection.
    client : distributed.Client, optional
        A client that is there already, and stays.

    Notes
    -----
    A task whose worker dies is run again on another, and its result counted once: the scheduler
    sees to both.
    """

    def __init__(self, address: str, retries: int = 2, client: Any = None) -> None:
        self._own = client is None
        self._client = _client(address) if client is None else client
        self._executor = self._client.get_executor(pure=False, retries=retries)

    @classmethod
    def running(cls) -> Dask | None:
        """Find the cluster of the client that was made in this process last.

        Returns
        -------
        Dask or None
            The cluster, None if there is no client.
        """
        found = sys.modules.get("distributed")
        try:
            return None if found is None else cls("", client=found.default_client())
        except ValueError:  # there is no client
            return None

    @property
    def size(self) -> int:
        """Threads of all workers there are now; at least 1, for one that is still to come."""
        return max(1, int(sum(self._client.nthreads().values())))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = self._executor.submit(single_threaded, function, *arguments)
        return future

    def abandon(self) -> None:
        self._executor.shutdown(wait=False)

    def hold(self, value: Any) -> Any:
        """Give a value to the workers once, for many tasks; it outlives the worker that has it.

        Parameters
        ----------
        value : object
            The value.

        Returns
        -------
        distributed.Future
            What tasks are given in its place.
        """
        config = import_module("dask.config")
        with config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
            return self._client.submit(_same, value, pure=False)

    def block(self, lazy: Any) -> Any:
        """Have a piece of a collection made on the workers, or found there if it is persisted.

        Parameters
        ----------
        lazy : Delayed
            The piece.

        Returns
        -------
        distributed.Future
            What tasks are given in its place.
        """
        return self._client.compute(lazy)

    def parquet(self, file: str) -> list[Any]:
        """Have workers read a Parquet file.

        Parameters
        ----------
        file : str
            Its name, as workers see it.

        Returns
        -------
        list of Delayed
            Its row groups as lazy data frames.
        """
        collection = import_module("dask.dataframe").read_parquet(
            file, split_row_groups=True, index=False
        )
        return list(collection.to_delayed())

    def close(self) -> None:
        """Leave the cluster as it was found."""
        if self._own:
            self._client.close()


def _client(address: str) -> Any:
    """A client of the scheduler at an address; refuses where none answers."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise ValueError(
            "a Dask cluster needs the package distributed: pip install 'svmselect[cluster]'"
        ) from None
    try:
        return distributed.Client(address, timeout=10, set_as_default=False)
    except OSError as error:
        raise ValueError(
            f"no Dask scheduler answers at {address!r} ({error}); start one with "
            "`dask scheduler` and workers with `dask worker ADDRESS`"
        ) from None


def _same(value: T) -> T:
    return value


@contextmanager
def pool(n_jobs: int | None, dask: str | None = None) -> Iterator[Pool]:
    """Open a pool of workers.

    Parameters
    ----------
    n_jobs : int or None
        How many, as joblib counts them: None is 1, -1 all cores.
    dask : str, optional
        The address of a Dask scheduler, whose workers are used instead.

    Yields
    ------
    Pool
        The pool, which is closed in the end.
    """
    if dask is not None:
        cluster = Dask(dask)
        try:
            yield cluster
        finally:
            cluster.close()
        return
    if n_jobs in (None, 1):
        yield Serial()
        return
    size = cores(n_jobs)
    yield Serial() if size == 1 else Joblib(size)


def cores(n_jobs: int | None) -> int:
    """How many workers ``n_jobs`` means here, as joblib counts them.

    Parameters
    ----------
    n_jobs : int or None
        None is 1, -1 all cores.

    Returns
    -------
    int
        1 or more.
    """
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def in_order(
    function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Any]:
    """Call a function with each of these arguments, on whatever backend joblib is set to.

    Parameters
    ----------
    function : callable
        At the top level of its module, so that workers can import it.
    arguments : iterable of tuple
        What each call is given.
    n_jobs : int or None
        Workers, as joblib counts them.

    Yields
    ------
    object
        The results, in the order of the arguments, each as soon as it and those before are ready.
    """
    from joblib import Parallel, delayed

    tasks = (delayed(single_threaded)(function, *given) for given in arguments)
    yield from Parallel(n_jobs, return_as="generator")(tasks)


def on_threads(function: Callable[[T], R], items: Iterable[T], n_jobs: int | None) -> list[R]:
    """Call a function with each item, on threads of this process; each has one for its algebra.

    Parameters
    ----------
    function : callable
        It should do most of its work outside of Python.
    items : iterable
        What each call is given.
    n_jobs : int or None
        Threads, as joblib counts them.

    Returns
    -------
    list
        The results, in the order of the items.
    """
    listed = list(items)
    threads = min(cores(n_jobs), len(listed))
    with one_thread():
        if threads < 2:
            return [function(item) for item in listed]
        with ThreadPoolExecutor(threads) as executor:
            tasks = [executor.submit(copy_context().run, function, item) for item in listed]
            return [one.result() for one in tasks]


def as_they_come(
    workers: Pool, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, ...], Future[Any]]]:
    """Call a function with each of these arguments; give each with its result when that is ready.

    Each exactly once; a result may be an error, which ``Future.result`` raises. A few tasks more
    than there are workers are on their way at any time, so that nobody waits and little is lost
    when the caller stops.
    """
    waiting = list(reversed(arguments))
    running: dict[Future[Any], tuple[Any, ...]] = {}
    while waiting or running:
        ahead = 1 if workers.size == 1 else 2 * workers.size
        while waiting and len(running) < ahead:
            given = waiting.pop()
            running[workers.submit(function, *given)] = given
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            yield running.pop(future), future


def added(
    workers: Pool,
    function: Callable[..., Any],
    tasks: Iterable[tuple[int, tuple[Any, ...]]],
    told: Callable[[int], bool] | None = None,
) -> Any:
    """Add what a function says of each of these arguments, in their order, however many at a time.

    The order makes the sum the same whoever does the work; memory holds a few tasks at a time.

    Parameters
    ----------
    workers : Pool
        Who does the work.
    function : callable
        What is called.
    tasks : iterable of (int, tuple)
        How many rows a task has, and the arguments.
    told : callable, optional
        Is told how many rows are done; returns True to give up.

    Returns
    -------
    object
        The sum, None of nothing.
    """
    total, done = None, 0
    waiting: deque[tuple[int, Future[Any]]] = deque()
    ahead = 1 if workers.size == 1 else 2 * workers.size
    given = iter(tasks)
    try:
        for rows, arguments in chain(given, repeat((0, ()))):
            if arguments:
                waiting.append((rows, workers.submit(function, *arguments)))
            elif not waiting:
                return total
            if len(waiting) < ahead and arguments:
                continue
            count, future = waiting.popleft()
            part = future.result()
            total, done = part if total is None else total + part, done + count
            if told is not None and told(done):
                raise Halted
    finally:
        for _, future in waiting:
            future.cancel()
    return total


class Halted(Exception):  # noqa: N818 - no error: someone asked for it
    """A sum was given up because someone asked to stop."""


def _deaf() -> None:
    """A terminal's Ctrl-C goes to every process: only the one that gives out work decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def one_thread() -> Iterator[None]:
    """Give linear algebra one thread: on small matrices more only wait for one another."""
    global _limited
    if _limited == get_ident():  # the limit is there already, and asking for it again takes time
        yield
        return
    before, _limited = _limited, get_ident()
    try:
        with _controller().limit(limits=1):
            yield
    finally:
        _limited = before


def single_threaded(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with one thread for linear algebra."""
    with one_thread():
        return function(*arguments)


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  - loads the libraries the limit is for

    return ThreadpoolController()
