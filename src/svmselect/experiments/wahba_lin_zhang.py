"""Wahba, Lin & Zhang 1999: does the minimiser of GACV estimate that of GCKL?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from svmselect.criteria.gckl import gckl
from svmselect.experiments.reproduction.outcomes import Outcomes
from svmselect.experiments.reproduction.paper import Exhibit, Paper, Task, seed_of
from svmselect.experiments.reproduction.row import Published, Row
from svmselect.experiments.wahba_lin_zhang_claims import CLAIMS
from svmselect.experiments.wahba_lin_zhang_tried import (
    EXPLANATIONS,
    printed,
    tried_rows,
    tried_tasks,
)
from svmselect.kernels import RBF
from svmselect.machine import Solution, solve
from svmselect.selection import score
from svmselect.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOG_SIGMA = {"circles": -1.0, "sines": -1.25}
"""log10 of the width at which lambda is varied (Figures 3 and 7)."""

LOG_LAMBDA = -2.5
"""log10 of the lambda at which the width is varied (Figures 4 and 8)."""

STEP = 0.25
NEAR = 0.5  # minimisers no further apart than two steps of the grid count as near
SIZE = 200
REACH = {"lambda": (-5.0, 0.0), "sigma": (-2.0, 1.0)}


def probability(example: str, X: Array) -> Array:
    """P(y = +1): 0.05, 0.5 and 0.95 in three regions of the unit square.

    circles: within 0.2 of the centre, up to 0.35, beyond (the inner circle is mostly -1). sines:
    between x_2 = 0.5 + 0.2 sin(2 pi x_1) +- 0.1, above 0.95 and below 0.05. The text has the
    probabilities; the borders are only in figures, and these are ours.
    """
    if example == "circles":
        radius = np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5)
        return np.select([radius < 0.2, radius < 0.35], [0.05, 0.5], 0.95)
    height = X[:, 1] - 0.5 - 0.2 * np.sin(2.0 * np.pi * X[:, 0])
    return np.select([height > 0.1, height > -0.1], [0.95, 0.5], 0.05)


def draw_data(example: str, n: int, seed: int) -> tuple[Array, Array, Array]:
    """Points uniform on the square, their labels, and the probabilities these were drawn with."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    p = probability(example, X)
    return X, np.where(rng.random(n) < p, 1.0, -1.0), p


def run(task: Task, _data_dir: Path | None) -> dict[str, Any]:
    """One draw of an example: both cross-sections, their minimisers, and the error at each."""
    example, what = task.name
    s = task.settings
    X, y, p = draw_data(example, int(s["n"]), task.seed)
    if what != "draw":
        return minimisers(X * s["side"], y, p, s, task.seed)
    values: dict[str, Any] = {}
    sigmas = [s["log_sigma"]]
    lambdas = np.arange(REACH["lambda"][0], REACH["lambda"][1] + STEP / 2, STEP)
    values |= cross_section(X, y, p, "lambda", [(float(v), sigmas[0]) for v in lambdas])
    widths = np.arange(REACH["sigma"][0], REACH["sigma"][1] + STEP / 2, STEP)
    values |= cross_section(X, y, p, "sigma", [(s["log_lambda"], float(v)) for v in widths])
    # over both plots, as the paper takes its minimiser
    ends = [(values["gacv_at_lambda"], sigmas[0]), (s["log_lambda"], values["gacv_at_sigma"])]
    at = ends[int(np.argmin([min(values["gacv_lambda"]), min(values["gacv_sigma"])]))]
    values["log_lambda"], values["log_sigma"] = at
    best = [(values["gckl_at_lambda"], sigmas[0]), (s["log_lambda"], values["gckl_at_sigma"])]
    least = best[int(np.argmin([min(values["gckl_lambda"]), min(values["gckl_sigma"])]))]
    rates = [misclassified(example, X, y, *where) for where in (at, least)]
    values["error"], values["error_at_gckl"] = rates
    values["excess"] = rates[0] - rates[1]
    if task.trial == 0:
        values["curve"] = decision_on_grid(X, y, *at)
        values["X"], values["y"] = X.round(3).tolist(), y.tolist()
    return values


def minimisers(
    X: Array, y: Array, p: Array, settings: Mapping[str, Any], seed: int = 0
) -> dict[str, Any]:
    """Where GACV and GCKL are lowest along both lines."""
    found: dict[str, Any] = {}
    rng, lost = np.random.default_rng(seed), settings.get("lost", 0.0)
    for along, fixed in (("lambda", settings["log_sigma"]), ("sigma", settings["log_lambda"])):
        places = np.arange(REACH[along][0], REACH[along][1] + STEP / 2, STEP)
        estimate, target = [], []
        for place in places:
            pair = (place, fixed) if along == "lambda" else (fixed, place)
            machine, kernel = machine_at(X, y, *pair)
            C = penalty(pair[0], len(y))
            beyond = terms_of_free(machine)[rng.random(len(y)) < lost] if lost else 0.0
            estimate.append(score(X, y, "gacv", C, kernel).value - np.sum(beyond) / len(y))
            target.append(gckl(p, machine.decision))
        found[f"gacv_at_{along}"] = float(places[int(np.argmin(estimate))])
        found[f"gckl_at_{along}"] = float(places[int(np.argmin(target))])
    return found


def terms_of_free(machine: Solution) -> Array:
    """What the free vectors, exactly at their margins, add to the sum in GACV; K_ii is one."""
    free = (machine.alpha > 0.0) & (machine.alpha < machine.C)
    return np.where(free, machine.alpha, 0.0)


def cross_section(
    X: Array, y: Array, p: Array, along: str, points: list[tuple[float, float]]
) -> dict[str, Any]:
    """log10 GACV and log10 GCKL at points of (log10 lambda, log10 sigma) on a line."""
    axis = 0 if along == "lambda" else 1
    estimate, target, rates, left_out = [], [], [], []
    for log_lambda, log_sigma in points:
        kernel, C = RBF(10.0**log_sigma), penalty(log_lambda, len(y))
        estimate.append(float(np.log10(score(X, y, "gacv", C, kernel).value)))
        machine = solve(kernel(X), y, C)
        target.append(float(np.log10(gckl(p, machine.decision))))
        rates.append(gckl(p, machine.decision, "zero-one"))
        left_out.append(float(np.log10(score(X, y, "loo-error", C, kernel, measure="loss").value)))
    places = [point[axis] for point in points]
    one, other = places[int(np.argmin(estimate))], places[int(np.argmin(target))]
    # how much GCKL is lost by taking GACV's minimiser
    loss = target[int(np.argmin(estimate))] - min(target)
    return {
        f"gacv_{along}": estimate,
        f"gckl_{along}": target,
        f"gacv_at_{along}": one,
        f"gckl_at_{along}": other,
        f"apart_{along}": abs(one - other),
        f"near_{along}": float(abs(one - other) <= NEAR + 1e-9),
        f"loss_{along}": loss,
        f"correlation_{along}": float(np.corrcoef(estimate, target)[0, 1]),
        f"v0_{along}": left_out,
        f"rate_{along}": rates,
        f"v0_at_{along}": places[int(np.argmin(left_out))],
        f"rate_at_{along}": places[int(np.argmin(rates))],
        f"v0_apart_{along}": abs(places[int(np.argmin(left_out))] - other),
        f"v0_loss_{along}": target[int(np.argmin(left_out))] - min(target),
        # expected error rates (percent): what choosing by GACV, by V0 and by GCKL costs
        f"rate_lost_{along}": 100.0 * (rates[int(np.argmin(estimate))] - min(rates)),
        f"rate_lost_by_v0_{along}": 100.0 * (rates[int(np.argmin(left_out))] - min(rates)),
        f"rate_lost_by_gckl_{along}": 100.0 * (rates[int(np.argmin(target))] - min(rates)),
    }


def penalty(log_lambda: float, n: int) -> float:
    """C = 1 / (2 n lambda): their objective is the mean loss plus lambda |h|^2."""
    return float(1.0 / (2.0 * n * 10.0**log_lambda))


def machine_at(X: Array, y: Array, log_lambda: float, log_sigma: float) -> tuple[Solution, RBF]:
    """The machine, and its kernel."""
    kernel = RBF(10.0**log_sigma)
    return solve(kernel(X), y, penalty(log_lambda, len(y))), kernel


def decision_on_grid(
    X: Array, y: Array, log_lambda: float, log_sigma: float, size: int = 41
) -> list[list[float]]:
    """Decision values on a grid of the square, for the level curve f = 0."""
    machine, kernel = machine_at(X, y, log_lambda, log_sigma)
    ticks = np.linspace(0.0, 1.0, size)
    points = np.array([(a, b) for b in ticks for a in ticks])
    f = kernel(points, X) @ machine.beta + machine.intercept
    return [[round(float(v), 3) for v in line] for line in f.reshape(size, size)]


def misclassified(example: str, X: Array, y: Array, log_lambda: float, log_sigma: float) -> float:
    """The true error rate of the rule sign f, in percent, by a fine grid of the square."""
    machine, kernel = machine_at(X, y, log_lambda, log_sigma)
    ticks = (np.arange(60) + 0.5) / 60
    points = np.array([(a, b) for a in ticks for b in ticks])
    f = kernel(points, X) @ machine.beta + machine.intercept
    p = probability(example, points)
    return 100.0 * float(np.mean(np.where(f > 0, 1.0 - p, p)))


def tasks_of(example: str) -> Callable[[int, bool], list[Task]]:
    """One task a draw; nothing is slow, so a single trial is not reduced."""

    def tasks(trials: int, _reduced: bool) -> list[Task]:
        return [
            Task((example, "draw"), trial, seed_of("wahba-lin-zhang", example, trial),
                 settings_of(example))
            for trial in range(trials)
        ]  # fmt: skip

    return tasks


def settings_of(example: str) -> dict[str, Any]:
    """What the figures say of an example, and our number of points."""
    return {
        "n": SIZE,
        "log_sigma": LOG_SIGMA[example],
        "log_lambda": LOG_LAMBDA,
        "step": STEP,
    }


def curve_rows(example: str, along: str) -> Callable[[Outcomes], list[Row]]:
    """Rows of Figures 3, 4, 7 and 8: where the minimisers are and how far they are apart."""

    def rows(outcomes: Outcomes) -> list[Row]:
        def values(of: str) -> tuple[float, ...]:
            return outcomes.values(example, "draw", of=f"{of}_{along}")

        missing = outcomes.problem(example, "draw")
        # the printed minimisers are those of one draw, on a grid
        one = Published(printed()[example, along], tolerance=NEAR, trials=1, rounding=STEP / 2)
        place = f"log10 {along}"
        return [
            Row(example, "minimiser of GACV", place, values("gacv_at"), one,
                better="neither", fold="median", missing=missing),
            Row(example, "minimiser of GCKL", place, values("gckl_at"),
                better="neither", fold="median", missing=missing),
            Row(example, "distance of the two", place, values("apart"), missing=missing),
            Row(example, "draws with both within two steps", "share", values("near"),
                better="higher", missing=missing),
            Row(example, "log10 GCKL lost by GACV's choice", "log10", values("loss"),
                missing=missing),
            Row(example, "correlation of the two curves", "coefficient", values("correlation"),
                better="higher", missing=missing),
            Row(example, "minimiser of V0, the left-out loss", place, values("v0_at"),
                better="neither", fold="median", missing=missing),
            Row(example, "distance of V0's and GCKL's", place, values("v0_apart"),
                missing=missing),
            Row(example, "log10 GCKL lost by V0's choice", "log10", values("v0_loss"),
                missing=missing),
            Row(example, "minimiser of the 0-1 GCKL", place, values("rate_at"),
                better="neither", fold="median", missing=missing),
            *(
                Row(example, f"error rate lost by {name}'s choice", "points", values(of),
                    missing=missing)
                for name, of in (("GACV", "rate_lost"), ("V0", "rate_lost_by_v0"),
                                 ("GCKL", "rate_lost_by_gckl"))
            ),
        ]  # fmt: skip

    return rows


def level_rows(example: str) -> Callable[[Outcomes], list[Row]]:
    """Rows of Figures 5 and 9: the rule f = 0 at GACV's minimiser."""

    def rows(outcomes: Outcomes) -> list[Row]:
        missing = outcomes.problem(example, "draw")
        bayes = bayes_error(example)
        error = outcomes.values(example, "draw", of="error")
        return [
            Row(example, "true error at GACV's minimiser", "percent", error, missing=missing,
                note=f"the best rule has {bayes:.1f} %"),
            Row(example, "the same less that at GCKL's minimiser", "points",
                outcomes.values(example, "draw", of="excess"), missing=missing),
        ]  # fmt: skip

    return rows


def bayes_error(example: str) -> float:
    """Of the best rule, in percent."""
    ticks = (np.arange(400) + 0.5) / 400
    p = probability(example, np.array([(a, b) for a in ticks for b in ticks]))
    return 100.0 * float(np.mean(np.minimum(p, 1.0 - p)))


def draw_curves(example: str, along: str) -> Callable[[Outcomes, Figure], None]:
    """GACV and GCKL of the first draw, and the mean over all."""

    def on(outcomes: Outcomes, figure: Figure) -> None:
        low, high = REACH[along]
        places = np.arange(low, high + STEP / 2, STEP)
        panels: tuple[Axes, Axes] = figure.subplots(1, 2, sharey=True)
        for name, style in (("gacv", "o-"), ("gckl", "s--")):
            curves = outcomes.curve(example, "draw", of=f"{name}_{along}")
            panels[0].plot(places, curves[0], style, label=f"log10 {name.upper()}")
            panels[1].plot(places, curves.mean(axis=0), style)
        panels[0].set_title("one draw")
        panels[1].set_title("mean over draws")
        panels[0].legend()
        for panel in panels:
            panel.set_xlabel(f"log10 {along}")

    return on


def draw_level(example: str) -> Callable[[Outcomes, Figure], None]:
    """The first draw, the borders of the regions, and f = 0."""

    def on(outcomes: Outcomes, figure: Figure) -> None:
        values = outcomes.cell(example, "draw")[0].values
        panel = figure.subplots()
        X, y = np.array(values["X"]), np.array(values["y"])
        for label, mark in ((1, "+"), (-1, "o")):
            panel.plot(*X[y == label].T, mark, color="0.5", fillstyle="none")
        ticks = np.linspace(0.0, 1.0, 201)
        p = probability(example, np.array([(a, b) for b in ticks for a in ticks]))
        panel.contour(ticks, ticks, p.reshape(201, 201), [0.3, 0.7], colors="tab:blue")
        f = np.array(values["curve"])
        coarse = np.linspace(0.0, 1.0, len(f))
        panel.contour(coarse, coarse, f, [0.0], colors="tab:red")
        panel.set_aspect("equal")

    return on


def _exhibits() -> list[Exhibit]:
    made = []
    for example, first in (("circles", 3), ("sines", 7)):
        tasks = tasks_of(example)
        for number, along in ((first, "lambda"), (first + 1, "sigma")):
            made.append(
                Exhibit("figure", number, f"GACV and GCKL against {along}, {example}", tasks,
                        curve_rows(example, along), draw_curves(example, along))
            )  # fmt: skip
        made.append(
            Exhibit("figure", first + 2, f"Level curve, {example}", tasks, level_rows(example),
                    draw_level(example))
        )  # fmt: skip
    made.append(
        Exhibit("table", 1, "Other readings (not a table of the paper)",
                partial(tried_tasks, settings_of), tried_rows)
    )  # fmt: skip
    return made


PAPER = Paper(
    name="wahba-lin-zhang",
    title="Wahba, Lin & Zhang: generalized approximate cross validation",
    reference="G. Wahba, Y. Lin and H. Zhang, technical report 1006, Wisconsin (1999).",
    run=run,
    exhibits=tuple(_exhibits()),
    claims=CLAIMS,
    explanations=EXPLANATIONS,
    notes=(
        "The paper's borders and its number of points are only in figures. Ours: the unit square, "
        f"{SIZE} points; circles of radius 0.2 and 0.35 around its centre; sine waves "
        "0.5 + 0.2 sin(2 pi x) +- 0.1. Probabilities of +1 are the paper's 0.95, 0.5, 0.05.",
        "lambda = 1/(2 n C). Figures 3 and 7 vary lambda at log10 sigma = -1 and -1.25, Figures 4 "
        "and 8 vary sigma at log10 lambda = -2.5, in steps of 0.25. Logarithms are to base 10.",
        "The paper shows one draw of each example; ours are many, and medians over them. Two "
        "minimisers within two steps (0.5) count as near.",
    ),
)
