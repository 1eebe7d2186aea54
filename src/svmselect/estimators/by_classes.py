"""The last word on C and the width, of three classes or more: by the likelihood of the classes.

The search has judged pairs of classes, one by one. A pair that is clean has little to gain from a
larger C, and says so; the class probabilities that are coupled from all pairs may have. So from the
point that the pairs have chosen, C and the kernel's length scales, all by one factor, are moved on
while the held-out log-likelihood of the classes and the log prior rise together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from svmselect import clock
from svmselect.data import Pair
from svmselect.estimators.chosen import Chosen, Setting, hold_out, sharpen
from svmselect.estimators.members import height
from svmselect.estimators.problem import Problem
from svmselect.kernels import Kernel
from svmselect.kernels.names import are_lengths
from svmselect.parallel import one_thread
from svmselect.probability.calibration import Sigmoid
from svmselect.probability.temperature import fit_sharpness, sharpened
from svmselect.selection.result import HeldOut
from svmselect.types import ErrorEstimate, Note

STEPS = ((0, 1.2), (1, 0.35), (0, 0.6))
"""Moves in turn: which of log C and the log width, and by how much, as long as that pays."""
WORTH = 2.0
"""Gain in log-likelihood and log prior that a move has to bring."""
REACH = 20.0
"""Of several machines to be averaged, those that lack no more than this are moved on."""
MOST = 20
"""Classes beyond which the pairs have the last word: a look is a training of all of them."""
_MOVES = 5


@dataclass(frozen=True, eq=False)
class _Look:
    """What the folds say of the classes at one point; height: log-likelihood and log prior."""

    height: float
    setting: Setting
    sigmoids: tuple[Sigmoid, ...]
    error: ErrorEstimate
    held: HeldOut


@dataclass(frozen=True, eq=False)
class _Looks:
    """The looks around the setting that the pairs have chosen, each taken once."""

    problem: Problem
    pairs: Sequence[Pair]
    chosen: Chosen
    loss: str
    kept: dict[tuple[float, float], _Look] = field(default_factory=dict)

    def at(self, moved: tuple[float, float]) -> _Look:
        """With log C and log width moved so far."""
        if moved not in self.kept:
            self.kept[moved] = self._look(*moved)
        return self.kept[moved]

    def _look(self, by_C: float, by_width: float) -> _Look:
        """On one round of folds, O(pairs) trainings each."""
        splits = self.problem.splits
        return self.whole(by_C, by_width, splits.test.shape[1] // splits.rounds)

    def whole(self, by_C: float, by_width: float, folds: int | None = None) -> _Look:
        """The same on all rounds, or on so many folds."""
        problem, before = self.problem, self.chosen.setting
        C, kernel = before.C[0] * float(np.exp(by_C)), _wider(before.kernels[0], by_width)
        setting = replace(before, C=(C,), kernels=(kernel,), trained={})
        found = hold_out(problem, self.pairs, setting, self.loss, folds)
        sigmoids = found.sigmoids(problem)
        error, held = found.judged(problem, sigmoids)
        codes, counts = problem.codes[held.rows], problem.counts[held.rows]
        sharpness = fit_sharpness(held.probabilities, codes, counts)
        p = sharpened(held.probabilities, sharpness)
        given = np.log(np.maximum(p[np.arange(len(p)), codes], 1e-300))
        likely = float(problem.counts.sum() * (counts @ given) / counts.sum())
        point = np.concatenate([[np.log(C / self.chosen.share)], kernel.theta])
        if self.chosen.prior is not None:
            likely += self.chosen.prior.log_density(point, ("log C", *kernel.names))[0]
        return _Look(likely, setting, sigmoids, error, held)


def moved_on(
    problem: Problem,
    pairs: Sequence[Pair],
    losses: Sequence[str],
    found: Sequence[Chosen],
    end: float | None,
) -> list[Chosen]:
    """Each of the choices that may count, moved on; the others as they are."""
    if len(problem.classes) == 2:
        return list(found)
    heights = [height(problem, chosen) for chosen in found]
    least = max(heights) - REACH
    return [
        by_classes(problem, pairs, chosen, loss, end) if high >= least else chosen
        for chosen, loss, high in zip(found, losses, heights, strict=True)
    ]


def by_classes(
    problem: Problem, pairs: Sequence[Pair], chosen: Chosen, loss: str, end: float | None
) -> Chosen:
    """Move C and the width on where the classes' likelihood says so.

    Until ``end``; what has been found by then is taken. ``value`` stays that of the pairs, at the
    point where their search ended.
    """
    if not _served(problem, pairs, chosen):
        return chosen
    looks = _Looks(problem, pairs, chosen, loss)
    scaled = bool(are_lengths(chosen.setting.kernels[0].names).any())
    best = stay = (0.0, 0.0)
    try:
        with one_thread(), clock.until(end):
            for which, step in STEPS:
                if which == 0 or scaled:
                    best = _along(looks, best, which, step)
            if best == stay:
                return chosen
            found, gain = looks.whole(*best), looks.at(best).height - looks.at(stay).height
    except clock.OutOfTimeError:
        return chosen
    factor, width = np.exp(best)
    said = f"C times {factor:.3g}, length scales times {width:.3g}, for {gain:.1f} more"
    note = Note("course", f"moved on by the log-likelihood of all classes together: {said}")
    moved = replace(
        chosen, setting=found.setting, sigmoids=found.sigmoids, sharpness=1.0, error=found.error,
        held_out=found.held, notes=(*chosen.notes, note),
    )  # fmt: skip
    return sharpen(problem, moved)


def _served(problem: Problem, pairs: Sequence[Pair], chosen: Chosen) -> bool:
    """Whether there is one setting for several classes, of all of which folds hold out rows."""
    held, k = chosen.held_out, len(problem.classes)
    if held is None or not 2 < k <= MOST or len(chosen.setting.C) > 1 or chosen.machines:
        return False
    if any(note.kind == "early" for note in chosen.notes):
        return False
    seen = np.bincount(problem.codes[held.rows], minlength=k)
    return len(pairs) == k * (k - 1) // 2 and bool(seen.all())


def _along(
    looks: _Looks, best: tuple[float, float], which: int, step: float
) -> tuple[float, float]:
    """Go on in steps along one coordinate, up or else down, as long as that pays."""
    for side in (step, -step):
        start = best
        for _ in range(_MOVES):
            moved = (best[0] + side, best[1]) if which == 0 else (best[0], best[1] + side)
            if looks.at(moved).height < looks.at(best).height + WORTH:
                break
            best = moved
        if best != start:
            break
    return best


def _wider(kernel: Kernel, by: float) -> Kernel:
    """The kernel with all length scales longer by one factor, given as its logarithm."""
    return kernel.at(kernel.theta + by * are_lengths(kernel.names))
