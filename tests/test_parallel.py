"""Workers: order, errors, one thread for linear algebra."""

from __future__ import annotations

import os
import signal
import sys
import time
from concurrent.futures import BrokenExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from svmselect.parallel import (
    Joblib,
    Serial,
    as_they_come,
    cores,
    in_order,
    on_threads,
    pool,
    single_threaded,
)


def blas_threads() -> list[int]:
    """Threads of the BLAS that numpy and scipy use, as seen from inside a task."""
    return [entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"]


def test_one_thread_inside_and_what_was_before_outside() -> None:
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2):
        assert set(single_threaded(blas_threads)) == {1}
        outside = blas_threads()
    assert max(outside) == 2 or os.cpu_count() == 1


@pytest.mark.parametrize(("n_jobs", "kind"), [(None, Serial), (1, Serial), (2, Joblib)])
def test_which_pool(n_jobs: int | None, kind: type) -> None:
    with pool(n_jobs) as workers:
        assert isinstance(workers, kind)
        assert workers.size == (n_jobs or 1)
        assert workers.submit(sum, [1, 2]).result() == 3
        with pytest.raises(ZeroDivisionError):
            workers.submit(divmod, 1, 0).result()
        there = workers.submit(threadpool_info).result()
        assert {entry["num_threads"] for entry in there if entry["user_api"] == "blas"} == {1}


def test_all_cores() -> None:
    with pool(-1) as workers:
        assert workers.size >= 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_task_is_done_once_and_given_when_ready(n_jobs: int) -> None:
    tasks = [(7, d) for d in range(1, 9)]
    with pool(n_jobs) as workers:
        found = [(given, f.result()) for given, f in as_they_come(workers, divmod, tasks)]
    assert sorted(found) == sorted(((7, d), divmod(7, d)) for d in range(1, 9))


def test_alone_results_come_before_the_next_task_begins() -> None:
    begun: list[int] = []
    results = as_they_come(Serial(), begun.append, [(1,), (2,), (3,)])
    next(results)
    assert begun == [1]
    assert len(list(results)) == 2
    assert begun == [1, 2, 3]


def test_an_error_is_a_result_and_the_rest_goes_on() -> None:
    found = dict(as_they_come(Serial(), divmod, [(1, 0), (1, 1)]))
    assert isinstance(found[1, 0].exception(), ZeroDivisionError)
    assert found[1, 1].result() == (1, 0)


def test_without_distributed_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match="pip install 'svmselect"), pool(None, "tcp://nowhere:1"):
        pass


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_in_order(n_jobs: int | None) -> None:
    pairs = [(7, 2), (9, 3), (1, 1)]
    assert list(in_order(divmod, pairs, n_jobs)) == [(3, 1), (3, 0), (1, 0)]
    with pytest.raises(ZeroDivisionError):
        list(in_order(divmod, [(1, 0)], n_jobs))


def test_pools_and_joblib_itself_take_turns() -> None:
    for _ in range(2):
        with pool(2) as workers:
            assert workers.submit(sum, [1, 2]).result() == 3
        assert Parallel(2)(delayed(abs)(k) for k in (-1, 2)) == [1, 2]


def test_a_pool_after_one_that_was_given_up_or_broke() -> None:
    with pool(2) as workers:
        workers.abandon()
    with pool(2) as workers, pytest.raises(BrokenExecutor):
        workers.submit(os._exit, 1).result()
    with pool(2) as workers:
        assert workers.submit(sum, [1, 2]).result() == 3
        victim = workers.submit(os.getpid).result()
    os.kill(victim, signal.SIGKILL)  # between two pools
    time.sleep(0.5)
    with pool(2) as workers:
        assert workers.submit(sum, [1, 2]).result() == 3


def test_processes_are_kept() -> None:
    with pool(2) as workers:
        first = {workers.submit(os.getpid).result() for _ in range(8)}
    with pool(2) as workers:
        second = {workers.submit(os.getpid).result() for _ in range(8)}
    assert len(first | second) <= 2


def test_cores() -> None:
    assert [cores(n) for n in (None, 1, 2)] == [1, 1, 2]
    assert cores(-1) >= 1


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_threads_share_a_process_and_have_one_thread_each_for_algebra(n_jobs: int | None) -> None:
    def look(number: int) -> tuple[int, int, set[int]]:
        return number, os.getpid(), set(blas_threads())

    with threadpool_limits(2):
        found = on_threads(look, range(5), n_jobs)
    assert found == [(number, os.getpid(), {1}) for number in range(5)]
    with pytest.raises(ZeroDivisionError):
        on_threads(lambda d: 1 // d, [1, 0], n_jobs)
