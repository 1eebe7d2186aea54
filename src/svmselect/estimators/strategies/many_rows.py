"""More rows than an n x n matrix allows: choose on subsets, adjust and train on all rows.

1. A stratified subset proposes C and the length scales for each form of kernel (``subsets.py``).
2. Of the forms, and of one length scale or many, that is taken which does best on a held-out part
   with machines of all other rows: what is best on few rows may be far behind on many.
3. With that form other losses are tried likewise. Then other subsets choose as well, from there,
   and what they say is averaged.
4. On all rows but the held-out part, C and a common factor of the length scales climb from there by
   the held-out likelihood, which more rows usually move to a larger C and shorter scales. The
   sigmoid is fitted to the same held-out rows.
5. The final machine is trained on all rows, with C times the share of rows it was chosen for.

Machines are exact while their Gram matrix stays within ``exact`` rows, and live on the features of
a few landmarks beyond (``features.py``, ``primal.py``): O(n m) memory, O(n m^2) time, and a kernel
expansion over the landmarks as result.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from svmselect.data import Pair, classes_of, stratified_folds
from svmselect.estimators.strategies.choice import EARLY, Choice
from svmselect.estimators.strategies.constants import STEPS
from svmselect.estimators.strategies.subsets import Consensus, Proposal, Subsets
from svmselect.estimators.strategies.trainers import EACH, EACH_FEATURE, Expansion, Trainer
from svmselect.kernels import RBF, Kernel
from svmselect.machine.features import draw_landmarks, landmark_count
from svmselect.machine.on_device import most_rows
from svmselect.parallel import Serial
from svmselect.probability import sigmoid_likelihood
from svmselect.search.run import Session
from svmselect.search.trace import Record
from svmselect.types import Array, ErrorEstimate, Evaluation, IntArray, Note

EXACT = 10_000
"""The most rows of a pair whose machine is trained on its Gram matrix: 0.8 GB."""
FEATURES = 2**29
"""Bytes of the features of a pair."""
LANDMARKS = 1000
"""The most landmarks of a pair."""

_FEW = 200  # landmarks, at least, of machines that there is little time for
_ROUGH = 500  # landmarks of machines that are only to begin with
_HELD_OUT = 0.1  # the least part of the rows that judges
_GAIN = 1.0  # in log-likelihood, that a step has to bring
_TRIALS = 12
_SUBSETS_SHARE = 0.6  # of the time, for the choice on subsets
_WORK = 4e12  # of multiplications, spent on steps
_PACE = 6e9  # of them in a second, at least


@dataclass(frozen=True, eq=False)
class Large:
    """What was chosen (see ``Choice``; ``held_out`` is NaN outside the held-out part), and the
    trained machines, one a pair, without their sigmoid's threshold.
    """

    choice: Choice
    machines: tuple[Expansion, ...]
    loss: str


@dataclass(frozen=True, eq=False)
class _Trial:
    """Machines on all rows but the held-out part, and what that part says of them."""

    point: Array  # log C, log of the common factor
    loss: float
    sigmoids: tuple[tuple[float, float], ...]
    machines: tuple[Expansion, ...]


@dataclass(eq=False)
class _Judge:
    """Trains at a point and looks at the held-out rows; keeps the record and the clock."""

    trainer: Trainer
    pairs: Sequence[Pair]
    held: Sequence[IntArray]
    chosen: Kernel
    session: Session
    label: str

    def kernel(self, factor: float) -> Kernel:
        """The chosen kernel with all length scales times exp(factor)."""
        theta = self.chosen.theta.copy()
        theta[self.scaled] += factor
        return self.chosen.at(theta)

    @cached_property
    def scaled(self) -> Array:
        """Which parameters are length scales."""
        return np.array(["length_scale" in name for name in self.chosen.names])

    @property
    def overlap(self) -> float:
        """Each row is in (classes - 1) pairs and should count once."""
        return 1.0 / (classes_of(self.pairs) - 1)

    @property
    def total(self) -> float:
        """The weight held out: what a mean divides by."""
        held = zip(self.pairs, self.held, strict=True)
        return self.overlap * sum(float(pair.weights[rows].sum()) for pair, rows in held)

    def read(self, point: Array, start: _Trial | None) -> _Trial:
        began = time.perf_counter()
        kernel, C = self.kernel(float(point[1])), float(np.exp(point[0]))
        loss, sigmoids, machines = 0.0, [], []
        for i, (pair, held) in enumerate(zip(self.pairs, self.held, strict=True)):
            weights = pair.weights.copy()
            weights[held] = 0.0
            known = None if start is None else start.machines[i]
            machine = self.trainer.train(i, kernel, C, weights, known, rough=True)
            w = pair.weights[held]
            fit = sigmoid_likelihood(
                machine.decision[held], pair.y[held], w, "platt", one_sided=True
            )
            loss -= self.overlap * fit.value * float(w.sum())
            sigmoids.append((fit.slope, fit.offset))
            machines.append(machine)
        where = np.concatenate([[point[0]], kernel.theta])
        seconds = time.perf_counter() - began
        details = {"value": -loss / self.total}
        answer = Evaluation(where, loss / self.total, seconds=seconds, details=details)
        names = ("log C", *kernel.names)
        fresh = self.count not in self.session.known(self.label)
        self.session.note(Record(self.label, self.count, names, answer), fresh)
        self.count += 1
        return _Trial(point, loss, tuple(sigmoids), tuple(machines))

    count: int = 0

    def keep_going(self) -> bool:
        self.session.check_time()
        return self.session.halted is None


def choose_large(
    X: Array,
    pairs: Sequence[Pair],
    *,
    kernels: Sequence[Kernel] = (RBF(),),
    losses: Sequence[str] = ("hinge",),
    ard: str | bool = "auto",
    session: Session | None = None,
    stage: str = "",
    random_state: int | np.random.Generator | None = 0,
    start: tuple[float, Kernel] | None = None,
    threads: int = 1,
    limit: int = 2000,
    subsets: int = 3,
    exact: int = EXACT,
    landmarks: int = LANDMARKS,
    budget: int = FEATURES,
    rough: bool = False,
    device: str = "cpu",
) -> Large:
    """Choose, adjust and train for standardised inputs X and two-class problems that share C.

    As ``choose``, on ``subsets`` subsets of ``limit`` rows; with the first of several ``losses``
    the kernels are compared. ``exact`` is the number of rows of a pair up to which machines
    are exact (on a card, as many as have room there), ``landmarks`` and ``budget`` (bytes a pair)
    bound the features beyond. ``session`` ends the choice, not the training that follows.
    ``rough`` is for a sample, the rest of which will adjust and train (``grown.py``): a few
    landmarks and no climb.
    """
    began = time.perf_counter()
    session = Session(Serial()) if session is None else session
    first = len(session.records)
    rng = np.random.default_rng(random_state)
    seconds = None if session.max_time is None else _SUBSETS_SHARE * session.max_time
    choosing = Subsets(
        X, pairs, limit, subsets, rng, session, seconds=seconds, stage=stage, threads=threads,
        expected=len(kernels) + len(losses) + subsets - 2,
    )  # fmt: skip
    proposals = choosing.proposals(kernels, losses[0], ard, start)
    room = most_rows(device)
    exact = exact if room is None else room
    if rough:
        exact, landmarks = 0, min(_ROUGH, landmarks)
    exact, landmarks = _affordable(session, sum(len(p.rows) for p in pairs), exact, landmarks)
    sizes = [landmark_count(len(pair.rows), landmarks, budget) for pair in pairs]
    m = min(size for size, _ in sizes)
    drawn = draw_landmarks(pairs, m, rng)
    mapped = [rows if len(p.rows) > exact else None for p, rows in zip(pairs, drawn, strict=True)]
    single = any(one for _, one in sizes)
    trainer = Trainer(X, pairs, mapped, losses[0], single, device)
    held = [_held_out(pair) for pair in pairs]
    judge = _Judge(trainer, pairs, held, proposals[0].kernel, session, f"{stage}all rows")
    lead, least = proposals[0], np.inf
    if len(proposals) + len(losses) > 2:
        lead, least = _by_all_rows(judge, proposals, lead, least)
    for loss in losses[1:]:
        lead, least = _by_all_rows(judge, choosing.elsewise(lead, loss, ard), lead, least)
    trainer.loss = lead.loss
    consensus = choosing.agreed(choosing.settled(lead))
    judge = replace(judge, chosen=consensus.kernel)
    best = judge.read(np.array([consensus.log_C, 0.0]), None)
    if not rough:
        best = _climb(judge, best, min(_TRIALS, int(_WORK / trainer.work)))
    shares = [
        1.0 - float(pair.weights[h].sum() / pair.weights.sum())
        for pair, h in zip(pairs, held, strict=True)
    ]
    C = float(np.exp(best.point[0])) * float(np.mean(shares))
    kernel = judge.kernel(float(best.point[1]))
    machines = best.machines
    if not rough:
        machines = tuple(
            trainer.train(i, kernel, C, pair.weights, best.machines[i])
            for i, pair in enumerate(pairs)
        )
    notes = _notes(X, pairs, mapped, consensus, best, judge, machines, limit)
    most = max(len(pair.rows) for pair in pairs)
    if room is not None and most > room:
        said = f"{device!r} has room for the Gram matrix of {room:,} rows, not of {most:,}"
        notes = (Note("course", said), *notes)
    choice = _choice(judge, best, C, kernel, consensus, notes)
    choice = replace(
        choice, records=tuple(session.records[first:]), seconds=time.perf_counter() - began
    )
    return Large(choice, machines, lead.loss)


def _by_all_rows(
    judge: _Judge, proposals: Sequence[Proposal], lead: Proposal, least: float
) -> tuple[Proposal, float]:
    """What does best on held-out rows with all the others, of these and the one that leads."""
    for i, one in enumerate(proposals):
        if not judge.keep_going():
            break
        judge.trainer.loss = one.loss
        label = f"{judge.label}/{one.loss} proposal{i}"
        looking = replace(judge, chosen=one.kernel, label=label)
        loss = looking.read(np.array([one.log_C, 0.0]), None).loss
        if loss < least:
            lead, least = one, loss
    return lead, least


def _affordable(session: Session, rows: int, exact: int, landmarks: int) -> tuple[int, int]:
    """How many rows and landmarks leave time for a look at held-out rows and the last machines."""
    left = session.time_left
    if left is None or session.max_time is None:
        return exact, landmarks
    work = 0.5 * _PACE * min(left, (1.0 - _SUBSETS_SHARE) * session.max_time)
    return min(exact, int(np.sqrt(work / EACH))), int(
        np.clip(np.sqrt(work / (EACH_FEATURE * rows)), min(_FEW, landmarks), landmarks)
    )


def _held_out(pair: Pair) -> IntArray:
    """Whole folds, from the first on, until they are a tenth of the rows with both classes in it.

    A class must also be left to train on; where folds do not allow that, a stratified fifth.
    """
    for count in range(1, len(pair.tests)):
        held = np.unique(np.concatenate(pair.tests[:count]))
        rest = np.delete(pair.y, held)
        both = all(len(np.unique(part)) == 2 for part in (pair.y[held], rest))
        if both and len(held) >= _HELD_OUT * len(pair.y):
            return held
    return stratified_folds(pair.y, 5, 0)[0]


def _climb(judge: _Judge, best: _Trial, trials: int) -> _Trial:
    """Step by step along one coordinate, then the other, until none of both brings a gain."""
    idle, axis = 0, 0
    while idle < 2:
        idle += 1
        for direction in (STEPS[axis], -STEPS[axis]):
            moved = False
            while trials > 0 and judge.keep_going():
                trials -= 1
                trial = judge.read(best.point + direction, best)
                if not trial.loss < best.loss - _GAIN:
                    break
                best, moved, idle = trial, True, 1
            if moved:
                break
        axis = 1 - axis
    return best


def _notes(
    X: Array,
    pairs: Sequence[Pair],
    mapped: Sequence[IntArray | None],
    consensus: Consensus,
    best: _Trial,
    judge: _Judge,
    machines: Sequence[Expansion],
    limit: int,
) -> tuple[Note, ...]:
    """Say on how many rows what was done, and how."""
    count = len(consensus.choices)
    on = f"{count} subsets" if count > 1 else "a subset"
    start = f"hyperparameters chosen on {on} of {limit} of {len(X)} rows"
    told = [Note("course", start), *consensus.notes]
    by_C, by_scale = np.exp(best.point - [consensus.log_C, 0.0])
    if best.point[0] != consensus.log_C or best.point[1] != 0.0:
        said = (
            f"then adjusted for machines on more rows: C times {by_C:.3g}, "
            f"length scales times {by_scale:.3g}"
        )
        told.append(Note("training", said))
    used = sum(len(h) for h in judge.held)
    said = f"probabilities from {used} held-out rows" + (" of all pairs" * (len(pairs) > 1))
    told.append(Note("training", said))
    through = [len(rows) for rows in mapped if rows is not None]
    if through:
        which = "" if len(through) == len(pairs) else f" for {len(through)} of {len(pairs)} pairs"
        said = (
            f"trained on all rows through {max(through)} landmarks (Nystrom){which}, which are "
            "the support vectors"
        )
    else:
        on = judge.trainer.device
        said = "trained on all rows exactly" + ("" if on == "cpu" else f", on {on!r}")
    told.append(Note("training", said))
    told += [Note("status", str(machine.status)) for machine in machines if not machine.status.ok]
    if not judge.keep_going():
        told.append(EARLY)
    return tuple(dict.fromkeys(told))


def _choice(
    judge: _Judge,
    best: _Trial,
    C: float,
    kernel: Kernel,
    consensus: Consensus,
    notes: tuple[Note, ...],
) -> Choice:
    """The record of the default strategy; its error is that of the held-out rows."""
    held_out, wrong, weights = [], [], []
    for i, (pair, held) in enumerate(zip(judge.pairs, judge.held, strict=True)):
        f = np.full(len(pair.y), np.nan)
        f[held] = best.machines[i].decision[held]
        held_out.append(f)
        slope, offset = best.sigmoids[i]
        wrong.append(pair.y[held] * -(slope * f[held] + offset) <= 0)
        weights.append(pair.weights[held])
    w = np.concatenate(weights)
    error = float(w @ np.concatenate(wrong)) / float(w.sum())
    return Choice(
        C=C,
        kernel=kernel,
        sigmoids=best.sigmoids,
        value=-best.loss / judge.total,
        error=ErrorEstimate(error, judge.total, "classes" if len(judge.pairs) == 1 else "pairs"),
        held_out=tuple(held_out),
        tau=consensus.tau,
        records=(),
        notes=notes,
        seconds=0.0,
    )
