"""What ``select`` gives back is shown in one line, without the data."""

from svmselect import select
from svmselect.datasets.toys import half_relevant
from svmselect.kernels import RBF


def test_shown_in_one_line() -> None:
    X, y = half_relevant(40, random_state=0)
    chosen = select(X, y, kernel=RBF(3.0), budget=4, random_state=0)
    shown = repr(chosen)
    assert "\n" not in shown
    assert len(shown) < 200
    assert shown.startswith(f"<Selection C={chosen.C:.6g}, RBF(length_scale=")
    assert f"value={chosen.value:.6g}, 'budget' after 4 evaluations>" in shown
