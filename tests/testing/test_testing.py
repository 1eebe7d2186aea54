"""The conformance kit passes what is sound and catches, one by one, what is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.special import expit

from svmselect.criteria.base import FREE, Context, Criterion, Verdict, every
from svmselect.kernels import RBF, Constant, Kernel, Linear, available
from svmselect.kernels.tiles import Array, Block
from svmselect.testing import (
    KERNELS,
    REGIMES,
    Folds,
    Untouchable,
    check_criterion,
    check_kernel,
    compare,
    criterion_checks,
    kernel_checks,
    make_case,
    twinned,
    weighted,
)
from svmselect.types import Sensitivity, Status


@dataclass(frozen=True)
class Sound(Criterion):
    """The mean logistic loss of the training points: a criterion with nothing wrong."""

    steepness: float = 1.0

    name = "sound"
    greater_is_better = False
    serves = every("hinge", "squared_hinge", "logistic")
    scaling = 0.0
    formula = "1/n sum log(1 + exp(-s z))"
    cost = "O(n)"
    reference = "none"

    def __post_init__(self) -> None:
        if not self.steepness > 0:
            raise ValueError(f"steepness must be positive, got {self.steepness!r}")

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        s, share = context.solution, context.weights / context.total
        z = self.steepness * s.margin
        value = float(share @ np.logaddexp(0.0, -z))
        if not gradient:
            return Verdict(value)
        slope = -share * context.y * self.steepness * expit(-z)
        return Verdict(value, context.system.pullback(decision=slope))


def failures(criterion: Criterion, kind: str) -> list[str]:
    """What the failing checks of one kind say."""
    found = []
    for name, check in criterion_checks(criterion):
        if name.partition(":")[0] == kind:
            try:
                check()
            except Exception as error:
                found.append(str(error))
    return found


def test_sound_criterion_passes() -> None:
    check_criterion(Sound())


def test_every_kind_of_check_is_there() -> None:
    kinds = {name.partition(":")[0] for name, _ in criterion_checks(Sound())}
    kinds |= {name.partition(":")[0] for name, _ in criterion_checks(NoReason())}
    kinds |= {name.partition(":")[0] for name, _ in criterion_checks(OnlyHinge())}
    assert kinds == {
        "declarations", "options", "refusal", "value", "gradient", "no gradient", "continuity",
        "permutation", "relabelling", "translation", "scaling", "weights", "determinism",
        "warm start", "ill-conditioned",
    }  # fmt: skip


def test_skip_leaves_a_kind_out() -> None:
    names = [name for name, _ in criterion_checks(Sound(), skip=("gradient", "scaling"))]
    assert names
    assert not [name for name in names if name.startswith(("gradient", "scaling"))]


def test_check_criterion_lists_all_failures() -> None:
    with pytest.raises(AssertionError, match=r"(?s)fails \d+ checks:.*- relabelling: hinge, free"):
        check_criterion(CountsOneClass())


@dataclass(frozen=True)
class Mutant(Sound):
    """Each mutant is Sound, for one loss, but for one defect."""

    serves = every("hinge")


@dataclass(frozen=True)
class Shifted(Mutant):
    """Adds a number to the value: a base for the mutants below."""

    def extra(self, context: Context) -> float:
        return 0.0

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        verdict = super().evaluate(context, gradient)
        return replace(verdict, value=verdict.value + self.extra(context))


@dataclass(frozen=True)
class SlightlyWrongGradient(Mutant):
    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        verdict = super().evaluate(context, gradient)
        s = verdict.sensitivity
        return verdict if s is None else replace(verdict, sensitivity=1.00001 * s)


@dataclass(frozen=True)
class ForgetsTheMachine(Mutant):
    """Lacks the implicit part: decision values move with K only."""

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        verdict = super().evaluate(context, gradient)
        if verdict.sensitivity is None:
            return verdict
        z = context.solution.margin
        left = -context.weights / context.total * context.y * expit(-z)
        pull = Sensitivity(left[:, None], context.solution.beta[:, None], 0.0)
        return replace(verdict, sensitivity=pull)


@dataclass(frozen=True)
class Sampled(Sound):
    """Claims standard errors, so that its gradient is judged by them."""

    serves = every("logistic")  # smooth over wide steps

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        verdict = super().evaluate(context, gradient)
        errors = {"gradient_stderr": np.full(1 + len(context.kernel.theta), 1e-3)}
        return replace(verdict, stderr=1e-4, details=errors if gradient else {})


@dataclass(frozen=True)
class SampledWrongly(Sampled):
    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        verdict = super().evaluate(context, gradient)
        s = verdict.sensitivity
        return verdict if s is None else replace(verdict, sensitivity=2.0 * s)


@dataclass(frozen=True)
class LosesItsGradient(Mutant):
    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        return super().evaluate(context, False)


@dataclass(frozen=True)
class NaNWithoutFreeVectors(Mutant):
    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        verdict = super().evaluate(context, gradient)
        return verdict if len(context.solution.free) else replace(verdict, value=float("nan"))


@dataclass(frozen=True)
class GivesUp(Mutant):
    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        return Verdict(float("-inf"), status=Status("undefined", "try another one"))


@dataclass(frozen=True)
class NoReason(Mutant):
    smooth = False


@dataclass(frozen=True)
class DependsOnOrder(Shifted):
    def extra(self, context: Context) -> float:
        return 1e-6 * float(np.arange(len(context.y)) @ context.solution.alpha / context.C)


@dataclass(frozen=True)
class CountsOneClass(Shifted):
    def extra(self, context: Context) -> float:
        return 1e-6 * float(context.weights[context.y > 0] @ context.solution.margin[context.y > 0])


@dataclass(frozen=True)
class DependsOnOrigin(Shifted):
    def extra(self, context: Context) -> float:
        return 1e-6 * float(context.weights @ context.X[:, 0]) / context.total


@dataclass(frozen=True)
class DependsOnC(Shifted):
    def extra(self, context: Context) -> float:
        return 1e-6 * context.C


@dataclass(frozen=True)
class IgnoresWeights(Shifted):
    def extra(self, context: Context) -> float:
        return 1e-4 * float(np.mean(context.solution.margin**2))


@dataclass(frozen=True)
class RefusesWeights(Mutant):
    counts_weights = False

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        if np.any(context.weights != 1):
            raise ValueError("weights other than 1 are not defined here; leave them out")
        return super().evaluate(context, gradient)


@dataclass(frozen=True)
class SaysItRefusesWeights(Mutant):
    counts_weights = False


@dataclass(frozen=True)
class Random(Shifted):
    def extra(self, context: Context) -> float:
        return 1e-13 * float(np.random.default_rng().random())


@dataclass(frozen=True)
class RemembersItsStart(Shifted):
    def extra(self, context: Context) -> float:
        return 1e-6 * len(context.start)


@dataclass(frozen=True)
class Jumps(Shifted):
    def extra(self, context: Context) -> float:
        return 1e-4 * float(context.weights[context.solution.bound].sum())


@dataclass(frozen=True)
class SilentNaN(Mutant):
    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        verdict = super().evaluate(context, gradient)
        singular = np.linalg.cond(context.K) > 1e12
        return replace(verdict, value=float("nan")) if singular else verdict


@dataclass(frozen=True)
class SpeaksUp(SilentNaN):
    """The same, sound: the status says so."""

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        verdict = super().evaluate(context, gradient)
        if np.isfinite(verdict.value):
            return verdict
        return replace(verdict, status=Status("singular", "shorten the length scale"))


@dataclass(frozen=True)
class Unnamed(Mutant):
    formula = ""


@dataclass(frozen=True, repr=False)
class Taciturn(Mutant):
    def __repr__(self) -> str:
        return "Taciturn"


@dataclass(frozen=True)
class TakesAnything(Mutant):
    def __post_init__(self) -> None:
        pass


@dataclass(frozen=True)
class OnlyHinge(Mutant):
    serves = every("hinge", offsets=(FREE,))


@dataclass(frozen=True)
class NeverRefuses(OnlyHinge):
    def refusal(self, kernel: Kernel, loss: str, fit_intercept: bool) -> str | None:
        return None


@dataclass(frozen=True)
class WorksFirst(OnlyHinge):
    def refusal(self, kernel: Kernel, loss: str, fit_intercept: bool) -> str | None:
        if not np.isfinite(kernel([[0.0, 0.0], [1.0, 1.0]])).all():
            return "the kernel is not finite"
        return super().refusal(kernel, loss, fit_intercept)


@pytest.mark.parametrize(
    ("criterion", "kind", "message"),
    [
        (SlightlyWrongGradient(), "gradient", r"(?s)differs from central .* by 1\.0e-05 relative"),
        (ForgetsTheMachine(), "gradient", "differs from central differences"),
        (SampledWrongly(), "gradient", "differs from central differences"),
        (LosesItsGradient(), "gradient", "none came"),
        (NaNWithoutFreeVectors(), "value", "the value is nan"),
        (GivesUp(), "value", "the value is -inf"),
        (NoReason(), "no gradient", "why there is no gradient"),
        (DependsOnOrder(), "permutation", "changes by permutation"),
        (CountsOneClass(), "relabelling", "changes by relabelling"),
        (DependsOnOrigin(), "translation", "changes by translation"),
        (DependsOnC(), "scaling", r"is not t\^0.0 value"),
        (IgnoresWeights(), "weights", "not k copies"),
        (SaysItRefusesWeights(), "weights", "must refuse"),
        (Random(), "determinism", "two evaluations differ"),
        (RemembersItsStart(), "warm start", "where the machine started"),
        (Jumps(), "continuity", "jumps where an active set changes"),
        (SilentNaN(), "ill-conditioned", "the value is nan and the status is ok"),
        (Unnamed(), "declarations", "formula must be a non-empty string"),
        (Taciturn(), "declarations", "repr does not evaluate|is not defined"),
        (TakesAnything(), "options", "refuse steepness=nan"),
        (NeverRefuses(), "refusal", "was not refused"),
        (WorksFirst(), "refusal", "the kernel was evaluated"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Criterion) else "",
)
def test_defect_is_caught(criterion: Criterion, kind: str, message: str) -> None:
    found = failures(criterion, kind)
    assert found
    assert all(re.search(message, text) for text in found)


@pytest.mark.parametrize(
    ("criterion", "skip"),
    [
        (RefusesWeights(), ()),
        # rows that occur twice are singular to it, and that is its own affair
        (SpeaksUp(), ("weights", "permutation", "relabelling", "translation", "scaling")),
        (OnlyHinge(), ()),
        (Sampled(), ()),
    ],
)
def test_other_sound_ways(criterion: Criterion, skip: tuple[str, ...]) -> None:
    check_criterion(criterion, skip)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_regimes_are_what_they_are_called(name: str, fit_intercept: bool) -> None:
    counts = {}
    for regime in REGIMES:
        p = make_case(regime, "hinge", fit_intercept, KERNELS[name])
        s = p.solution()
        assert s.status.ok
        counts[regime] = len(s.free), len(s.bound), len(p.y) - len(s.support)
        # each training part holds both classes
        for train, test in Folds(tuple(p.fold)).split(p.X):
            assert len(train) + len(test) == len(p.y)
            assert set(p.y[train]) == {-1.0, 1.0}
    assert min(counts["mixed"]) > 1
    assert counts["all bounded"] == (0, 20, 0)
    assert counts["none bounded"][1] == 0
    assert counts["one free"][0] == 1
    assert counts["none free"][0] == 0
    assert min(counts["none free"][1:]) > 0


def test_copies_of_a_weighted_problem() -> None:
    p = weighted(make_case())
    copies = p.copied()
    assert p.weights is not None
    assert set(p.weights) == {0.0, 1.0, 2.0, 3.0}
    assert len(copies.y) == p.weights.sum()
    assert copies.weights is None
    np.testing.assert_allclose(p.solution().objective, copies.solution().objective, rtol=1e-10)
    row = int(np.flatnonzero(p.weights == 3.0)[0])
    same = (p.X[row] == copies.X).all(axis=1)
    assert same.sum() == 3
    assert set(copies.fold[same]) == {p.fold[row]}


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_twins_have_margins_at_minus_one(fit_intercept: bool) -> None:
    p = twinned(make_case("mixed", "hinge", fit_intercept))
    s = p.solution()
    at = np.flatnonzero(np.abs(s.margin + 1.0) < 1e-9)
    assert len(at) > 1
    for row in at:
        twins = np.flatnonzero((p.X[row] == p.X).all(axis=1) & (p.y != p.y[row]))
        assert set(twins) & set(s.free)


def test_differences_notice_a_change_of_active_sets() -> None:
    p = make_case()
    objective = p.objective(Sound())
    point = np.concatenate([[np.log(p.C)], p.kernel.theta])
    near = compare(objective, point)
    assert not near.crossed
    assert near.error < 1e-7
    wide = compare(objective, point, steps=(0.3,))
    assert wide.crossed


@pytest.mark.parametrize(
    "kernel",
    [
        *(cls(2) if name == "polynomial" else cls() for name, cls in available().items()),
        RBF([0.5, 1.0, 2.0]),
        2.0 * Linear() + Constant(0.1),
    ],
    ids=repr,
)
def test_sound_kernel_passes(kernel: Kernel) -> None:
    check_kernel(kernel)


class WrongSlope(RBF):
    """A Gaussian kernel whose derivative is half of what it should be."""

    def block(self, X: Array, Z: Array | None) -> Block:
        inner = super().block(X, Z)

        class Half(Block):
            def fill(self, rows: slice, cols: slice, out: Array) -> None:
                inner.fill(rows, cols, out)

            def pull(self, rows: slice, cols: slice, G: Array, K: Array | None) -> Array:
                return 0.5 * inner.pull(rows, cols, G, K)

        return Half()


def test_wrong_derivative_of_a_kernel_is_caught() -> None:
    with pytest.raises(AssertionError, match=r"(?s)fails 5 checks.*pullback: square.*differs"):
        check_kernel(WrongSlope(1.3))


def test_untouchable_fails_when_evaluated() -> None:
    for name, check in kernel_checks(Untouchable()):
        if name == "Gram matrix":
            with pytest.raises(AssertionError, match="nothing should be computed"):
                check()


def test_folds_are_a_splitter() -> None:
    folds = Folds((0, 1, 0, 2))
    pairs: Iterator[tuple[np.ndarray, np.ndarray]] = folds.split(np.zeros((4, 1)))
    assert [(a.tolist(), b.tolist()) for a, b in pairs] == [
        ([1, 3], [0, 2]),
        ([0, 2, 3], [1]),
        ([0, 1, 2], [3]),
    ]
    assert folds.get_n_splits() == 3
    assert hash(folds) == hash(Folds((0, 1, 0, 2)))
