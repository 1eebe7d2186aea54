"""What every search must do, ours or a stranger's."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from svmselect.search import Search, Space
from svmselect.testing.checks import Check, require, run, strictly
from svmselect.types import Array, Evaluation, Status

_ENOUGH = 5_000  # evaluations after which a search that goes on never ends

Slope = Callable[[Array], tuple[float, Array]]


@dataclass(frozen=True)
class TestFunction:
    """A function with a known minimum, a start, and a box of that size around the origin."""

    __test__ = False  # not a class of tests, whatever its name

    name: str
    evaluate: Slope
    start: tuple[float, ...]
    lowest: float
    size: float = 5.0
    span: float = 1e-4  # wider where there are kinks or noise

    @property
    def space(self) -> Space:
        """The box to search."""
        p = len(self.start)
        names = tuple(f"x{i}" for i in range(p))
        return Space(names, np.full(p, -self.size), np.full(p, self.size))

    def answer(self, point: Array) -> Evaluation:
        """The reply to a search; with what ``fixed-point`` asks for."""
        value, slope = self.evaluate(point)
        # a contraction towards 1 in the first coordinate, for searches that re-estimate it
        details = {"effective_parameters": 1.0, "next_C": float(np.exp(0.5 * point[0] + 0.5))}
        H = self._bend(point)
        return Evaluation(point, value, slope, details=details | {"n": 1.0}, hessian=H)

    def _bend(self, x: Array) -> Array:
        """Curvature as seen over ``span``; never indefinite."""
        h = self.span * np.eye(len(x))
        H = np.array([self.evaluate(x + e)[1] - self.evaluate(x - e)[1] for e in h])
        H /= 2.0 * self.span
        values, V = np.linalg.eigh(0.5 * (H + H.T))
        return np.asarray((V * np.maximum(values, 0.0)) @ V.T)


def _quadratic(x: Array) -> tuple[float, Array]:
    H = np.array([[0.3, 0.1, 0.0], [0.1, 0.2, 0.05], [0.0, 0.05, 0.05]])
    d = x - np.array([1.0, -0.5, 0.3])
    return 0.5 * float(d @ H @ d), H @ d


def _valley(x: Array) -> tuple[float, Array]:
    """Rosenbrock's banana, less steep."""
    gap = x[1] - x[0] ** 2
    value = 0.1 * (1 - x[0]) ** 2 + gap**2
    return float(value), np.array([-0.2 * (1 - x[0]) - 4 * x[0] * gap, 2 * gap])


def _corner(x: Array) -> tuple[float, Array]:
    """A sum of absolute values: kinks along the coordinates."""
    d, w = x - np.array([1.0, -0.5, 0.3]), np.array([1.0, 0.3, 0.1])
    return float(w @ np.abs(d)), w * np.sign(d)


def _ridge(x: Array) -> tuple[float, Array]:
    """The largest of three planes: kinks that are not along the coordinates."""
    planes = np.array([[1.0, 2.0], [-1.0, 1.0], [0.0, -3.0]])
    d = x - np.array([0.7, -0.4])
    top = int((planes @ d).argmax())
    return float(planes[top] @ d + 0.05 * d @ d), planes[top] + 0.1 * d


def _noisy(x: Array) -> tuple[float, Array]:
    """The quadratic with reproducible noise of about 1 % on value and gradient."""
    value, slope = _quadratic(x)
    noise = np.sin(1e4 * (x @ np.arange(1.0, 4.0)) + np.arange(4.0))
    return value + 2e-3 * float(noise[0]), slope + 2e-3 * noise[1:]


def _flat(x: Array) -> tuple[float, Array]:
    return 1.0, np.zeros_like(x)


def _stairs(x: Array) -> tuple[float, Array]:
    """Steps, as an error rate has, on a gentle slope whose gradient is all that can be seen."""
    d = x - np.array([1.0, -0.5])
    value = np.floor(8 * np.abs(d)).sum() / 8 + 0.05 * np.abs(d).sum()
    return float(value), 0.05 * np.sign(d)


FUNCTIONS = {
    function.name: function
    for function in (
        TestFunction("smooth", _quadratic, (-1.2, 1.0, 2.0), 0.0),
        TestFunction("valley", _valley, (-0.5, 1.0), 0.0),
        TestFunction("kinked", _corner, (-1.2, 1.0, 2.0), 0.0, span=0.1),
        TestFunction("ridged", _ridge, (-1.2, 1.0), 0.0, span=0.1),
        TestFunction("noisy", _noisy, (-1.2, 1.0, 2.0), -2e-3, span=0.5),
        TestFunction("flat", _flat, (-1.2, 1.0), 1.0),
        TestFunction("discontinuous", _stairs, (-1.2, 1.0), 0.0),
    )
}


@dataclass(frozen=True)
class Walk:
    """What a search did: points, losses, why it ended, and its last State."""

    points: Array
    losses: Array
    status: Status
    state: Any


def walk(
    search: Search[Any],
    function: TestFunction,
    seed: int = 0,
    state: Any = None,
    limit: int = _ENOUGH,
) -> Walk:
    """Run a search to its end, or to ``limit`` evaluations, from its start or from a State."""
    space = function.space
    if state is None:
        state = search.start(np.array(function.start), space, seed)
    points: list[Array] = []
    losses: list[float] = []
    while (status := search.stop(state)) is None:
        if len(points) >= limit:
            status = Status("limit")
            break
        answers = [function.answer(point) for point in search.ask(state)]
        points += [a.point for a in answers]
        losses += [a.value for a in answers]
        state = search.tell(state, answers)
    return Walk(np.array(points), np.array(losses), status, state)


def search_checks(search: Search[Any]) -> list[Check]:
    """List every check of a search.

    Parameters
    ----------
    search : Search
        The search, with its options.

    Returns
    -------
    list of (str, callable)
        Names and functions; a function raises AssertionError.
    """
    return [(name, partial(strictly, body)) for name, body in _all_checks(search)]


def check_search(search: Search[Any]) -> None:
    """Run every check of a search.

    Parameters
    ----------
    search : Search
        The search, with its options.

    Raises
    ------
    AssertionError
        If any check fails; it lists those that failed, and why.
    """
    run(search, search_checks(search))


def _all_checks(search: Search[Any]) -> Iterator[Check]:
    yield "declarations", partial(_check_declarations, search)
    for function in FUNCTIONS.values():
        yield f"ends: {function.name}", partial(_check_ends, search, function)
        yield f"pure: {function.name}", partial(_check_pure, search, function)
    yield "seed", partial(_check_seed, search)
    yield "resumes", partial(_check_resumes, search)
    yield "bad start", partial(_check_bad_start, search)
    yield "bad region", partial(_check_bad_region, search)
    yield "edge", partial(_check_edge, search)
    yield "one coordinate", partial(_check_one_coordinate, search)
    yield "no room", partial(_check_no_room, search)


def _check_declarations(search: Search[Any]) -> None:
    require(isinstance(search.name, str) and search.name == search.name.lower(), "name it")
    require(isinstance(search.gradients, bool), "`gradients` says whether it needs them")
    require(bool(search.reference), "give a reference")
    require(bool(type(search).__doc__), "give a docstring")
    require(search.chain >= 1, "`chain` is at least 1")
    require(search == type(search)(**{f.name: getattr(search, f.name) for f in fields(search)}),
            "a search is its options")  # fmt: skip
    try:
        search.name = "other"  # type: ignore[misc]
    except (FrozenInstanceError, AttributeError):
        return
    raise AssertionError("a search must not change")


def _check_ends(search: Search[Any], function: TestFunction) -> None:
    done = walk(search, function)
    require(done.status.name != "limit", f"goes on after {_ENOUGH} evaluations")
    require(bool(done.status.advice), "a status has a sentence")
    space = function.space
    inside = (done.points >= space.lower).all() and (done.points <= space.upper).all()
    require(bool(inside), "asked for a point outside the box")
    require(bool(done.losses.min() <= done.losses[0]), "ended worse than it began")
    choice = search.choice(done.state)
    known = choice is None or any(np.array_equal(choice, point) for point in done.points)
    require(known, "stands by a point that was never evaluated")
    low, high = search.edges(done.state)
    require(
        bool((low >= space.lower).all() and (high <= space.upper).all()), "edges beyond the box"
    )


def _check_pure(search: Search[Any], function: TestFunction) -> None:
    state = search.start(np.array(function.start), function.space, 0)
    for _ in range(5):
        if search.stop(state) is not None:
            return
        asked = search.ask(state)
        frozen = [point.copy() for point in asked]
        answers = [function.answer(point) for point in asked]
        following = [search.tell(state, answers) for _ in range(2)]
        require(_same(search.ask(following[0]), search.ask(following[1])), "tell is not pure")
        require(_same(search.ask(state), frozen), "a State changed after it was made")
        state = following[0]


def _check_seed(search: Search[Any]) -> None:
    runs = [walk(search, FUNCTIONS["kinked"], seed, limit=60) for seed in (3, 3)]
    require(_same(runs[0].points, runs[1].points), "the same seed asks for other points")


def _check_resumes(search: Search[Any]) -> None:
    function = FUNCTIONS["kinked"]
    whole = walk(search, function, seed=5, limit=200)
    part = walk(search, function, seed=5, limit=23)
    state = pickle.loads(pickle.dumps(part.state))
    rest = walk(search, function, state=state, limit=200 - len(part.points))
    both = np.concatenate([part.points, rest.points]) if len(rest.points) else part.points
    require(_same(both, whole.points[: len(both)]), "a stored State goes on differently")
    require(len(both) == len(whole.points), "a stored State ends elsewhere")


def _check_bad_start(search: Search[Any]) -> None:
    for value in (np.inf, np.nan):

        def nowhere(x: Array, value: float = value) -> tuple[float, Array]:
            return value, np.full_like(x, np.nan)

        done = walk(search, TestFunction("nowhere", nowhere, (0.5, 0.5), 0.0))
        require(done.status.name != "limit", f"goes on for ever where all is {value}")


def _check_bad_region(search: Search[Any]) -> None:
    """No value to the right of the start: the search must find its way back."""

    def walled(x: Array) -> tuple[float, Array]:
        if x[0] > 0.6:
            return np.nan, np.full_like(x, np.nan)
        d = x - np.array([2.0, 0.0])
        return float(d @ d), 2 * d

    function = TestFunction("walled", walled, (0.5, 1.0), 1.96)
    done = walk(search, function)
    require(done.status.name != "limit", "goes on for ever at a wall of NaN")
    require(bool(np.isfinite(done.losses).any()), "never came back from a wall of NaN")


def _check_edge(search: Search[Any]) -> None:
    """The minimum lies outside: the search ends on the edge and nowhere else."""

    def outside(x: Array) -> tuple[float, Array]:
        d = x - np.array([9.0, 0.0])
        return float(d @ d), 2 * d

    function = TestFunction("outside", outside, (4.6, 0.5), 16.0)
    done = walk(search, function)
    require(done.status.name != "limit", "goes on for ever at the edge")
    require(bool((np.abs(done.points) <= 5.0).all()), "left the box")


def _check_one_coordinate(search: Search[Any]) -> None:
    function = TestFunction("line", lambda x: (float((x[0] - 1) ** 2), 2 * (x - 1)), (-0.5,), 0.0)
    done = walk(search, function)
    require(done.status.name != "limit", "goes on for ever in one dimension")
    require(float(done.losses.min()) < 0.5, "finds nothing in one dimension")


def _check_no_room(search: Search[Any]) -> None:
    """A coordinate whose bounds coincide is held, not divided by."""

    function = TestFunction("held", _ridge, (0.5, 0.5), 0.0)
    space = Space(("x0", "x1"), np.array([-5.0, 0.5]), np.array([5.0, 0.5]))
    state = search.start(np.array([0.5, 0.5]), space, 0)
    count = 0
    while search.stop(state) is None and count < _ENOUGH:
        answers = [function.answer(point) for point in search.ask(state)]
        count += len(answers)
        require(all(a.point[1] == 0.5 for a in answers), "moved a coordinate that is held")
        state = search.tell(state, answers)
    require(count < _ENOUGH, "goes on for ever with a coordinate held")


def _same(one: Any, other: Any) -> bool:
    return len(one) == len(other) and all(
        np.array_equal(a, b) for a, b in zip(one, other, strict=True)
    )
