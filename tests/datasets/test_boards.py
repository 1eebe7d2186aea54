"""Enumerations against what UCI says of them."""

import numpy as np

from svmselect.datasets.boards import balance_scale, tic_tac_toe


def test_tic_tac_toe_is_uci_s():
    X, y, names = tic_tac_toe()
    assert (len(y), int((y > 0).sum()), len(names)) == (958, 626, 27)
    assert len(np.unique(X, axis=0)) == 958
    assert np.all(X.reshape(958, 9, 3).sum(axis=2) == 1)
    drawn = (y < 0) & (X[:, 0::3].sum(axis=1) == 0)  # no blank left and not won by x
    assert int(drawn.sum()) == 16  # o cannot win with the last cell: x has it


def test_tic_tac_toe_label_is_a_line_of_x():
    X, y, _ = tic_tac_toe()
    cross = X[:, 2::3].reshape(-1, 3, 3)
    lines = np.concatenate(
        [
            cross.sum(axis=1),
            cross.sum(axis=2),
            np.trace(cross, axis1=1, axis2=2)[:, None],
            np.trace(cross[:, :, ::-1], axis1=1, axis2=2)[:, None],
        ],
        axis=1,
    )
    assert np.array_equal(y > 0, lines.max(axis=1) == 3)


def test_balance_scale_counts():
    X, y, _ = balance_scale()
    torque = X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]
    assert len(y) == 625
    assert (int((torque > 0).sum()), int((torque == 0).sum())) == (288, 49)
    assert np.array_equal(y > 0, torque > 0)
