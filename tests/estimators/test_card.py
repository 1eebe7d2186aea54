"""What a notebook shows of a fitted model and of a selection."""

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline

from svmselect import AutoSVC, load, report, save, select
from svmselect.probability.intervals import interval

X, y = load_iris(return_X_y=True)
UGLY = "<script>alert('x')</script>"


class Reader(HTMLParser):
    """Tags, links, and the text of a card."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str | None] = []
        self.words: list[str] = []
        self.feed(page)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def model() -> AutoSVC:
    frame = pd.DataFrame(X, columns=["sepal", UGLY, "petal", "width"])
    labels = np.array(["setosa", "versicolor", "a & b"])[y]
    return AutoSVC(random_state=0, ard="yes").fit(frame, labels)


def shown(model: AutoSVC) -> str:
    """The card alone."""
    page = model._repr_html_()
    assert page.startswith('<div class="svmselect-card"')
    return page[: page.index("</div>") + 6]


def test_a_fitted_model_says_what_it_is(model: AutoSVC) -> None:
    read = Reader(shown(model))
    assert "150 rows, 4 inputs, 3 classes (a & b, setosa, versicolor)" in read.text
    assert f"C {model.C_:.4g}" in read.text
    estimate = model.selection_.error
    low, high = interval(estimate)
    assert estimate.seen is not None
    said = f"{estimate.error:.1%} of new rows, expected (95 %: {low:.1%} to {high:.1%})"
    assert said in read.text
    shares = model.feature_importances_
    first = model.feature_names_in_[shares.argmax()]
    assert f"top inputs {first} {shares.max():.0%}" in read.text
    assert f"likelihood {model.best_score_:.4g}" in read.text
    assert "script" not in read.tags
    assert not read.links


def test_one_length_scale_weighs_all_inputs_alike() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    rows["day"] = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 900, 60), "D")
    y = np.where(rows["a"] > 0, "yes", "no")
    model = AutoSVC(random_state=0, ard="no").fit(rows, y)
    assert model.feature_importances_[3] > 0.4  # a day is time, season and weekday
    text = Reader(shown(model)).text
    assert "inputs all are weighed alike" in text
    assert "kernel RBF(length_scale=" in text
    assert "variables" not in text
    assert "count most" not in model.explain()


def test_scikit_learns_own_picture_follows(model: AutoSVC) -> None:
    plain = AutoSVC(random_state=0, ard="yes")
    assert "svmselect-card" not in plain._repr_html_()
    for page in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert page.count("svmselect-card") == 1
        assert "sk-top-container" in page[page.index("</div>") :]
    assert "svmselect-card" not in make_pipeline(model)._repr_html_()
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


def test_a_model_links_to_its_report(model: AutoSVC, tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=model.feature_names_in_)
    labels = np.array(["setosa", "versicolor", "a & b"])[y]
    path = tmp_path / 'the "page".html'
    report.write(report.of_fit(model, frame, labels), path, model)
    assert Reader(shown(model)).links == [str(path)]
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    assert shown(loaded) == shown(model)


def test_pairs_that_chose_apart_and_remarks() -> None:
    apart = AutoSVC(random_state=0, multi_class="ovo-separate", ard="no", max_time=3.0).fit(X, y)
    text = Reader(shown(apart)).text
    assert f"C {apart.C_.min():.3g} to {apart.C_.max():.3g}" in text
    assert "one a pair of classes" in text
    cut = AutoSVC(random_state=0, max_time=1e-9).fit(X, y)
    assert "the search was stopped early" in Reader(shown(cut)).text


def test_a_selection_says_what_it_is(tmp_path: Path) -> None:
    two = y > 0
    trace = tmp_path / "trace.jsonl"
    found = select(X, two, "likelihood", "lbfgs", random_state=0, checkpoint=trace)
    read = Reader(found._repr_html_())
    assert f"C {found.C:.4g}" in read.text
    assert f"likelihood {found.value:.4g}, {found.evaluations} evaluations" in read.text
    assert not read.links
    report.write(report.of_trace(trace), tmp_path / "report.html")
    assert Reader(found._repr_html_()).links == [str(tmp_path / "report.html")]


def test_a_selection_names_its_shortest_length_scales() -> None:
    from svmselect.kernels import RBF

    kernel = RBF([3.0, 0.5, 2.0, 1.0])
    found = select(X, y > 0, "alignment", "lbfgs", kernel=kernel, budget=1, random_state=0)
    scales = np.asarray(found.kernel.length_scale)
    named = ", ".join(f"input {a} ({scales[a]:.3g})" for a in np.argsort(scales)[:3])
    assert named in Reader(found._repr_html_()).text
