"""Choose on several stratified subsets of many rows, and combine what they say.

The noise of a choice made on a part of the rows is averaged away by choosing on several (Gold &
Sollich 2003, in closing). What is averaged are logarithms: of C and of the length scales. C itself
is carried over to more rows, not the penalty per row: on spambase, ringnorm, waveform, banana and
connect-4 the likelihood of machines on all rows is best at the C of a subset of an eighth to a
fifth of them or above it, and worse at C n_subset/n, often by much (on twonorm either will do).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svmselect.data import Pair
from svmselect.estimators.strategies.choice import Choice
from svmselect.estimators.strategies.default import choose
from svmselect.kernels import Kernel
from svmselect.probability import sigmoid_log_probability
from svmselect.search.run import Session
from svmselect.selection.hierarchy import isotropic
from svmselect.types import Array, IntArray, Note

_FEWEST = 40  # rows of a class that a subset keeps, if there are so many
_FAR = 4.0  # standard errors behind the best subset, beyond which a choice missed the optimum


@dataclass(frozen=True, eq=False)
class Consensus:
    """C of machines trained on a part of the rows, and a kernel, by what subsets chose."""

    log_C: float
    kernel: Kernel
    tau: float
    choices: tuple[Choice, ...]
    notes: tuple[Note, ...]


def choose_on_subsets(
    X: Array,
    pairs: Sequence[Pair],
    *,
    kernels: Sequence[Kernel],
    loss: str,
    ard: str | bool,
    limit: int,
    subsets: int,
    seconds: float | None,
    rng: np.random.Generator,
    session: Session,
    stage: str = "",
    start: tuple[float, Kernel] | None = None,
    threads: int = 1,
) -> Consensus:
    """Choose on subsets of ``limit`` rows, one after another; the later start from the first.

    A common start keeps them at one of several optima, between which an average would mean nothing.
    ``seconds`` are for all of them, whatever ``session`` allows.
    """
    began = time.perf_counter()
    choices: list[Choice] = []
    shares: list[float] = []
    errors: list[float] = []
    for index in range(subsets):
        left = None if seconds is None else seconds - (time.perf_counter() - began)
        if choices and (session.halted is not None or (left is not None and left <= 0.0)):
            break
        rows, parts = draw_subset(len(X), pairs, limit, rng)
        own = session.within(None if left is None else left / (subsets - index))
        known = (choices[0].C, choices[0].kernel) if choices else start
        choices.append(
            choose(
                X[rows],
                parts,
                kernels=[isotropic(choices[0].kernel)] if choices else kernels,
                loss=loss,
                ard=ard,
                session=own,
                stage=f"{stage}subset{index}/",
                random_state=int(rng.integers(2**31)),
                start=known,
                threads=threads,
            )
        )
        session.take(own)
        shares.append(float(np.mean([part.share for part in parts])))
        errors.append(value_error(choices[-1], parts))
    return combine(choices, shares, errors)


def value_error(choice: Choice, pairs: Sequence[Pair]) -> float:
    """The standard error of ``choice.value``, a mean over held-out rows."""
    deviations = weight = 0.0
    for pair, f, (slope, offset) in zip(pairs, choice.held_out, choice.sigmoids, strict=True):
        seen = np.isfinite(f)
        gains = sigmoid_log_probability(f[seen], slope * pair.y[seen], offset * pair.y[seen])
        w = pair.weights[seen]
        deviations += float(w @ (gains - w @ gains / w.sum()) ** 2)
        weight += float(w.sum())
    return float(np.sqrt(deviations) / weight)


def combine(
    choices: Sequence[Choice], shares: Sequence[float], errors: Sequence[float]
) -> Consensus:
    """Average the logarithms over those on the side of the majority: one length scale, or many.

    A tie goes to one length scale. Choices whose likelihood is far behind the best, by their
    ``errors``, ended at another optimum and have no say. ``shares`` are the parts of their rows
    the folds trained on.
    """
    top = int(np.argmax([choice.value for choice in choices]))
    reach = [_FAR * np.hypot(errors[top], error) for error in errors]
    near = [i for i, c in enumerate(choices) if i == top or c.value > choices[top].value - reach[i]]
    parted = [i for i in near if choices[i].tau > 0.0]
    many = 2 * len(parted) > len(near)
    side = [(choices[i], shares[i]) for i in near if (choices[i].tau > 0.0) == many]
    log_C = float(np.mean([np.log(choice.C / share) for choice, share in side]))
    theta = np.mean([choice.kernel.theta for choice, _ in side], axis=0)
    notes = [note for note in side[0][0].notes if note.kind == "choice"]
    if len(near) < len(choices):
        missed = f"{len(choices) - len(near)} of {len(choices)} subsets missed the optimum"
        notes.append(Note("course", missed))
    if len(side) < len(near):
        said = (
            f"{'separate length scales' if many else 'one length scale for all inputs'}: "
            f"{len(side)} of {len(near)} subsets chose so"
        )
        notes[:1] = [Note("choice", said)]
    for choice, _ in side:
        notes += [note for note in choice.notes if note.kind != "choice"]
    return Consensus(
        log_C,
        side[0][0].kernel.at(theta),
        float(np.mean([choice.tau for choice, _ in side])),
        tuple(choices),
        tuple(dict.fromkeys(notes)),
    )


def draw_subset(
    n: int, pairs: Sequence[Pair], limit: int, rng: np.random.Generator
) -> tuple[IntArray, list[Pair]]:
    """Draw about ``limit`` of n rows, in proportion from every class and fold; and the pairs there.

    A small class keeps up to 40 rows, which then count for less. Folds are those of the pairs, so
    rows that are held out together stay so.
    """
    codes, fold = classes_of(n, pairs), np.full(n, -1)
    for pair in pairs:
        for k, test in enumerate(pair.tests):
            fold[pair.rows[test]] = k
    drawn, counts_for = [], np.ones(n)
    for code in range(int(codes.max()) + 1):
        members = np.flatnonzero(codes == code)
        count = min(len(members), max(round(limit * len(members) / n), _FEWEST))
        members = members[np.lexsort((rng.random(len(members)), fold[members]))]
        steps = (np.arange(count) + rng.random()) * len(members) / count
        drawn.append(members[steps.astype(np.intp)])
        counts_for[members] = len(members) / count
    rows = np.sort(np.concatenate(drawn))
    counts_for *= len(rows) / n
    place = np.full(n, -1)
    place[rows] = np.arange(len(rows))
    parts = []
    for pair in pairs:
        kept = np.flatnonzero(place[pair.rows] >= 0)
        at = np.full(len(pair.rows), -1)
        at[kept] = np.arange(len(kept))
        tests = [at[test][at[test] >= 0] for test in pair.tests]
        weights = pair.weights[kept] * counts_for[pair.rows[kept]]
        part = replace(pair, rows=place[pair.rows[kept]], y=pair.y[kept], weights=weights)
        parts.append(replace(part, tests=tuple(test for test in tests if len(test)), again=()))
    return rows, parts


def classes_of(n: int, pairs: Sequence[Pair]) -> IntArray:
    """Number the classes of n rows, known by the side they take in each pair."""
    sides = np.zeros((n, len(pairs)), dtype=np.int8)
    for p, pair in enumerate(pairs):
        sides[pair.rows, p] = pair.y
    return np.unique(sides, axis=0, return_inverse=True)[1].ravel()
