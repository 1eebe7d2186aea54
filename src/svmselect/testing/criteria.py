"""What every criterion must do, ours or a stranger's: a list of checks, and one call for all."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterator
from dataclasses import FrozenInstanceError, fields, replace
from functools import partial
from typing import Any

import numpy as np

from svmselect.criteria import Criterion, available
from svmselect.criteria.base import FREE, PENALISED
from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant, Kernel, Polynomial
from svmselect.machine import losses
from svmselect.machine.losses import get_loss
from svmselect.selection.objective import Objective
from svmselect.testing.cases import KERNELS, REGIMES, Case, make_case, twinned, weighted
from svmselect.testing.checks import Check, require, run, strictly
from svmselect.testing.differences import NOISE, central, compare, jump
from svmselect.testing.kernels import Untouchable
from svmselect.types import Score

_GRADIENT_TOLERANCE = 1e-6
_SAME = 1e-8  # two ways to compute one number
_UNITS = ("score", "mean", "total", "deviance")
_OFFSETS = {FREE: True, PENALISED: False}
# Only where alpha reaches a bound are there all regimes; else they are C of several sizes.
_SIZES = ("mixed", "all bounded", "none bounded")


def criterion_checks(criterion: Criterion, skip: Collection[str] = ()) -> list[Check]:
    """List every check that applies to a criterion.

    Parameters
    ----------
    criterion : Criterion
        The criterion, with its options.
    skip : collection of str, optional
        Kinds of checks to leave out, by how their names begin: "declarations", "options",
        "refusal", "value", "gradient", "no gradient", "continuity", "permutation", "relabelling",
        "translation", "scaling", "weights", "determinism", "warm start", "ill-conditioned".

    Returns
    -------
    list of (str, callable)
        Names and functions; a function raises AssertionError.

    Examples
    --------
    One test for each check::

        @pytest.mark.parametrize(("name", "check"), criterion_checks(MyCriterion()))
        def test_conformance(name, check):
            check()
    """
    checks = [(name, partial(strictly, body)) for name, body in _all_checks(criterion)]
    return [check for check in checks if not check[0].startswith(tuple(skip))]


def check_criterion(criterion: Criterion, skip: Collection[str] = ()) -> None:
    """Run every check of a criterion.

    Parameters
    ----------
    criterion : Criterion
        The criterion, with its options.
    skip : collection of str, optional
        Kinds of checks to leave out, as in ``criterion_checks``.

    Raises
    ------
    AssertionError
        If any check fails; it lists those that failed, and why.
    """
    run(criterion, criterion_checks(criterion, skip))


def _all_checks(criterion: Criterion) -> Iterator[Check]:
    yield "declarations", partial(_check_declarations, criterion)
    yield "options", partial(_check_options, criterion)
    for loss in losses.available():
        for offset, intercept in _OFFSETS.items():
            # options may narrow what the class serves
            reason = criterion.refusal(KERNELS["isotropic"], loss, intercept)
            if (loss, offset) in criterion.serves and reason is None:
                yield from _checks_of_a_pair(criterion, loss, offset)
            else:
                label = f"refusal: {_pair(loss, offset)}"
                yield label, partial(_check_refusal, criterion, loss, intercept)


def _checks_of_a_pair(criterion: Criterion, loss: str, offset: str) -> Iterator[Check]:
    """All that is computed, for one loss and one kind of offset."""
    intercept, rule = _OFFSETS[offset], get_loss(loss)
    kernel = KERNELS["amplitude" if intercept else "composed"]
    pair = _pair(loss, offset)

    def at(regime: str, kernel: Kernel = kernel) -> Case:
        return make_case(regime, loss, intercept, kernel)

    telling = tuple(REGIMES) if rule.reaches_bound else _SIZES
    regimes = [r for r in telling if criterion.counts_weights or at(r).weights is None]
    for regime in regimes:
        label = f"value: {pair}, {regime}"
        yield label, partial(_check_value, criterion, at(regime), regime == "mixed")
    if criterion.differentiable_for(loss):
        for name, other in KERNELS.items():
            if criterion.refusal(other, loss, intercept) is None:
                label = f"gradient: {pair}, mixed, {name} kernel"
                yield label, partial(_check_gradient, criterion, at("mixed", other))
        for regime in regimes[1:]:
            yield f"gradient: {pair}, {regime}", partial(_check_gradient, criterion, at(regime))
        if criterion.counts_weights:
            heavy = weighted(at("mixed"))
            yield f"gradient: {pair}, weighted", partial(_check_gradient, criterion, heavy)
        for regime in ("mixed", "none free") if not rule.smooth else ():
            label = f"continuity: {pair}, {regime}"
            yield label, partial(_check_continuity, criterion, at(regime))
    else:
        yield f"no gradient: {pair}", partial(_check_no_gradient, criterion, at("mixed"))
    places = {regime: at(regime) for regime in ("mixed", "none free")}
    if not rule.curved:
        places["twins"] = twinned(at("mixed"))
    for place, here in places.items():
        for name, there in _transformed(here).items():
            yield f"{name}: {pair}, {place}", partial(_check_same, criterion, here, there, name)
        if criterion.scaling is not None:
            yield f"scaling: {pair}, {place}", partial(_check_scaling, criterion, here)
    yield f"weights: {pair}", partial(_check_weights, criterion, weighted(at("mixed")))
    yield f"determinism: {pair}", partial(_check_determinism, criterion, at("mixed"))
    yield f"warm start: {pair}", partial(_check_warm_start, criterion, at("mixed"))
    for name, hard in _ill_conditioned(at("mixed")).items():
        if criterion.refusal(hard.kernel, loss, intercept) is None:
            label = f"ill-conditioned: {pair}, {name}"
            yield label, partial(_check_ill_conditioned, criterion, hard)


def _pair(loss: str, offset: str) -> str:
    return f"{loss}, {offset} offset"


def _check_declarations(criterion: Criterion) -> None:
    """It says what it is, and it is a value: frozen, hashable, picklable, and repr evaluates."""
    cls = type(criterion)
    for text in ("name", "formula", "cost", "reference"):
        value = getattr(cls, text, None)
        require(
            isinstance(value, str) and value.strip() != "",
            f"{cls.__name__}.{text} must be a non-empty string, it is {value!r}",
        )
    require(bool(cls.__doc__), f"{cls.__name__} needs a docstring")
    require(
        isinstance(cls.greater_is_better, bool), f"{cls.__name__}.greater_is_better must be a bool"
    )
    require(cls.units in _UNITS, f"{cls.__name__}.units is not one of {', '.join(_UNITS)}")
    require(len(criterion.serves) > 0, f"{cls.__name__}.serves is empty")
    for loss, offset in criterion.serves:
        require(
            loss in losses.available() and offset in _OFFSETS,
            f"{cls.__name__}.serves has {(loss, offset)!r}; losses are "
            f"{', '.join(losses.available())}, "
            f"offsets {', '.join(_OFFSETS)}",
        )
    try:
        criterion.name = "changed"  # type: ignore[misc]
    except FrozenInstanceError:
        pass
    else:
        raise AssertionError(f"{cls.__name__} must be a frozen dataclass")
    again = pickle.loads(pickle.dumps(criterion))
    require(again == criterion and hash(again) == hash(criterion), "pickling changes it")
    names = {c.__name__: c for c in (cls, *available().values())}
    require(eval(repr(criterion), names) == criterion, f"repr does not evaluate: {criterion!r}")


def _check_options(criterion: Criterion) -> None:
    """An option of the right type and a senseless value is refused when the criterion is made."""
    for option in fields(criterion):
        value = getattr(criterion, option.name)
        bad: Any
        if option.name == "random_state" or value is None or isinstance(value, bool):
            continue
        if isinstance(value, str):
            bad = "no such choice"
        elif isinstance(value, int):
            bad = -1
        elif isinstance(value, float):
            bad = float("nan")
        else:
            continue
        try:
            made = replace(criterion, **{option.name: bad})
        except ValueError as error:
            require(
                option.name in str(error),
                f"the error for {option.name}={bad!r} does not name the option: {error}",
            )
        else:
            raise AssertionError(f"{made!r} was accepted; refuse {option.name}={bad!r}")


def _check_refusal(criterion: Criterion, loss: str, fit_intercept: bool) -> None:
    """What it does not serve is refused before any work, and the error says what would serve."""
    data = Dataset.of([[0.0], [1.0], [2.0]], [-1, 1, 1])
    kernel = Untouchable()
    try:
        Objective(data, kernel, criterion, loss, fit_intercept)
    except ValueError as error:
        message = str(error)
    else:
        raise AssertionError(f"loss={loss!r}, fit_intercept={fit_intercept} was not refused")
    for word in (criterion.name, loss, f"fit_intercept={fit_intercept}"):
        require(word in message, f"the refusal does not mention {word!r}: {message}")
    serving = [
        name
        for name, cls in available().items()
        if cls().refusal(kernel, loss, fit_intercept) is None
    ]
    missing = [name for name in serving if name not in message]
    require(not missing, f"the refusal does not name {', '.join(missing)}: {message}")


def _check_value(criterion: Criterion, p: Case, always: bool) -> None:
    """The value is a finite float and the score complete.

    Outside the mixed regime it may be infinite, if the status explains that there is none.
    """
    score = p.score(criterion)
    require(type(score.value) is float, f"the value is a {type(score.value).__name__}")
    if always or not _infinite(score):
        require(np.isfinite(score.value), f"the value is {score.value}, status {score.status}")
        require(score.status.ok, f"the status is {score.status}")
    require(score.gradient is None, "a gradient came back though none was asked for")
    names = ("log C", *p.kernel.names)
    require(score.names == names, f"names are {score.names}, expected {names}")
    require(
        score.greater_is_better is criterion.greater_is_better,
        "the score's greater_is_better is not the criterion's",
    )
    if score.stderr is not None:
        require(bool(np.isfinite(score.stderr)) and score.stderr >= 0, f"stderr is {score.stderr}")


def _check_gradient(criterion: Criterion, p: Case) -> None:
    """The gradient agrees with central differences to 1e-6 where no active set changes."""
    value, with_gradient = p.score(criterion), p.score(criterion, gradient=True)
    _close(value, with_gradient, _SAME, "the value changes when a gradient is asked for")
    gradient = with_gradient.gradient
    if _infinite(value):
        return
    if gradient is None:
        raise AssertionError("it is differentiable, but a gradient was asked for and none came")
    require(
        gradient.shape == (len(value.names),),
        f"the gradient has shape {gradient.shape} for {len(value.names)} names",
    )
    objective = p.objective(criterion)
    if "gradient_stderr" in with_gradient.details:
        _check_sampled_gradient(objective, p, with_gradient)
        return
    for nudge in (0.0, 0.003, -0.003, 0.009):  # away from a change of active sets
        point = np.concatenate([[np.log(p.C) + nudge], p.kernel.theta])
        result = compare(objective, point)
        if not result.crossed:
            break
    else:
        raise AssertionError(
            "the active sets change within every step of the central differences: "
            "nothing to compare the gradient with"
        )
    require(
        result.error <= _GRADIENT_TOLERANCE,
        f"the gradient {result.gradient} by {value.names} differs from central differences "
        f"{result.differences} by {result.error:.1e} relative (step {result.step:.0e})",
    )


def _check_sampled_gradient(objective: Objective, p: Case, score: Score) -> None:
    """A gradient with standard errors agrees with wide differences, to six of both together.

    At one of two steps: the wide one sees less noise, the other fewer kinks on its way.
    """
    gradient, stderr = score.gradient, score.stderr
    if gradient is None or stderr is None:
        raise AssertionError("a sampled gradient needs a value with a standard error")
    point = np.concatenate([[np.log(p.C)], p.kernel.theta])
    for step in (0.3, 0.1):
        differences = central(objective, point, step)
        error = np.hypot(score.details["gradient_stderr"], NOISE * stderr / step)
        allowed = 6.0 * error + 0.01 * float(np.abs(differences).max())
        if (np.abs(gradient - differences) <= allowed).all():
            return
    raise AssertionError(
        f"the gradient {gradient} by {score.names} differs from central differences "
        f"{differences} by more than {allowed}"
    )


def _check_continuity(criterion: Criterion, p: Case) -> None:
    """Where an active set changes the value does not jump, unless it says that it may."""
    found = jump(p.objective(criterion), np.log(p.C), p.kernel.theta)
    if found is None or not criterion.continuous:
        return
    before, after, log_C = found
    what = f"the value jumps where an active set changes, at C = {np.exp(log_C):.6g}"
    _close(before, after, 1e-6, what)


def _check_no_gradient(criterion: Criterion, p: Case) -> None:
    """Where it has none it returns none, and ``details`` say why."""
    score = p.score(criterion, gradient=True)
    require(score.gradient is None, "it is not differentiable, but a gradient came back")
    reason = score.details.get("gradient")
    require(
        isinstance(reason, str) and reason != "",
        'details["gradient"] must say in a sentence why there is no gradient; '
        f"details has {', '.join(map(repr, score.details)) or 'nothing'}",
    )


def _transformed(p: Case) -> dict[str, Case]:
    """The same case in other words."""
    order = np.random.default_rng(3).permutation(len(p.y))
    return {
        "permutation": p.rows(order),
        "relabelling": replace(p, y=-p.y),
        "translation": replace(p, X=p.X + np.array([3.0, -2.0])),
    }


def _check_same(criterion: Criterion, p: Case, other: Case, what: str) -> None:
    _close(p.score(criterion), other.score(criterion), _SAME, f"the value changes by {what}")


def _check_scaling(criterion: Criterion, p: Case) -> None:
    """Value(t C, K / t) = t^p value(C, K), with the power that it declares."""
    t = 3.7
    factor = t ** (criterion.scaling or 0.0)
    here = p.score(criterion)
    expected = replace(here, value=factor * here.value)
    what = f"value(t C, K / t) is not t^{criterion.scaling} value(C, K) at t = {t}"
    _close(expected, p.scaled(t).score(criterion), _SAME, what)


def _check_weights(criterion: Criterion, p: Case) -> None:
    """Weight k is k copies of the row and weight 0 its absence; or weights are refused."""
    if criterion.counts_weights:
        if criterion.splits_alpha and not get_loss(p.loss).curved and p.weights is not None:
            p = replace(p, weights=np.minimum(p.weights, 1.0))  # absence alone
        here, there = p.score(criterion), p.copied().score(criterion)
        _close(here, there, _SAME, "weight k is not k copies of the row")
        return
    try:
        p.score(criterion)
    except ValueError as error:
        require("weight" in str(error), f"the error does not mention the weights: {error}")
    else:
        raise AssertionError("it does not count weights, so it must refuse them; it did not")


def _check_determinism(criterion: Criterion, p: Case) -> None:
    """Twice the same, to the last bit."""
    wanted = criterion.differentiable_for(p.loss)
    one, two = p.score(criterion, wanted), p.score(criterion, wanted)
    same = one.value == two.value and np.array_equal(
        np.array(one.gradient, dtype=float), np.array(two.gradient, dtype=float), equal_nan=True
    )
    require(same, f"two evaluations differ: {one.value!r} and {two.value!r}")


def _check_warm_start(criterion: Criterion, p: Case) -> None:
    """Machines of a neighbouring point speed it up and do not change the answer."""
    objective = p.objective(criterion)
    _, trained = objective.score(1.4 * p.C, p.kernel.at(p.kernel.theta + 0.2))
    warm, _ = objective.score(p.C, p.kernel, start=trained)
    _close(p.score(criterion), warm, _SAME, "the value depends on where the machine started")


def _ill_conditioned(p: Case) -> dict[str, Case]:
    """Gram matrices that are singular to working precision, and other extremes."""
    twice = p.rows(np.repeat(np.arange(len(p.y)), 2))
    flipped = twice.y.copy()
    flipped[np.flatnonzero(twice.y > 0)[0]] = -1.0  # one point has both labels
    offset = 0.0 if p.fit_intercept else 0.3
    smooth = RBF(1e4) + offset if offset else RBF(1e4)
    return {
        "long length scale": replace(p, kernel=smooth, C=1e4),
        "short length scale": replace(p, kernel=RBF(1e-4)),
        "repeated rows": replace(twice, y=flipped, C=10.0),
        "polynomial of degree 5": replace(p, kernel=Polynomial(5, 10.0), C=100.0),
        "tiny amplitude": replace(p, kernel=Constant(1e-12) * RBF(1.0)),
        "huge amplitude": replace(p, kernel=Constant(1e12) * RBF(1.0)),
    }


def _check_ill_conditioned(criterion: Criterion, p: Case) -> None:
    """The value is finite, or the status is not ok and advises; the gradient likewise."""
    score = p.score(criterion, gradient=criterion.differentiable_for(p.loss))
    if not score.status.ok:
        require(bool(score.status.advice), f"the status {score.status.name!r} has no advice")
        return
    require(np.isfinite(score.value), f"the value is {score.value} and the status is ok")
    if score.gradient is not None:
        require(
            bool(np.isfinite(score.gradient).all()),
            f"the gradient is {score.gradient} and the status is ok",
        )


def _infinite(score: Score) -> bool:
    """Whether there is no value, and the status says so with advice."""
    told = not score.status.ok and bool(score.status.advice)
    return bool(np.isinf(score.value)) and told


def _close(one: Score, two: Score, tolerance: float, what: str) -> None:
    """Two scores are the same number; where they are sampled, to six standard errors."""
    if one.value == two.value:  # infinities too
        return
    unit = tolerance * max(abs(one.value), abs(two.value), 1e-3)
    if one.stderr is not None or two.stderr is not None:
        unit += 6.0 * float(np.hypot(one.stderr or 0.0, two.stderr or 0.0))
    require(
        bool(abs(one.value - two.value) <= unit),  # false for NaN
        f"{what}: {one.value!r} and {two.value!r} differ by {abs(one.value - two.value):.1e}",
    )
