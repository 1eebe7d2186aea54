"""``score`` and the objective behind it: arguments, refusals, coordinates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from svmselect import score
from svmselect.criteria import Context, Criterion, Verdict, available, get_criterion
from svmselect.criteria.base import FREE, PENALISED, every
from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant
from svmselect.selection.objective import Objective
from svmselect.testing import Untouchable, make_case
from svmselect.types import Status

LOSSES = ("hinge", "squared_hinge", "logistic")


@dataclass(frozen=True)
class Probe(Criterion):
    """Notes what it was asked; serves an intercept with the hinge only."""

    asked: list[tuple[Context, bool]] = field(default_factory=list, hash=False, compare=False)

    name = "probe"
    greater_is_better = False
    serves = every("hinge", offsets=(FREE,))
    formula = "tr K"
    cost = "O(n)"
    reference = "none"

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        self.asked.append((context, gradient))
        value, status = np.trace(context.K), Status("odd", "look again")
        pull = context.system.pullback(gram=np.eye(len(context.K))) if gradient else None
        return Verdict(value, pull, stderr=0.5, details={"n": len(context.y)}, status=status)


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray]:
    p = make_case("mixed")
    return p.X, p.y


def test_score_carries_all_the_criterion_says(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    kernel = Constant(2.0) * RBF([1.0, 2.0])
    result = score(X, y, Probe(), C=3.0, kernel=kernel, gradient=True)
    assert result.value == pytest.approx(2.0 * len(y), rel=1e-14)
    assert type(result.value) is float
    assert result.names == ("log C", "constant.value", "rbf.length_scale[0]", "rbf.length_scale[1]")
    # d tr K = tr K d log(amplitude)
    np.testing.assert_allclose(result.gradient, [0.0, 2.0 * len(y), 0.0, 0.0], atol=1e-12)
    assert result.greater_is_better is False
    assert result.stderr == 0.5
    assert result.details == {"n": len(y)}
    assert result.status == Status("odd", "look again")


def test_gradient_is_only_computed_when_asked_for(data: tuple[np.ndarray, np.ndarray]) -> None:
    probe = Probe()
    assert score(*data, probe).gradient is None
    assert [gradient for _, gradient in probe.asked] == [False]


def test_defaults(data: tuple[np.ndarray, np.ndarray]) -> None:
    probe = Probe()
    score(*data, probe)
    context, _ = probe.asked[0]
    assert (context.C, context.loss, context.fit_intercept) == (1.0, "hinge", True)
    assert isinstance(context.kernel, RBF)
    assert context.total == len(data[1])


def test_labels_of_any_kind(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    words = np.where(y > 0, "yes", "no")
    assert score(X, words, "alignment").value == score(X, y, "alignment").value


def test_weights_reach_the_criterion(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    weights = 1.0 + (np.arange(len(y)) % 2)
    twice = np.repeat(np.arange(len(y)), weights.astype(int))
    by_weight = score(X, y, "alignment", weights=weights).value
    assert by_weight == pytest.approx(score(X[twice], y[twice], "alignment").value, rel=1e-12)


@pytest.mark.parametrize("C", [0.0, -1.0, np.nan, np.inf])
def test_senseless_C_is_refused(data: tuple[np.ndarray, np.ndarray], C: float) -> None:
    with pytest.raises(ValueError, match="C must be a positive finite number"):
        score(*data, "alignment", C=C)


def test_bad_options_and_names_are_refused_before_the_data_are_read() -> None:
    with pytest.raises(ValueError, match="no option 'folds'"):
        score(None, None, "alignment", folds=3)
    with pytest.raises(ValueError, match="criterion 'likelyhood' is not one of"):
        score(None, None, "likelyhood")


def test_unknown_loss_is_refused(data: tuple[np.ndarray, np.ndarray]) -> None:
    with pytest.raises(ValueError, match=r"loss='huber' is not one of 'hinge'"):
        score(*data, "alignment", loss="huber")


@pytest.mark.parametrize("name", sorted(available()))
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_unserved_combination_is_refused_before_any_work(
    data: tuple[np.ndarray, np.ndarray], name: str, loss: str, fit_intercept: bool
) -> None:
    offset = FREE if fit_intercept else PENALISED
    arguments: dict[str, Any] = {"loss": loss, "fit_intercept": fit_intercept}
    if (loss, offset) in available()[name].serves:
        # it goes on to the kernel, which is not to be touched
        with pytest.raises(AssertionError, match="the kernel was evaluated"):
            score(*data, name, kernel=Untouchable(), **arguments)
        return
    with pytest.raises(ValueError, match=f"criterion '{name}' does not serve") as caught:
        score(*data, name, kernel=Untouchable(), **arguments)
    message = str(caught.value)
    assert f"loss='{loss}' with fit_intercept={fit_intercept}" in message
    listed = message.partition("Criteria that serve it: ")[2].split(", ")
    serving = [n for n, cls in available().items() if (loss, offset) in cls.serves]
    assert listed == serving


def test_refusal_of_a_stranger_says_what_it_is_defined_for(
    data: tuple[np.ndarray, np.ndarray],
) -> None:
    with pytest.raises(ValueError, match="it is defined for hinge with an intercept") as caught:
        score(*data, Probe(), loss="logistic")
    assert "alignment" in str(caught.value)
    assert "probe" not in str(caught.value).partition("Criteria that serve it")[2]


def test_objective_at_a_point_is_score_there(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    kernel = Constant(1.0) * RBF([1.0, 1.0])
    objective = Objective(Dataset.of(X, y), kernel, get_criterion("alignment"))
    point = np.log([0.7, 1.5, 0.4, 2.5])
    found, _ = objective.at(point, order=1)
    there = Constant(1.5) * RBF([0.4, 2.5])
    expected = score(X, y, "alignment", C=0.7, kernel=there, gradient=True)
    assert found.names == objective.names == expected.names
    assert found.value == pytest.approx(expected.value, rel=1e-14)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-12, atol=1e-14)


def test_machines_are_handed_from_point_to_point(data: tuple[np.ndarray, np.ndarray]) -> None:
    probe = Probe()
    objective = Objective(Dataset.of(*data), RBF(), probe)
    _, trained = objective.score(1.0, RBF(), order=1)
    assert set(trained) == {"all"}
    objective.score(1.1, RBF(1.1), start=trained)
    assert probe.asked[-1][0].start is trained
