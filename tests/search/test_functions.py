"""Each search finds known minima: smooth, kinked, noisy, flat, discontinuous; and how soon."""

from __future__ import annotations

import numpy as np
import pytest

from svmselect.search import get_search
from svmselect.testing.searches import FUNCTIONS, walk

# search, function, how far above the minimum it may end, within how many evaluations
TABLE = [
    ("irprop", "smooth", 1e-5, 60),
    ("irprop", "valley", 1e-3, 201),
    ("irprop", "kinked", 2e-3, 60),
    ("irprop", "ridged", 5e-3, 60),
    ("irprop", "noisy", 5e-3, 100),
    ("irprop", "discontinuous", 1e-3, 60),
    ("gauss-newton", "smooth", 1e-8, 15),
    ("gauss-newton", "valley", 1e-6, 40),
    ("levenberg-marquardt", "smooth", 1e-10, 15),
    ("levenberg-marquardt", "valley", 1e-8, 40),
    ("elitist-cma-es", "smooth", 0.1, 201),
    ("elitist-cma-es", "discontinuous", 0.3, 201),
    ("lbfgs", "smooth", 1e-8, 50),
    ("lbfgs", "valley", 1e-8, 70),
    ("lbfgs", "kinked", 1e-6, 200),
    ("lbfgs", "ridged", 1e-6, 200),
    ("lbfgs", "noisy", 5e-3, 200),
    ("gradient-ascent", "smooth", 3e-3, 60),
    ("gradient-ascent", "valley", 3e-2, 200),
    ("gradient-ascent", "kinked", 1e-2, 201),
    ("gradient-ascent", "ridged", 1e-2, 201),
    ("gradient-ascent", "noisy", 5e-3, 100),
    ("random-walk", "smooth", 1e-4, 1000),
    ("random-walk", "kinked", 3e-3, 1000),
    ("random-walk", "ridged", 3e-2, 1000),
    ("random-walk", "noisy", 5e-3, 1000),
    ("random-walk", "discontinuous", 0.14, 1000),
    ("cma-es", "smooth", 1e-5, 1400),
    ("cma-es", "valley", 1e-4, 1400),
    ("cma-es", "kinked", 1e-4, 1400),
    ("cma-es", "ridged", 1e-4, 1400),
    ("cma-es", "noisy", 3e-3, 1400),
    ("cma-es", "discontinuous", 1e-4, 1400),
]  # fmt: skip


@pytest.mark.parametrize(("search", "function", "gap", "evaluations"), TABLE)
def test_minimum_is_found(search: str, function: str, gap: float, evaluations: int) -> None:
    done = walk(get_search(search), FUNCTIONS[function], seed=1)
    assert done.losses.min() <= FUNCTIONS[function].lowest + gap
    assert len(done.points) <= evaluations


@pytest.mark.parametrize(
    "search",
    [
        "cma-es", "elitist-cma-es", "gauss-newton", "gradient-ascent", "irprop", "lbfgs",
        "levenberg-marquardt", "random-walk",
    ],
)  # fmt: skip
def test_nothing_to_gain_ends_soon(search: str) -> None:
    done = walk(get_search(search), FUNCTIONS["flat"])
    assert done.status.name == "converged"
    assert len(done.points) <= 150


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_grid_is_the_best_of_its_points(function: str) -> None:
    problem = FUNCTIONS[function]
    reach = (2.0, 1.0)
    done = walk(get_search("grid", size=5, reach=reach), problem)
    axes = [s + np.linspace(-reach[i > 0], reach[i > 0], 5) for i, s in enumerate(problem.start)]
    mesh = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    assert len(done.points) == len(mesh)
    order = [np.lexsort(np.round(points, 9).T) for points in (done.points, mesh)]
    np.testing.assert_allclose(done.points[order[0]], mesh[order[1]], atol=1e-12)
    best = min(problem.evaluate(x)[0] for x in done.points)
    assert done.losses.min() == best


def test_refining_a_grid_closes_in() -> None:
    gaps = [
        walk(get_search("grid", size=5, refine=r), FUNCTIONS["smooth"]).losses.min()
        for r in (0, 1, 3)
    ]
    assert gaps[1] < 0.5 * gaps[0]
    assert gaps[2] < 0.1 * gaps[1]


def test_coordinate_ends_where_no_curve_descends() -> None:
    problem = FUNCTIONS["ridged"]
    done = walk(get_search("coordinate", size=9), problem)
    best = done.points[done.losses.argmin()]
    start = np.array(problem.start)
    for i in range(2):
        reach = 7.0 if i == 0 else 3.0
        low, high = max(start[i] - reach, -5.0), min(start[i] + reach, 5.0)
        for value in np.linspace(low, high, 9):
            x = best.copy()
            x[i] = value
            assert problem.evaluate(x)[0] >= done.losses.min()


def test_irprop_backs_out_of_a_failed_step() -> None:
    """iRprop+ takes back only the coordinates that turned while the loss rose (Igel & Hüsken)."""
    search, problem = get_search("irprop", step=0.4), FUNCTIONS["kinked"]
    state = search.start(np.array([1.3, 1.0, 2.0]), problem.space, 0)
    state = search.tell(state, [problem.answer(p) for p in search.ask(state)])
    np.testing.assert_allclose(search.ask(state)[0], [0.9, 0.6, 1.6])
    state = search.tell(state, [problem.answer(p) for p in search.ask(state)])
    # the first coordinate turned, but the loss fell: it rests; the others grow by 1.2
    np.testing.assert_allclose(search.ask(state)[0], [0.9, 0.12, 1.12])


def test_elite_takes_part() -> None:
    """A generation that does not beat the elite is told it in place of its worst."""
    search = get_search("cma-es", step=1.0, population=6)
    problem = FUNCTIONS["smooth"]
    state = search.start(np.array([1.0, -0.5, 0.3]), problem.space, 0)
    for _ in range(40):
        state = search.tell(state, [problem.answer(p) for p in search.ask(state)])
        assert problem.evaluate(state.point)[0] == state.loss
    assert state.loss < 1e-3


def test_random_walk_accepts_about_half() -> None:
    search = get_search("random-walk", step=1e-3, shortest=0.0, gain=0.0)
    problem = FUNCTIONS["smooth"]
    done = walk(search, problem, limit=300)
    best, accepted = np.inf, []
    for loss in done.losses:
        accepted.append(loss < best)
        best = min(best, loss)
    assert 0.35 < np.mean(accepted) < 0.65


@pytest.mark.parametrize("sweeps", [1, 3, 12])
def test_a_random_walk_stops_after_so_many_sweeps(sweeps: int) -> None:
    """Also where they are fewer than those whose gains are watched."""
    done = walk(get_search("random-walk", sweeps=sweeps), FUNCTIONS["valley"], seed=1)
    start, coordinates = 1, done.points.shape[1]
    assert len(done.points) == start + sweeps * coordinates
