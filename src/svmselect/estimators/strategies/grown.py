"""From a choice made on a sample to machines of all rows, however many, by passes over them.

1. C and a common factor of the length scales climb by the likelihood of rows held out, on part of
   the sample and few landmarks: more rows usually want a larger C and shorter scales.
2. The landmarks double until the held-out likelihood stops rising, or their budget is spent, on the
   whole sample, which is in memory.
3. The machines are trained by passes over all rows but those held out, and a larger C is tried
   there. Where the rows held out are not few they are taken in at last.

Each training begins where the one before ended: with other landmarks or length scales, from the
machine that says the same of the landmarks.

Two classes are one machine; more are one machine a class against the rest, all in the same passes,
and their decision values become probabilities by a softmax fitted to the rows held out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.estimators.strategies.constants import STEPS
from svmselect.estimators.strategies.journal import PassJournal
from svmselect.kernels import Kernel
from svmselect.machine.features import basis_of
from svmselect.machine.landmarks import order_landmarks
from svmselect.machine.passes import CORNERS, Machines, train_by_passes
from svmselect.machine.sums import Design, Pass, Prepare, Terms, decisions, terms
from svmselect.parallel import Halted
from svmselect.probability.softmax import Softmax, fit_softmax
from svmselect.rows import ArrayRows, Rows
from svmselect.rows.scan import Scan
from svmselect.types import Array, IntArray, Note, Status

SAMPLE = 200_000
"""The most rows of the sample."""
SAMPLE_CELLS = 2**24
"""The most numbers of the sample: 128 MiB."""
ADJUSTED_ON = 40_000
"""Rows that C and the length scales are adjusted on."""
HELD_OUT = 20_000
"""The most rows that judge."""
FIRST, LANDMARKS = 500, 1000
"""With how many landmarks it begins, and how many there are at most."""

_PART = 0.1  # of the rows is held out where they are few
_SPARED = 0.02  # of the rows, held out, are not worth passes of their own at last
_TRIALS = 10
_CANDIDATES = 20_000  # rows that landmarks are chosen among
_OVER_ALL = ("all rows", "larger C", "last")
_INSIDE, _EVERYWHERE = 1e-4, 1e-5  # how precisely machines are trained, relative

Passing = Callable[[int, int, int], bool]
"""Is told the rows done of a pass, of how many, and the pass's number; whether to stop."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """What was chosen on the sample; ``factors`` are the weights of the classes.

    ``prepare`` standardises inputs; C is for weights as they come.
    """

    kernel: Kernel
    C: float
    loss: str
    prepare: Prepare
    classes: NDArray[Any]
    factors: Array

    @property
    def signs(self) -> Array:
        """Which side a class is on in each machine, (classes, machines)."""
        k = len(self.classes)
        return np.array([[-1.0], [1.0]]) if k == 2 else 2.0 * np.eye(k) - 1.0

    def scaled(self, factor: float) -> Kernel:
        """The kernel with all length scales times exp(factor)."""
        theta = self.kernel.theta.copy()
        theta[["length_scale" in name for name in self.kernel.names]] += factor
        return self.kernel.at(theta)


@dataclass(frozen=True)
class Budget:
    """What growing may cost, and where and how it computes.

    When ``seconds`` are over the pass that is under way is cut, and the machines so far are the
    result; the first training is always completed.
    """

    landmarks: int = LANDMARKS
    seconds: float | None = None
    device: str = "cpu"
    single: bool = True
    rule: str = "kmeans++"
    first: int = FIRST


@dataclass(frozen=True, eq=False)
class Step:
    """One training, for the record: what was tried on how many rows, and what came of it."""

    what: str
    C: float
    kernel: Kernel
    landmarks: int
    rows: int
    passes: int
    value: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Trial:
    """Trained machines, and what they say of the rows held out: log p of their classes, errors."""

    C: float
    factor: float  # log, of the length scales
    design: Design
    machines: Machines
    softmax: Softmax
    decisions: Array
    logs: Array
    wrong: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Grown:
    """Machines of all rows: f = k(x, vectors) coefficients + intercept, then ``softmax``.

    ``raw`` are the landmarks as they came, ``numbers`` and ``labels`` their rows. ``value`` is the
    mean log-likelihood of the rows held out, ``error`` theirs; they are the first of the sample, of
    classes ``codes``, and f of them is ``decisions``.
    """

    C: float
    kernel: Kernel
    raw: Array
    labels: NDArray[Any]
    numbers: IntArray
    coefficients: Array
    intercept: Array
    softmax: Softmax
    decisions: Array
    codes: IntArray
    counts: Array
    value: float
    error: float
    steps: tuple[Step, ...]
    notes: tuple[Note, ...]
    status: Status


class Grower:
    """The steps above, for one fit. ``rows`` are all of them, ``sample`` those of least keys."""

    def __init__(
        self,
        rows: Rows,
        sample: Scan,
        chosen: Chosen,
        budget: Budget,
        *,
        seed: int = 0,
        journal: PassJournal | None = None,
        passing: Passing | None = None,
    ) -> None:
        self.rows, self.sample, self.chosen, self.budget = rows, sample, chosen, budget
        self.seed, self.passing = seed, passing
        self.journal = PassJournal() if journal is None else journal
        self.began = time.monotonic()
        self.steps: list[Step] = []
        self.notes: list[Note] = []
        self.passes, self.longest = 0, 0.0
        self.halted = self.late = False
        n = len(sample.key)
        held = max(1, min(HELD_OUT, round(_PART * sample.rows), n // 4))
        self.threshold = float(
            sample.key[held]
        )  # rows held out have lesser keys, wherever they are
        self.X_held, self.counts = sample.X[:held], sample.weights[:held]
        self.codes = np.searchsorted(chosen.classes, sample.y[:held])
        self.weights = self.counts * chosen.factors[self.codes]
        rest = slice(held, None)
        self.inner = ArrayRows(
            sample.X[rest], sample.y[rest], sample.weights[rest], None, "the sample", 2**14
        )
        self.candidates = np.arange(held, n)[:_CANDIDATES]  # the keys are an order at random
        self._ordered: dict[tuple[Kernel, int], IntArray] = {}

    def grow(self) -> Grown:
        """Adjust, grow, train on all rows."""
        best = self._everywhere(self._larger(self._adjusted()))
        if self.late:
            said = "the time was over before the passes were; these are the machines so far"
            self.notes.append(Note("time", said))
        elif self.halted:
            said = "the passes over all rows were stopped early; these are the machines so far"
            self.notes.append(Note("early", said))
        return self._grown(best)

    @property
    def hurried(self) -> bool:
        """Whether there is no more time for trials, or most of a long one would come after it."""
        return self.halted or self._past(0.5 * self.longest)

    def _past(self, ahead: float = 0.0) -> bool:
        """Whether the time is over, so many seconds from now."""
        limit = self.budget.seconds
        return limit is not None and time.monotonic() - self.began + ahead > limit

    def _adjusted(self) -> Trial:
        """Climb along C and the length scales, one after the other, on a part of the sample."""
        part, m = self.inner.part(ADJUSTED_ON), self.budget.first
        best = self._trial("begin", part, self.chosen.C, 0.0, m)
        axes = [0] if self.chosen.scaled(1.0) == self.chosen.kernel else [0, 1]
        left, idle, at = _TRIALS, 0, 0
        while idle < len(axes):
            idle += 1
            for way in (STEPS[axes[at]], -STEPS[axes[at]]):
                moved = False
                while left > 0 and not self.hurried:
                    left -= 1
                    C, factor = best.C * float(np.exp(way[0])), best.factor + float(way[1])
                    trial = self._trial("adjust", part, C, factor, m, best)
                    if not self._better(trial, best):
                        break
                    best, moved, idle = trial, True, 1
                if moved:
                    break
            at = (at + 1) % len(axes)
        return best

    def _larger(self, best: Trial) -> Trial:
        """Double the landmarks while that pays, on the whole sample."""
        m = len(best.design.vectors)
        if len(self.inner.y) > ADJUSTED_ON and not self.hurried:
            trial = self._trial("sample", self.inner, best.C, best.factor, m, best)
            best = trial if not self.halted or self._better(trial, best) else best
        most = min(self.budget.landmarks, len(self.candidates))
        while m < most and not self.hurried:
            before, m = m, min(2 * m, most)
            trial = self._trial("grow", self.inner, best.C, best.factor, m, best)
            if not self._better(trial, best):
                self.notes.append(Note("course", f"more than {before:,} landmarks did not pay"))
                break
            best = trial
        return best

    def _everywhere(self, best: Trial) -> Trial:
        """Passes over all rows; a larger C there, and at last the rows held out."""
        m, everything = len(best.design.vectors), self.sample.rows
        if everything > len(self.sample.key) and not self.halted:
            best = self._trial("all rows", self.rows, best.C, best.factor, m, best)
            for _ in range(2):
                if self.hurried:
                    break
                C = 4.0 * best.C
                trial = self._trial("larger C", self.rows, C, best.factor, m, best)
                if not self._better(trial, best):
                    break
                best = trial
        if len(self.codes) < _SPARED * everything or self.halted:
            return best
        design = replace(best.design, part=(0.0, 1.0))
        machines = self._trained("last", self.rows, design, best.C, best.machines)
        return replace(best, design=design, machines=machines)

    def _better(self, trial: Trial, best: Trial) -> bool:
        """Whether the gain on rows held out is more than its standard error, and than one unit."""
        gains = trial.logs - best.logs
        gain = float(self.weights @ gains)
        mean = gain / float(self.weights.sum())
        return gain > max(1.0, float(np.linalg.norm(self.weights * (gains - mean))))

    def _trial(
        self, what: str, rows: Rows, C: float, factor: float, m: int, before: Trial | None = None
    ) -> Trial:
        """Train, beginning with the machines of another trial, and ask the rows held out."""
        began = time.monotonic()
        design = self._design(factor, m, rows)
        start = None if before is None else self._like(before, design)
        machines = self._trained(what, rows, design, C, start)
        f = decisions(self.X_held, design, machines.theta, machines.intercept)
        softmax = fit_softmax(f, self.codes, self.weights, len(self.chosen.classes))
        logs = softmax.logs(f)
        own = logs[np.arange(len(f)), self.codes]
        value = float(self.weights @ own) / float(self.weights.sum())
        self.steps[-1] = replace(self.steps[-1], value=value)
        wrong = logs.argmax(axis=1) != self.codes
        self.longest = max(self.longest, time.monotonic() - began)
        return Trial(C, factor, design, machines, softmax, f, own, wrong)

    def _like(self, before: Trial, design: Design) -> Machines:
        """The machines of a trial; with other features, what says the same of their landmarks."""
        known, old = before.machines, before.design
        if old.kernel == design.kernel and len(old.vectors) == len(design.vectors):
            # factors of other rows, or of another C on few, lead too far
            everywhere = old.part == design.part != (0.0, 1.0)
            return known if everywhere else replace(known, factors=())
        raw = self.sample.X[self._landmarks(design.kernel, len(design.vectors))]
        said = decisions(raw, old, known.theta, np.zeros(len(known.intercept)))
        return replace(known, theta=design.basis.T @ said, factors=())

    def _trained(
        self, what: str, rows: Rows, design: Design, C: float, start: Machines | None
    ) -> Machines:
        """Train by passes, from where the journal has come to; stopped, the machines so far."""
        began, first = time.monotonic(), self.passes
        label = f"{len(self.steps)} {what}"
        inside = rows is not self.rows
        count = len(rows.y) if isinstance(rows, ArrayRows) else self.sample.rows
        latest: list[Machines] = []

        def total(ask: Pass) -> Terms:
            self.passes += 1
            number = self.passes

            def told(done: int) -> bool:
                # whoever follows is told first, and always
                asked = self.passing is not None and self.passing(done, count, number)
                self.late = not asked and bool(self.steps) and self._past()
                return asked or self.late

            found: Terms = rows.total(terms, ask, told=told)
            return found

        def accepted(machines: Machines) -> None:
            latest[:] = [machines]
            self.journal.keep(label, machines, False)

        machines = self.journal.finished(label)
        if machines is None:
            begun = self.journal.begun(label)
            precise = _INSIDE if inside else _EVERYWHERE
            corners = CORNERS[:-1] if inside else CORNERS
            try:
                machines = train_by_passes(
                    total, design, C, self.chosen.loss, count, start if begun is None else begun,
                    precise=precise, corners=corners, accepted=accepted,
                )  # fmt: skip
                self.journal.keep(label, machines, True)
            except Halted:
                self.halted = True
                known = latest[-1] if latest else start
                machines = Machines.at_zero(design) if known is None else known
        spent, passes = time.monotonic() - began, self.passes - first
        m = len(design.vectors)
        self.steps.append(Step(what, C, design.kernel, m, count, passes, np.nan, spent))
        return machines

    def _design(self, factor: float, m: int, rows: Rows) -> Design:
        """The features of m landmarks."""
        kernel = self.chosen.scaled(factor)
        vectors = self.chosen.prepare(self.sample.X[self._landmarks(kernel, m)])
        part = (self.threshold, 1.0) if rows is self.rows else (0.0, 1.0)
        return Design(
            kernel, vectors, basis_of(kernel, vectors, self.budget.single), self.chosen.classes,
            self.chosen.signs, self.chosen.factors, self.chosen.prepare, part, self.seed,
            self.budget.device, self.budget.single,
        )  # fmt: skip

    def _landmarks(self, kernel: Kernel, m: int) -> IntArray:
        """Places in the sample; always the same for a kernel, and more include fewer."""
        key = kernel, m
        if key not in self._ordered:
            rng = np.random.default_rng([self.seed, 1])
            X = self.chosen.prepare(self.sample.X[self.candidates])
            order = order_landmarks(self.budget.rule, kernel, X, m, rng)
            self._ordered = {key: self.candidates[order]}
        return self._ordered[key]

    def _grown(self, best: Trial) -> Grown:
        order = self._landmarks(best.design.kernel, len(best.design.vectors))
        return Grown(
            C=best.C,
            kernel=best.design.kernel,
            raw=self.sample.X[order],
            labels=self.sample.y[order],
            numbers=self.sample.numbers[order],
            coefficients=best.design.basis @ best.machines.theta,
            intercept=best.machines.intercept,
            softmax=best.softmax,
            decisions=best.decisions,
            codes=self.codes,
            counts=self.counts,
            value=float(self.weights @ best.logs) / float(self.weights.sum()),
            error=float(self.counts @ best.wrong) / float(self.counts.sum()),
            steps=tuple(self.steps),
            notes=(*self._words(best), *self.notes),
            status=best.machines.status,
        )

    def _words(self, best: Trial) -> list[Note]:
        """Say on how many rows what was done, and how."""
        told = []
        by_C, by_scale = best.C / self.chosen.C, float(np.exp(best.factor))
        if by_C != 1.0 or by_scale != 1.0:
            said = (
                f"then adjusted for machines on more rows: C times {by_C:.3g}, "
                f"length scales times {by_scale:.3g}"
            )
            told.append(Note("training", said))
        said = f"probabilities from {len(self.codes):,} held-out rows"
        told.append(Note("training", said))
        passes = sum(step.passes for step in self.steps if step.what in _OVER_ALL)
        said = (
            f"trained on all {self.sample.rows:,} rows through {len(best.design.vectors):,} "
            f"landmarks (Nystrom), which are the support vectors, in {passes} passes"
        )
        told.append(Note("training", said))
        if not best.machines.status.ok:
            told.append(Note("status", str(best.machines.status)))
        return told
