"""Choose C, the width of the Gaussian kernel, and how far the length scales may part.

1. A coarse path on two of the folds: widths around the median distance, C growing along each, warm
   starts throughout; a width is left when its likelihood has fallen twice.
2. Gauss-Newton from the best cell, of two judged on all folds, in (log C, log width), under a
   vague prior; first on one round of folds, then on all rounds.
3. At the isotropic optimum a quadratic model predicts what separate length scales would gain at
   each spread tau, after paying for their freedom (Kwok's third level, applied to the
   hyperparameters). If clearly nothing, the isotropic kernel stays, at the price of one reading; if
   it is near, some steps tell. If something, Gauss-Newton descends at that tau, and tau is judged
   again where it ends; likewise from a narrow kernel, if two of the folds say that this leads to a
   better place. The sigmoid is then tempered: so many scales promise more than they keep.

C is chosen for machines trained on part of the rows; the final machine sees all of them and gets C
times that share, so that the penalty per point stays what it was. At small C, where most support
vectors are at the bound, the decision values and their sigmoid would otherwise not fit together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from svmselect.auto.landscape import Landscape, Pair, Reading
from svmselect.auto.newton import Prior, descend, expected_level_three, level_three
from svmselect.auto.optimism import tempered
from svmselect.kernels import RBF
from svmselect.parallel import one_thread
from svmselect.types import Array, Evaluation

_WIDTHS = (2.0 ** np.arange(-1.0, -3.5, -1.0), 2.0 ** np.arange(0.0, 2.5))  # median distances
_PENALTIES = 2.0 ** np.arange(-3.0, 12.5, 2.5)
_TAUS = (0.125, 0.25, 0.5, 1.0)  # on log l; on log gamma twice that
_MIDDLE = 2
_LOG_C = (np.log(1e-4), np.log(1e6))
_COARSE_FOLDS = 2
_GAIN = 0.02  # in log-likelihood: a step that gains less is the last
_CLOSE = 3.0  # in log-likelihood: cells that the full folds should judge
_NARROW = 0.4  # of the median distance: where few inputs that matter would show
_WORTH = 2.0  # gain in log marginal likelihood that pays for separate length scales


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen. P(+1 | f) = 1 / (1 + exp(slope f + offset)), one sigmoid a pair.

    ``C`` is for the final machines, trained on every row. ``value`` is the mean held-out
    log-likelihood, ``error`` the held-out error of p > 1/2, ``held_out`` the decision values behind
    both (NaN where a row is in no fold), ``tau`` the spread given to the log length scales (0: one
    length scale for all inputs).
    """

    C: float
    kernel: RBF
    sigmoids: tuple[tuple[float, float], ...]
    value: float
    error: float
    standard_error: float
    held_out: tuple[Array, ...]
    tau: float
    history: tuple[Evaluation, ...]
    messages: tuple[str, ...]
    seconds: float


@dataclass(eq=False)
class _Survey:
    """Readings one after another: the record, the clock, and whether someone said stop."""

    landscape: Landscape
    deadline: float | None
    callback: Callable[[Evaluation], object] | None
    history: list[Evaluation] = field(default_factory=list)
    asked: list[bool] = field(default_factory=list)

    def on(self, landscape: Landscape) -> _Survey:
        """The same survey of another landscape."""
        return replace(self, landscape=landscape)

    def read(self, log_C: float, log_scale: Array, start: Reading | None, slopes: bool) -> Reading:
        began = time.perf_counter()
        reading = self.landscape.read(log_C, log_scale, start, slopes)
        evaluation = Evaluation(
            point=reading.point,
            value=-reading.loss / self.landscape.total,
            gradient=None if reading.gradient is None else -reading.gradient,
            seconds=time.perf_counter() - began,
            # the first, rough values are of fewer folds and do not compare with the others
            details={"folds": float(len(self.landscape.folds[0].held))},
        )
        self.history.append(evaluation)
        if self.callback is not None and self.callback(evaluation):
            self.asked.append(True)
        return reading

    def keep_going(self) -> bool:
        late = self.deadline is not None and time.perf_counter() > self.deadline
        return not (late or self.asked)


def choose(
    X: Array,
    pairs: Sequence[Pair],
    *,
    loss: str = "hinge",
    ard: str | bool = "auto",
    max_time: float | None = None,
    random_state: int | np.random.Generator | None = 0,
    callback: Callable[[Evaluation], object] | None = None,
    start: Choice | None = None,
    threads: int = 1,
) -> Choice:
    """Choose for standardised inputs X and one or more two-class problems that share the choice.

    ``ard``: "auto" lets the data decide, "yes" skips the comparison with one common scale, "no"
    keeps to it. ``callback`` sees every evaluation and stops the search by returning True; it and
    ``max_time`` (seconds) end with the best so far. ``start`` replaces the coarse path. ``threads``
    train folds side by side, to the same result.
    """
    began = time.perf_counter()
    deadline = None if max_time is None else began + max_time
    with one_thread():
        survey = _Survey(Landscape.of(X, pairs, loss, threads=threads), deadline, callback)
        unit = median_distance(X, random_state)
        prior = Prior(float(np.log(unit)))
        box = np.array([_LOG_C, (np.log(unit / 50.0), np.log(unit * 50.0))])
        rough = survey.on(survey.landscape.on(pairs, _COARSE_FOLDS))
        if start is None:
            once, rounds = survey, any(pair.again for pair in pairs)
            if rounds:  # one round first: a step on all of them costs several times more
                once = survey.on(survey.landscape.on(pairs, max(len(p.tests) for p in pairs)))
            cells = _coarse(rough, unit, prior)
            readings = [once.read(float(c[0]), c[1:], None, True) for c in cells]
            best = min(readings, key=prior.height)
            best = descend(once.read, best, prior, box, 5.0 * _GAIN, 10, once.keep_going)
            if rounds:
                best = survey.read(best.log_C, best.log_scale, best, True)
        else:
            width = float(np.log(np.atleast_1d(np.asarray(start.kernel.length_scale))).mean())
            share = float(np.mean([pair.share for pair in pairs]))
            log_C = float(np.clip(np.log(start.C / share), *_LOG_C))
            best = survey.read(log_C, np.array([width]), None, True)
        best = descend(survey.read, best, prior, box, _GAIN, 10, survey.keep_going)
        tau, messages = 0.0, []
        wanted = {"auto": True, "yes": True, "no": False, True: True, False: False}[ard]
        if wanted and X.shape[1] > 1 and survey.keep_going():
            best, tau, message = _part_scales(survey, rough, best, prior, box, ard in ("yes", True))
            messages.append(message)
        if tau > 0.0:
            best = replace(best, sigmoids=tempered(survey.landscape, best, replace(prior, tau=tau)))
    messages += _edges(best, box)
    if not survey.keep_going():
        messages.append("the search was stopped early; this is the best it had found")
    return _choice(survey, pairs, best, tau, messages, time.perf_counter() - began)


def median_distance(X: Array, random_state: int | np.random.Generator | None) -> float:
    """The median distance between rows (of a sample of at most 500)."""
    rng = np.random.default_rng(random_state)
    rows = X if len(X) <= 500 else X[rng.choice(len(X), 500, replace=False)]
    squares = np.einsum("ij,ij->i", rows, rows)
    d2 = (squares[:, None] + squares - 2.0 * rows @ rows.T)[np.triu_indices(len(rows), 1)]
    d2 = d2[d2 > 1e-12 * max(float(squares.max(initial=0.0)), 1e-300)]
    return float(np.sqrt(np.median(d2))) if len(d2) else 1.0


def _coarse(survey: _Survey, unit: float, prior: Prior) -> list[Array]:
    """Walk the path of each width; the best cell, and the best of another width if it is close."""

    def path(width: float) -> Iterator[Reading]:
        last = None
        for C in _PENALTIES:
            last = survey.read(float(np.log(C)), np.array([np.log(width)]), last, False)
            yield last

    def tops_of(widths: Array) -> Iterator[Reading]:
        for width in widths:
            yield min(_while_it_pays(path(width), survey, prior), key=prior.height)

    tops = [top for side in _WIDTHS for top in _while_it_pays(tops_of(unit * side), survey, prior)]
    tops.sort(key=prior.height)
    rivals = [r for r in tops[1:] if prior.height(r) < prior.height(tops[0]) + _CLOSE]
    return [r.point for r in [tops[0], *rivals[:1]]]


def _while_it_pays(readings: Iterator[Reading], survey: _Survey, prior: Prior) -> list[Reading]:
    """Readings one after another until they have become worse twice; at least one."""
    taken: list[Reading] = []
    falls = 0
    for reading in readings:
        fell = bool(taken) and prior.height(reading) > prior.height(taken[-1])
        falls = falls + 1 if fell else 0
        taken.append(reading)
        if falls == 2 or not survey.keep_going():
            break
    return taken


def _part_scales(
    survey: _Survey, rough: _Survey, isotropic: Reading, prior: Prior, box: Array, insist: bool
) -> tuple[Reading, float, str]:
    """Give each input its own length scale if that pays; the reading, tau and a sentence."""
    d = survey.landscape.X.shape[1]
    wide = np.vstack([box[:1], np.tile(box[1:] + np.array([[-1.0, 3.0]]), (d, 1))])
    priors = [replace(prior, tau=tau) for tau in _TAUS]
    common = prior.height(isotropic)
    here = survey.read(isotropic.log_C, np.full(d, isotropic.log_scale[0]), isotropic, True)
    tried = min(priors, key=lambda p: expected_level_three(here, p))
    judged: list[tuple[float, Prior, Reading]] = []
    if expected_level_three(here, tried) <= common - _WORTH or insist:
        judged += _descents(survey, here, tried, priors, wide)
    elif expected_level_three(here, priors[_MIDDLE]) <= common + _WORTH:
        # so near the model's word is not enough: what a few steps bring is often much more
        at = _ahead(survey, here, priors[_MIDDLE], common - _WORTH, wide)
        if at is not None:
            judged += _descents(survey, at, priors[_MIDDLE], priors, wide)
    elsewhere = _elsewhere(rough, isotropic, prior, priors[-1], wide)
    if elsewhere is not None and survey.keep_going():
        here = survey.read(elsewhere.log_C, elsewhere.log_scale, elsewhere, True)
        judged += _descents(survey, here, priors[-1], priors, wide)
    if not judged:
        late = "" if survey.keep_going() else ", as far as there was time to see"
        words = f"one length scale for all inputs: separate ones would not pay{late}"
        return isotropic, 0.0, words
    value, chosen, best = min(judged, key=lambda j: j[0])
    if value > common - _WORTH and not insist:
        return isotropic, 0.0, "one length scale for all inputs: separate ones did not pay"
    words = f"a length scale for each input (log evidence for it: {common - value:+.1f})"
    return best, chosen.tau, words


def _descents(
    survey: _Survey, here: Reading, tried: Prior, priors: list[Prior], wide: Array
) -> list[tuple[float, Prior, Reading]]:
    """Descend at this spread and at its neighbours as long as they promise more."""
    judged: list[tuple[float, Prior, Reading]] = []
    while survey.keep_going():
        here = descend(survey.read, here, tried, wide, 5e-2, 8, survey.keep_going)
        value = level_three(here, tried)
        judged.append((value, tried, here))
        seen = [p for _, p, _ in judged]
        others = [p for p in priors if p not in seen and abs(np.log2(p.tau / tried.tau)) < 1.5]
        if not others:
            break
        rival = min(others, key=lambda p: expected_level_three(here, p))
        if expected_level_three(here, rival) > value - 0.5 * _WORTH:
            break
        tried = rival
    return judged


def _elsewhere(
    rough: _Survey, isotropic: Reading, prior: Prior, loose: Prior, wide: Array
) -> Reading | None:
    """Where loose scales lead from a narrow kernel, if that is better than the isotropic optimum.

    Among inputs that say nothing the best single scale is wide, and from there no slope leads to
    the short scales of the few that do. A look at two of the folds costs little.
    """
    d = len(wide) - 1
    if d < 3 or not rough.keep_going():
        return None
    there = rough.read(isotropic.log_C, isotropic.log_scale, isotropic, False)
    narrow = np.full(d, prior.middle + np.log(_NARROW))
    at = rough.read(0.0, np.clip(narrow, *wide[1]), None, True)
    return _ahead(rough, at, loose, prior.height(there) - _WORTH, wide)


def _ahead(
    survey: _Survey, at: Reading, prior: Prior, enough: float, wide: Array
) -> Reading | None:
    """Where some steps lead, if the marginal likelihood is better than enough there."""

    def hopeless(at: Reading, gained: float) -> bool:
        return expected_level_three(at, prior) - 3.0 * gained > enough

    at = descend(survey.read, at, prior, wide, 0.5, 8, survey.keep_going, hopeless)
    return at if level_three(at, prior) < enough else None


def _edges(best: Reading, box: Array) -> list[str]:
    """Say what ended on the edge of the range that was searched."""
    edges = []
    for value, (low, high), name in (
        (best.log_C, box[0], "C"),
        (float(best.log_scale.mean()), box[1], "the length scale"),
    ):
        if value <= low + 1e-9 or value >= high - 1e-9:
            side = "lower" if value <= low + 1e-9 else "upper"
            edges.append(f"{name} is at the {side} edge of the range searched")
    return edges


def _choice(
    survey: _Survey,
    pairs: Sequence[Pair],
    best: Reading,
    tau: float,
    messages: list[str],
    seconds: float,
) -> Choice:
    """Gather the final record; the error is of p > 1/2, its spread that of a mean over rows."""
    wrong, weight = [], []
    held_out = survey.landscape.held_out(best, pairs)
    for pair, f, (slope, offset) in zip(pairs, held_out, best.sigmoids, strict=True):
        seen = np.isfinite(f)
        wrong.append(pair.y[seen] * -(slope * f[seen] + offset) <= 0)
        weight.append(pair.weights[seen])
    w = np.concatenate(weight)
    error = float(w @ np.concatenate(wrong)) / float(w.sum())
    rows = survey.landscape.total
    share = float(np.mean([pair.share for pair in pairs]))
    return Choice(
        C=float(np.exp(best.log_C)) * share,
        kernel=survey.landscape.kernel(best.log_scale),
        sigmoids=best.sigmoids,
        value=-best.loss / survey.landscape.total,
        error=error,
        standard_error=float(np.sqrt(max(error * (1.0 - error), 0.0) / rows)),
        held_out=held_out,
        tau=tau,
        history=tuple(survey.history),
        messages=tuple(messages),
        seconds=seconds,
    )
