"""The loop: ask, evaluate, tell, record; over several runs at once, and from a checkpoint.

A run is one search from one start. Runs do not see each other, so their results do not depend on
how they are spread over workers. Evaluations are chained: each begins with the machines trained for
the one before, which saves time and changes last bits. A chain therefore begins cold at fixed
places, and a run that resumes first repeats the chain it was killed in.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from svmselect import clock
from svmselect.clock import OutOfTimeError
from svmselect.parallel import Pool
from svmselect.search.base import Search, Space, State, order_of
from svmselect.search.checkpoint import Journal
from svmselect.search.trace import Record
from svmselect.types import Array, Evaluation, Status

CHAIN = 16
"""How many single evaluations in a row start from the one before."""


class Function(Protocol):
    """What a search minimises: a point to a loss, and machines to start the next point from."""

    def __call__(self, point: Array, order: int, warm: Any) -> tuple[Evaluation, Any]:
        """Evaluate: the value, from order 1 on the gradient, with order 2 the Hessian."""


Task = tuple[Function, Array, int]


@dataclass(frozen=True, eq=False)
class Job:
    """One run: a search of a function from a start. ``patience``: stop early on validation.

    The first evaluation begins with the machines that the run ``after`` ended with.
    """

    label: str
    function: Function
    search: Search[Any]
    start: Array
    space: Space
    seed: int
    patience: int | None = None
    after: Outcome | None = None


@dataclass(frozen=True, eq=False)
class Standing:
    """The machines of one evaluation: themselves, or the chain of evaluations that trains them."""

    loss: float
    history: tuple[Task, ...]
    warm: Any

    def machines(self) -> Any:
        """Give them; trained again, to the same bits, where the run came from a checkpoint."""
        warm = self.warm
        if warm is None:
            for function, point, order in self.history:
                _, warm = function(point, order, warm)
        return warm


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a run ended: the record it stands by (None if nothing came of it) and why.

    ``standing`` has the machines of its lowest loss, or what it takes to train them again.
    """

    job: Job
    best: Record | None
    status: Status
    edges: tuple[Array, Array]
    evaluations: int
    standing: Standing | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Progress:
    """What a callback is shown after each evaluation; it returns True to stop.

    Attributes
    ----------
    record : Record
        The evaluation.
    best : Record
        The best so far.
    evaluations : int
        How many there have been.
    seconds : float
        How long the search has taken.
    """

    record: Record
    best: Record
    evaluations: int
    seconds: float


@dataclass(eq=False)
class Session:
    """What all runs of one selection share: records, limits, the file, the callback."""

    pool: Pool
    journal: Journal | None = None
    callback: Callable[[Progress], Any] | None = None
    budget: int | None = None
    max_time: float | None = None
    records: list[Record] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    halted: Status | None = None
    began: float = field(default_factory=lambda: clock.now())
    best: Record | None = None

    def known(self, label: str) -> dict[int, Record]:
        """Evaluations of this run that the checkpoint has."""
        return {} if self.journal is None else self.journal.known.get(label, {})

    def note(self, record: Record, fresh: bool) -> None:
        """Take in an evaluation, new or from the checkpoint."""
        self.records.append(record)
        if self.best is None or record.loss < self.best.loss:
            self.best = record
        if not fresh:
            return
        if self.journal is not None:
            self.journal.append(record)
        elapsed = clock.now() - self.began
        if self.callback is not None:
            progress = Progress(record, self.best, len(self.records), elapsed)
            if self.callback(progress) and self.halted is None:
                self.halted = Status("callback", "the callback said stop: the best so far")

    @property
    def end(self) -> float | None:
        """When an evaluation is cut; later where there is nothing to show yet."""
        if self.max_time is None:
            return None
        late = clock.allowance(self.max_time) / 2.0 if self.best is None else 0.0
        return self.began + self.max_time + late

    @property
    def time_left(self) -> float | None:
        """Seconds until then."""
        return None if self.end is None else max(0.0, self.end - clock.now())

    def within(self, seconds: float | None) -> Session:
        """A session of its own with so much time, that writes and tells where this one does."""
        return replace(
            self, max_time=seconds, budget=None, records=[], runs=[], halted=self.halted,
            began=clock.now(), best=None,
        )  # fmt: skip

    def take(self, other: Session) -> None:
        """Take in what such a session has seen; that its time was up does not count here."""
        self.records += other.records
        self.runs += other.runs
        self.best = self.best if other.best is None else other.best
        if other.halted is not None and other.halted.name != "time":
            self.halted = other.halted

    def check_time(self) -> None:
        """Halt if the time is up, or most of the next evaluation would come after it."""
        left, last = self.time_left, self.records[-1].evaluation.seconds if self.records else 0.0
        if self.halted is None and left is not None and (left == 0.0 or left < 0.5 * last):
            self.stop()

    def stop(self) -> None:
        """Halt because the time is over."""
        found = "the best so far" if self.best is not None else "before anything was evaluated"
        self.halted = Status("time", f"{self.max_time:g} s are over: {found}")


def run(jobs: Sequence[Job], session: Session) -> list[Outcome]:
    """Carry out the runs and say how each ended; the budget left is shared equally among them."""
    shares: list[int | None] = [None] * len(jobs)
    if session.budget is not None:
        left = max(0, session.budget - len(session.records))
        shares = [left // len(jobs) + (i < left % len(jobs)) for i in range(len(jobs))]
    session.runs += [job.label for job in jobs]
    runs = [_Run(job, session, share) for job, share in zip(jobs, shares, strict=True)]
    lanes = [lane for r in runs for lane in r.advance()]
    ready = deque(sorted(lanes, key=lambda lane: lane.turn))  # a resumed search goes on in turn
    flying: dict[Future[Any], _Lane] = {}
    try:
        while (ready or flying) and session.halted is None:
            session.check_time()
            while ready and len(flying) < session.pool.size and session.halted is None:
                lane = ready.popleft()
                with clock.until(session.end):
                    flying[session.pool.submit(_evaluate, *lane.task())] = lane
            done, _ = wait(flying, session.time_left, FIRST_COMPLETED)
            for future in done:
                lane = flying.pop(future)
                # in turns: whenever a selection is cut short every run has had its share
                ready.extend(lane.done(*future.result()))
    except OutOfTimeError:
        session.stop()
    except KeyboardInterrupt:
        if session.best is None:
            raise
        session.halted = Status("interrupted", "interrupted: the best so far")
    finally:
        if flying:
            session.pool.abandon()
    return [r.outcome() for r in runs]


def _evaluate(
    function: Function, point: Array, order: int, warm: Any, history: Sequence[Task]
) -> tuple[Evaluation, Any]:
    for before, earlier, wanted in history:  # a chain cut by a kill: train its machines again
        _, warm = before(earlier, wanted, warm)
    return function(point, order, warm)


class _Lane:
    """Points of one batch that are evaluated one after the other."""

    def __init__(self, owner: _Run) -> None:
        self.owner = owner
        self.todo: deque[int] = deque()
        self.warm: Any = None
        self.cold = True  # nothing trained yet, though ``history`` may have points
        self.history: list[Task] = []

    @property
    def turn(self) -> tuple[int, int]:
        """How often it was its turn: the batches that its run has asked, points of the last."""
        return self.owner.asks, self.todo[0] % self.owner.job.search.chain

    def follow(self, standing: Standing) -> None:
        """Begin with the machines another run stands by, unless that chain is long already."""
        if len(standing.history) < CHAIN:
            self.history, self.warm = [*standing.history], standing.warm
            self.cold = standing.warm is None

    def task(self) -> tuple[Function, Array, int, Any, tuple[Task, ...]]:
        history = tuple(self.history) if self.cold else ()
        function, point, order = self._task(self.todo[0])
        return function, point, order, self.warm, history

    def _task(self, position: int) -> Task:
        job = self.owner.job
        return job.function, self.owner.points[position], order_of(job.search)

    def skip(self, known: set[int]) -> bool:
        """Pass over what is known; whether anything is left to evaluate."""
        while self.todo and self.todo[0] in known:
            position = self.todo.popleft()
            self.history.append(self._task(position))
            self.warm, self.cold = None, True
            self.owner.stand(self.owner.answers[position], self)
        return bool(self.todo)

    def done(self, evaluation: Evaluation, warm: Any) -> list[_Lane]:
        """Take in an evaluation; give the lanes that can go on."""
        position = self.todo.popleft()
        self.history.append(self._task(position))
        self.warm, self.cold = warm, False
        self.owner.take(position, evaluation)
        self.owner.stand(evaluation, self)
        if self.skip(set(self.owner.answers)):
            return [self]
        return self.owner.advance() if self.owner.complete else []


class _Run:
    """The state of one run."""

    def __init__(self, job: Job, session: Session, limit: int | None) -> None:
        self.job, self.session, self.limit = job, session, limit
        self.state: State = job.search.start(job.start, job.space, job.seed)
        self.known = session.known(job.label)
        self.base, self.count = 0, 0  # evaluations before and with the present batch
        self.asks = 0  # batches
        self.points: tuple[Array, ...] = ()
        self.answers: dict[int, Evaluation] = {}
        self.lane = _Lane(self)
        self.standing: Standing | None = None
        if job.after is not None and job.after.standing is not None:
            self.lane.follow(job.after.standing)
        self.records: list[Record] = []
        self.status: Status | None = None
        self.asked = False

    @property
    def complete(self) -> bool:
        return len(self.answers) == len(self.points)

    def advance(self) -> list[_Lane]:
        """Tell what is complete and ask on, from the checkpoint as far as it goes."""
        search = self.job.search
        while self.status is None:
            if self.asked:
                if len(self.points) < len(search.ask(self.state)):
                    self.status = Status(
                        "budget", f"the budget of {self.count} evaluations is spent"
                    )
                    break
                answers = [self.answers[i] for i in range(len(self.points))]
                self.state = search.tell(self.state, answers)
                self.asked = False
            self.status = search.stop(self.state) or self._early()
            if self.status is None and self.limit is not None and self.count >= self.limit:
                self.status = Status("budget", f"the budget of {self.count} evaluations is spent")
            if self.status is None and (lanes := self._ask()):
                return lanes
        return []

    def _ask(self) -> list[_Lane]:
        points = self.job.search.ask(self.state)
        room = len(points) if self.limit is None else min(len(points), self.limit - self.count)
        self.points, self.answers, self.asked = points[:room], {}, True
        self.asks += 1
        self.base, self.count = self.count, self.count + room
        lanes = self._lanes(len(points))
        for position in range(room):
            record = self.known.get(self.base + position)
            bent = record is not None and record.evaluation.hessian is not None
            if record is not None and (bent or not self.job.search.hessians):
                self._same(record, self.points[position])
                self.take(position, record.evaluation, fresh=False)
        known = set(self.answers)
        return [lane for lane in lanes if lane.skip(known)]

    def _lanes(self, asked: int) -> list[_Lane]:
        room = len(self.points)
        if asked == 1:  # single points follow each other in one lane, cold now and then
            if len(self.lane.history) >= CHAIN:
                self.lane = _Lane(self)
            self.lane.todo = deque(range(room))
            return [self.lane]
        lanes = []
        for first in range(0, room, self.job.search.chain):
            lane = _Lane(self)
            lane.todo = deque(range(first, min(first + self.job.search.chain, room)))
            lanes.append(lane)
        return lanes

    def take(self, position: int, evaluation: Evaluation, fresh: bool = True) -> None:
        """Record one answer."""
        self.answers[position] = evaluation
        names = self.job.space.names
        record = Record(self.job.label, self.base + position, names, evaluation)
        self.records.append(record)
        self.session.note(record, fresh)

    def stand(self, evaluation: Evaluation, lane: _Lane) -> None:
        """Remember the machines of the best evaluation so far."""
        if self.standing is None or evaluation.value < self.standing.loss:
            self.standing = Standing(evaluation.value, tuple(lane.history), lane.warm)

    def _same(self, record: Record, point: Array) -> None:
        if not np.array_equal(record.point, point):
            raise ValueError(
                f"evaluation {record.index} of run {record.run!r} in the checkpoint is not the one "
                "this search asks for: it was written by another version or on another machine; "
                "begin a new file"
            )

    def _early(self) -> Status | None:
        """Gold & Sollich 5.3.2: stop when a validation set has seen no improvement for a while."""
        if self.job.patience is None or not self.records:
            return None
        errors = {r.index: r.evaluation.details["validation"] for r in self.records}
        first = min(errors, key=lambda i: (errors[i], i))
        if max(errors) - first < self.job.patience:
            return None
        return Status(
            "early",
            f"stopped early: the validation error, {errors[first]:.4g} at evaluation {first}, has "
            f"not improved in the {self.job.patience} evaluations since",
        )

    def outcome(self) -> Outcome:
        status = self.status or self.session.halted or Status("halted")
        best: Record | None = None
        if self.records:
            best = min(self.records, key=lambda r: (r.loss, r.index))
            choice = self.job.search.choice(self.state)
            if self.job.patience is not None:
                best = _validated(self.records)
            elif choice is not None:
                standing = [r for r in self.records if np.array_equal(r.point, choice)]
                best = standing[-1] if standing else best
            if not math.isfinite(best.loss):
                best = None
        edges = self.job.search.edges(self.state)
        return Outcome(self.job, best, status, edges, len(self.records), self.standing)


def _validated(records: Sequence[Record]) -> Record:
    """The lowest validation error; of several, the lowest loss."""

    def key(record: Record) -> tuple[float, float, int]:
        error = record.evaluation.details.get("validation", math.inf)
        return error, record.loss, record.index

    return min(records, key=key)
