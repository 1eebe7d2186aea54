"""Choose on several stratified subsets of many rows, and combine what they say.

The noise of a choice made on a part of the rows is averaged away by choosing on several (Gold &
Sollich 2003, in closing). What is averaged are logarithms: of C and of the length scales. C itself
is carried over to more rows, not the penalty per row: on spambase, ringnorm, waveform, banana and
connect-4 the likelihood of machines on all rows is best at the C of a subset of an eighth to a
fifth of them or above it, and worse at C n_subset/n, often by much (on twonorm either will do).

Which form of kernel is best, and whether each input is to have its own length scale, does not carry
over like that: the first subset only proposes, and somebody who sees more rows disposes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from svmselect import clock
from svmselect.data import Pair
from svmselect.estimators.strategies.choice import Choice
from svmselect.estimators.strategies.default import choose
from svmselect.kernels import Kernel
from svmselect.probability import sigmoid_log_probability
from svmselect.search.run import Session
from svmselect.types import Array, IntArray, Note

_FEWEST = 40  # rows of a class that a subset keeps, if there are so many
_INSISTED = 200  # inputs up to which each gets a length scale of its own, whatever it promises
_DECISIVE = 10.0  # log evidence for separate length scales, by which they are to begin with
_FAR = 4.0  # standard errors behind the best subset, beyond which a choice missed the optimum


@dataclass(frozen=True, eq=False)
class Proposal:
    """C of machines trained on a part of the rows, and a kernel, by what one subset chose.

    ``tau`` is how far its length scales part, 0 where all inputs have one; ``choice`` is what that
    came of, ``marginal`` what the subset says of it, the less the better.
    """

    log_C: float
    kernel: Kernel
    tau: float
    loss: str
    choice: Choice
    marginal: float

    def start(self, share: float) -> tuple[float, Kernel]:
        """Where another choice begins, on rows of which the folds train on this share."""
        return float(np.exp(self.log_C)) * share, self.kernel

    @property
    def decided(self) -> bool:
        """Whether it has one length scale, or many by far."""
        common = self.choice.common
        return self.tau == 0.0 or common is None or common[2] > self.marginal + _DECISIVE


@dataclass(frozen=True, eq=False)
class Consensus:
    """C of machines trained on a part of the rows, and a kernel, by what subsets chose."""

    log_C: float
    kernel: Kernel
    tau: float
    choices: tuple[Choice, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, eq=False)
class _Subset:
    """Rows, the pairs of classes there, and a seed for what is random in a choice."""

    rows: IntArray
    pairs: list[Pair]
    seed: int

    @property
    def share(self) -> float:
        """The part of the rows that the folds train on."""
        return float(np.mean([pair.share for pair in self.pairs]))


@dataclass(eq=False)
class Subsets:
    """Choices on ``count`` subsets of ``limit`` rows, one after another.

    ``seconds`` are for all of them, whatever ``session`` allows; ``expected`` is how many choices
    are to share them.
    """

    X: Array
    pairs: Sequence[Pair]
    limit: int
    count: int
    rng: np.random.Generator
    session: Session
    seconds: float | None = None
    expected: int = 1
    stage: str = ""
    threads: int = 1
    _began: float = field(default_factory=clock.now)
    _first: _Subset = field(init=False)

    def __post_init__(self) -> None:
        self._first = self._draw()

    def proposals(
        self,
        kernels: Sequence[Kernel],
        loss: str,
        ard: str | bool,
        start: tuple[float, Kernel] | None = None,
        label: str = "subset0",
    ) -> list[Proposal]:
        """What the first subset says of each kernel, the best first.

        With ``ard="auto"`` twice, with a length scale for each input and with one for all.
        """
        found: list[Proposal] = []
        insist = ard == "auto" and self.X.shape[1] <= _INSISTED
        for i, kernel in enumerate(kernels):
            if found and self._over:
                break
            own = f"{label}/kernel{i}" if len(kernels) > 1 else label
            made = self._choose(self._first, own, kernel, loss, "yes" if insist else ard, start)
            found.append(self._proposal(loss, made))
            if ard == "auto" and made.common is not None:
                C, alike, marginal = made.common
                log_C = float(np.log(C / self._first.share))
                found.append(Proposal(log_C, alike, 0.0, loss, made, marginal))
        return sorted(found, key=lambda one: one.marginal)

    def elsewise(self, lead: Proposal, loss: str, ard: str | bool) -> list[Proposal]:
        """What it says with another loss, from there; nothing if there is no time."""
        if self._over:
            return []
        start = lead.start(self._first.share)
        return self.proposals([lead.kernel], loss, ard, start, f"subset0/{loss}")

    def settled(self, lead: Proposal) -> Proposal:
        """The same once more where one length scale was taken of a choice that has many."""
        if lead.tau == lead.choice.tau or self._over:
            return lead
        said = "one length scale for all inputs: on all rows separate ones served less"
        made = self._further(self._first, lead, "subset0/one scale")
        made = replace(made, notes=(Note("choice", said), *made.notes))
        return self._proposal(lead.loss, made)

    def agreed(self, lead: Proposal) -> Consensus:
        """What the others say as well, from there: a common start keeps them at one optimum."""
        choices, drawn = [lead.choice], [self._first]
        for index in range(1, self.count):
            if self._over:
                break
            drawn.append(self._draw())
            choices.append(self._further(drawn[-1], lead, f"subset{index}"))
        shares = [subset.share for subset in drawn]
        errors = [value_error(c, subset.pairs) for c, subset in zip(choices, drawn, strict=True)]
        return combine(choices, shares, errors)

    @property
    def _over(self) -> bool:
        """Whether there is no time for another choice."""
        self.session.check_time()
        spent = clock.now() - self._began
        return self.session.halted is not None or (
            self.seconds is not None and spent >= self.seconds
        )

    def _draw(self) -> _Subset:
        rows, pairs = draw_subset(len(self.X), self.pairs, self.limit, self.rng)
        return _Subset(rows, pairs, int(self.rng.integers(2**31)))

    def _proposal(self, loss: str, made: Choice) -> Proposal:
        log_C = float(np.log(made.C / self._first.share))
        return Proposal(log_C, made.kernel, made.tau, loss, made, made.marginal)

    def _further(self, subset: _Subset, lead: Proposal, label: str) -> Choice:
        """Choose from there, with one length scale or many as there."""
        start = lead.start(subset.share)
        # scales that hardly pay on one subset may be far from those that do on another
        ard, tau = ("no", lead.tau) if lead.decided else ("yes", 0.0)
        return self._choose(subset, label, lead.kernel, lead.loss, ard, start, tau)

    def _choose(
        self,
        subset: _Subset,
        label: str,
        kernel: Kernel,
        loss: str,
        ard: str | bool,
        start: tuple[float, Kernel] | None,
        tau: float = 0.0,
    ) -> Choice:
        left = None
        if self.seconds is not None:
            left = max(0.0, self.seconds - (clock.now() - self._began)) / max(1, self.expected)
        self.expected -= 1
        own = self.session.within(left)
        made = choose(
            self.X[subset.rows], subset.pairs, kernels=[kernel], loss=loss, ard=ard, session=own,
            stage=f"{self.stage}{label}/", random_state=subset.seed, start=start, tau=tau,
            threads=self.threads,
        )  # fmt: skip
        self.session.take(own)
        return made


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
    """Average the logarithms, of kernels with the parameters that the first has.

    A choice that was cut short before it had separate length scales has no say.
    Choices whose likelihood is far behind the best, by their ``errors``, ended at another optimum
    and have no say. ``shares`` are the parts of their rows the folds trained on.
    """
    size = len(choices[0].kernel.theta)
    whole = [i for i, c in enumerate(choices) if len(c.kernel.theta) == size]
    top = max(whole, key=lambda i: choices[i].value)
    reach = [_FAR * np.hypot(errors[top], error) for error in errors]
    near = [i for i in whole if i == top or choices[i].value > choices[top].value - reach[i]]
    side = [(choices[i], shares[i]) for i in near]
    log_C = float(np.mean([np.log(choice.C / share) for choice, share in side]))
    theta = np.mean([choice.kernel.theta for choice, _ in side], axis=0)
    notes = [note for note in choices[0].notes if note.kind == "choice"]
    if len(near) < len(whole):
        missed = f"{len(whole) - len(near)} of {len(whole)} subsets missed the optimum"
        notes.append(Note("course", missed))
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
