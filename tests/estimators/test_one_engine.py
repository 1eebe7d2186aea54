"""The default is what its parts are called: one engine, whatever the user names."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_circles, make_moons

from svmselect import AutoClassifier, AutoKLR, AutoSVC, select
from svmselect.criteria import available, get_criterion
from svmselect.data import Dataset
from svmselect.estimators.options import forms
from svmselect.estimators.strategies.default import choose
from svmselect.kernels import RBF, Constant, Linear, Matern, Polynomial
from svmselect.search import get_search
from svmselect.selection.objective import Posterior


def some(loader, rows: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = loader(return_X_y=True)
    kept = np.random.default_rng(0).permutation(len(y))[:rows]
    return X[kept], y[kept]


DATA = {
    "iris": some(load_iris, 150),
    "wine": some(load_wine, 120),
    "breast cancer": some(load_breast_cancer, 150),
    "moons": make_moons(120, noise=0.3, random_state=0),
    "circles": make_circles(100, noise=0.2, factor=0.5, random_state=0),
}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR])
def test_naming_what_the_default_does_changes_nothing(cls, data: str) -> None:
    X, y = DATA[data]
    plain = cls(random_state=0).fit(X, y)
    for options in (
        {"criterion": "likelihood"},
        {"search": "gauss-newton"},
        {"kernel": "rbf", "criterion": "likelihood"},
        {"kernel": RBF(), "search": "gauss-newton"},
        {"criterion": get_criterion("likelihood"), "search": get_search("gauss-newton")},
    ):
        named = cls(random_state=0, **options).fit(X, y)
        assert named.C_ == plain.C_
        assert named.kernel_ == plain.kernel_
        assert named.best_score_ == plain.best_score_
        np.testing.assert_array_equal(named.predict_proba(X), plain.predict_proba(X))


def test_naming_what_the_default_does_changes_no_average() -> None:
    X, y = DATA["wine"]
    plain = AutoClassifier(random_state=0).fit(X, y)
    named = AutoClassifier(random_state=0, criterion="likelihood", search="gauss-newton").fit(X, y)
    np.testing.assert_array_equal(named.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(named.weights_, plain.weights_)


def test_other_settings_are_another_choice() -> None:
    X, y = DATA["moons"]
    other = AutoSVC(criterion=get_criterion("likelihood", cv=3), random_state=0).fit(X, y)
    assert other.selection_.strategy == "search"


class Rebuilt:
    """Objectives of a search, by the run they were asked about, caught as they are used."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[Posterior, np.ndarray, object]] = []
        call = Posterior.__call__

        def seen(posterior: Posterior, point, order, warm):
            answer = call(posterior, point, order, warm)
            self.asked.append((posterior, point, answer[0]))
            return answer

        monkeypatch.setattr(Posterior, "__call__", seen)

    def check(self, tolerance: float) -> int:
        """Compare each gradient with central differences of values; how many there were."""
        count = 0
        for posterior, point, answer in list(self.asked):
            if answer.gradient is None:
                continue
            h = 1e-5
            numeric = [
                (
                    posterior(point + h * e, 0, None)[0].value
                    - posterior(point - h * e, 0, None)[0].value
                )
                / (2 * h)
                for e in np.eye(len(point))
            ]
            size = float(np.abs(answer.gradient).max()) + 1e-3
            np.testing.assert_allclose(answer.gradient, numeric, atol=tolerance * size)
            count += 1
        return count


@pytest.mark.parametrize("classes", [2, 3])
def test_gradients_of_the_default_are_those_of_its_values(classes: int, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.argmax(X[:, :classes] + 0.7 * rng.normal(size=(60, classes)), axis=1)
    caught = Rebuilt(monkeypatch)
    # without kinks, so that differences say something at every point
    model = AutoKLR(random_state=0, ard="yes").fit(X, y)
    told = {tuple(record.point.tolist()): record for record in model.trace_}
    for _, point, answer in caught.asked:
        record = told[tuple(point.tolist())]
        assert record.evaluation.value == answer.value or record.run  # of some run at this point
    assert caught.check(1e-5) > 5


@pytest.mark.parametrize(
    "name", sorted(n for n, cls in available().items() if cls().differentiable)
)
def test_gradients_of_select_are_those_of_its_values(name: str, monkeypatch) -> None:
    X, y = make_moons(40, noise=0.3, random_state=0)
    criterion = available()[name]()
    for loss in ("logistic", "squared_hinge", "hinge"):
        for intercept in (True, False):
            if criterion.refusal(RBF(), loss, intercept) is None:
                caught = Rebuilt(monkeypatch)
                found = select(
                    X, y, name, "lbfgs", RBF(1.0), loss, intercept, prior="vague", budget=4,
                    random_state=0, start={"C": 1.3},  # at 1 the logistic loss has a kink
                )  # fmt: skip
                assert [r.loss for r in found.trace] == [a.value for _, _, a in caught.asked]
                # the same draws, along trajectories that keep few digits
                assert caught.check(2e-3 if name == "evidence-hmc" else 1e-5) > 0
                return
    raise AssertionError(f"{name} serves nothing")


@pytest.mark.parametrize(
    "kernel",
    [
        Matern(1.0, nu=1.5),
        "matern",
        Polynomial(2),
        Linear(),
        Constant(1.0) * RBF() + Constant(0.1),
        RBF([1.0, 1.0]),
    ],
    ids=str,
)
def test_any_kernel_goes_the_same_way(kernel) -> None:
    X, y = make_moons(120, noise=0.2, random_state=0)
    model = AutoSVC(kernel, random_state=0).fit(X, y)
    (form,) = forms(kernel)
    assert type(model.kernel_) is type(form)
    assert {record.strand for record in model.trace_} == {"auto"}
    assert any(record.run.startswith("auto/") for record in model.trace_)
    assert model.score(X, y) > (0.9 if form.stationary else 0.8)


def test_several_forms_are_compared() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    kernels = [Linear(), RBF(), Polynomial(2)]
    model = AutoSVC(kernels, random_state=0).fit(X, y)
    assert not isinstance(model.kernel_, Linear)
    prefixes = {record.run.split("/")[1] for record in model.trace_}
    assert prefixes == {"kernel0", "kernel1", "kernel2"}
    alone = AutoSVC(type(model.kernel_)() if isinstance(model.kernel_, RBF) else Polynomial(2),
                    random_state=0).fit(X, y)  # fmt: skip
    assert alone.C_ == model.C_


def test_the_strategy_can_be_called_by_itself() -> None:
    X, y = make_moons(80, noise=0.2, random_state=0)
    data = Dataset.of(X, y)
    from svmselect.data import Pair, stratified_folds

    pair = Pair(np.arange(80), data.y, data.weights, stratified_folds(y, 5, 0))
    choice = choose(data.X, [pair], kernels=[Matern()])
    assert choice.value > -0.3
