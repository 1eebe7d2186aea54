"""Two UCI sets that are complete enumerations, so they can be written down exactly."""

from __future__ import annotations

import itertools

import numpy as np

from svmselect.types import Array

_LINES = (
    *((3 * i, 3 * i + 1, 3 * i + 2) for i in range(3)),
    *((i, i + 3, i + 6) for i in range(3)),
    (0, 4, 8),
    (2, 4, 6),
)


def tic_tac_toe() -> tuple[Array, Array, tuple[str, ...]]:
    """All 958 boards at the end of a game that x began; +1 is a win for x (626 of them).

    Three 0/1 columns for each of the nine cells: blank, o, x. (UCI Tic-Tac-Toe Endgame; the rows
    come in another order.)
    """
    rows, labels = [], []
    for board in itertools.product("box", repeat=9):
        crosses, noughts = board.count("x"), board.count("o")
        won = {
            player: any(all(board[c] == player for c in line) for line in _LINES) for player in "xo"
        }
        by_x = won["x"] and not won["o"] and crosses == noughts + 1
        by_o = won["o"] and not won["x"] and crosses == noughts
        drawn = not won["x"] and not won["o"] and crosses == 5 and noughts == 4
        if by_x or by_o or drawn:
            rows.append([float(cell == value) for cell in board for value in "box"])
            labels.append(1.0 if by_x else -1.0)
    names = tuple(f"cell{c + 1}={value}" for c in range(9) for value in "box")
    return np.array(rows), np.array(labels), names


def balance_scale() -> tuple[Array, Array, tuple[str, ...]]:
    """All 625 settings of a balance with weights and distances 1..5; +1 tips to the left (288).

    To the right (288) and balanced (49) are one class. (UCI Balance Scale, in its order.)
    """
    X = np.array(list(itertools.product(range(1, 6), repeat=4)), dtype=float)
    y = np.where(X[:, 0] * X[:, 1] > X[:, 2] * X[:, 3], 1.0, -1.0)
    return X, y, ("left_weight", "left_distance", "right_weight", "right_distance")
