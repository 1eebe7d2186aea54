"""``verbose``, Ctrl-C and ``checkpoint``: what a person at a terminal or a notebook meets."""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from svmselect import AutoClassifier, AutoKLR, AutoSVC, load, save
from svmselect.estimators.following import Following
from svmselect.search.trace import Trace

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 2))
y = np.where(X[:, 0] + 0.3 * rng.normal(size=80) > 0, "yes", "no")


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svmselect.progress.interrupt.SOON", 0.0)


# verbose


def test_nothing_is_said_unless_asked(capsys) -> None:
    AutoSVC(random_state=0).fit(X, y)
    assert capsys.readouterr() == ("", "")


def test_the_result_is_said_without_setting_up_logging(capsys) -> None:
    model = AutoSVC(verbose=1, random_state=0).fit(X, y)
    assert capsys.readouterr() == ("", model.explain() + "\n")


def test_every_evaluation_is_said(capsys) -> None:
    model = AutoSVC(verbose=2, random_state=0).fit(X, y)
    told = capsys.readouterr().err.removesuffix(model.explain() + "\n").splitlines()
    assert len(told) == len(model.trace_)
    for count, (words, record) in enumerate(zip(told, model.trace_, strict=True), start=1):
        assert words.startswith(f"{count:4d}  {record.value:.5g} ")
        assert f"C = {np.exp(record.point[0]):.4g}, " in words


PROGRAM = """
import sys, time
import numpy as np
from svmselect import AutoSVC
from svmselect.progress import bar

bar.PATIENCE = 0.0
model = AutoSVC(verbose=int(sys.argv[1]), random_state=0)
follow = model._fit
def slowly(X, y, weight, groups, watch):
    heard = watch.listener
    def listener(evaluation):
        time.sleep(0.03)
        return heard(evaluation)
    return follow(X, y, weight, groups, type(watch)(listener))
model._fit = slowly
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
model.fit(X, np.where(X[:, 0] > 0, "[b]yes", "no"))
"""


@pytest.mark.parametrize("verbose", [0, 1, 2])
def test_a_terminal_has_a_bar(verbose: int) -> None:
    pty = pytest.importorskip("pty", exc_type=ImportError)
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    done = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(verbose)], stderr=theirs, env=environment
    )
    os.close(theirs)
    drawn = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        drawn += part
    os.close(ours)
    assert done.wait() == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn.decode())
    bars = re.findall(r"AutoSVC: (\d+) evaluations .*about \d+ s left", text)
    assert bool(bars) is (verbose > 0)
    assert ("Chosen by 'likelihood'" in text) is (verbose > 0)
    assert ("   5  -" in text) is (verbose > 1)
    if not verbose:
        assert text == ""


class Page:
    """IPython's display in a notebook: what is on the page, by place."""

    def __init__(self) -> None:
        self.places: list[list[str]] = []

    def display(self, content: str, display_id: bool) -> "Place":
        assert display_id
        self.places.append([content])
        return Place(self.places[-1])


class Place:
    def __init__(self, shown: list[str]) -> None:
        self.shown = shown

    def update(self, content: str) -> None:
        self.shown.append(content)


def test_a_notebook_has_a_bar_without_widgets(monkeypatch, capsys) -> None:
    from types import ModuleType, SimpleNamespace

    page = Page()
    ipython, shown = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    shown.HTML, shown.display = str, page.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    model = AutoSVC(verbose=1, random_state=0).fit(X, y)
    (states,) = page.places
    assert '<progress max="1" value="0.000"' in states[1]
    assert states[-1] == ""  # the bar is gone, the words stay
    assert capsys.readouterr() == (model.explain() + "\n", "")


# Ctrl-C


class Impatient(Following):
    """Someone who presses Ctrl-C after so many evaluations."""

    times = 1

    def __call__(self, evaluation):
        answer = super().__call__(evaluation)
        if self.count == 4:
            for _ in range(self.times):
                signal.raise_signal(signal.SIGINT)
        return answer


@pytest.mark.parametrize("options", [{}, {"criterion": "smoothed-cv"}, {"verbose": 1}])
@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR, AutoClassifier])
def test_ctrl_c_ends_with_the_best_so_far(monkeypatch, capsys, cls, options) -> None:
    whole = cls(random_state=0, **options).fit(X, y)
    monkeypatch.setattr("svmselect.estimators.base.Following", Impatient)
    before = signal.getsignal(signal.SIGINT)
    with pytest.warns(UserWarning, match="interrupted after 5 evaluations"):
        model = cls(random_state=0, **options).fit(X, y)
    assert signal.getsignal(signal.SIGINT) is before
    assert len(model.trace_) < len(whole.trace_)
    assert model.selection_.status.name == "interrupted"
    assert [n.kind for n in model.selection_.notes].count("interrupted") == 1
    assert "interrupted after 5 evaluations" in model.explain()
    assert model.score(X, y) > 0.7
    assert "Ctrl-C again ends at once" in capsys.readouterr().err


def test_ctrl_c_twice_ends_at_once(monkeypatch, capsys) -> None:
    monkeypatch.setattr(Impatient, "times", 2)
    monkeypatch.setattr("svmselect.estimators.base.Following", Impatient)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        AutoSVC(random_state=0).fit(X, y)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_twice_ends_a_loop_of_fits(monkeypatch, capsys) -> None:
    monkeypatch.setattr("svmselect.progress.interrupt.SOON", 60.0)
    monkeypatch.setattr("svmselect.progress.interrupt.Stopper._last", -np.inf)
    monkeypatch.setattr("svmselect.estimators.base.Following", Impatient)
    with pytest.warns(UserWarning, match="interrupted"):
        AutoSVC(random_state=0).fit(X, y)
    with pytest.raises(KeyboardInterrupt):
        AutoSVC(random_state=0).fit(X, y)


# checkpoint


class Killed(Following):
    def __call__(self, evaluation):
        super().__call__(evaluation)
        if self.count == 12:
            raise MemoryError
        return False


@pytest.mark.parametrize("seed", [0, None])
@pytest.mark.parametrize(
    ("cls", "options"), [(AutoSVC, {}), (AutoSVC, {"criterion": "gacv"}), (AutoClassifier, {})]
)
def test_a_killed_fit_goes_on_from_its_file(
    monkeypatch, tmp_path: Path, cls, options, seed
) -> None:
    file = tmp_path / "fit.jsonl"
    model = cls(checkpoint=file, random_state=seed, **options)
    with monkeypatch.context() as patch:
        patch.setattr("svmselect.estimators.base.Following", Killed)
        with pytest.raises(MemoryError):
            model.fit(X, y)
    kept = len(Trace.load(file))
    assert kept == 12
    resumed = clone(model).fit(X, y)
    whole_file = tmp_path / "whole.jsonl"
    header = json.loads(file.read_text().splitlines()[0])
    whole = clone(model).set_params(checkpoint=whole_file)
    if seed is None:  # the same search, from its first line
        whole_file.write_text(json.dumps(header) + "\n")
    whole.fit(X, y)
    assert len(Trace.load(file)) == len(Trace.load(whole_file)) > kept
    assert len(resumed.trace_) == len(whole.trace_)
    assert resumed.selection_.seed == whole.selection_.seed == header["seed"]
    np.testing.assert_array_equal(resumed.dual_coef_, whole.dual_coef_)
    np.testing.assert_array_equal(resumed.predict_proba(X), whole.predict_proba(X))


def test_a_checkpoint_is_of_one_problem(tmp_path: Path) -> None:
    model = AutoSVC(checkpoint=tmp_path / "fit.jsonl", random_state=0).fit(X, y)
    assert len(clone(model).fit(X, y).trace_) == len(model.trace_)  # nothing is left to do
    with pytest.raises(ValueError, match="other data"):
        clone(model).fit(X + 1.0, y)
    with pytest.raises(ValueError, match="other settings"):
        clone(model).set_params(ard="no").fit(X, y)
    with pytest.raises(ValueError, match="name one by loss="):
        AutoClassifier(criterion="cv-error", checkpoint=tmp_path / "a", max_time=1.0).fit(X, y)
    with pytest.raises(ValueError, match="leave one of the two out"):
        clone(model).set_params(multi_class="ovo-separate").fit(X, y)


def test_models_with_a_checkpoint_are_saved(tmp_path: Path) -> None:
    model = AutoSVC(checkpoint=tmp_path / "fit.jsonl", random_state=0).fit(X, y)
    save(model, tmp_path / "model.skops")
    for other in (load(tmp_path / "model.skops"), pickle.loads(pickle.dumps(model))):
        assert Path(other.checkpoint) == model.checkpoint
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
