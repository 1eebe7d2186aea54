"""What a machine refuses, and what it says then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import linalg

from machine.exactness import judge
from machine.problems import cloud, regimes
from svmselect import score
from svmselect.kernels import RBF, Polynomial
from svmselect.machine import box_qp, check, reference, solve
from svmselect.machine.check import check_gram

X, Y = cloud(12)
K = RBF(1.0)(X)


def changed(i: int, j: int, value: float, mirror: bool = True) -> np.ndarray:
    G = K.copy()
    G[i, j] = value
    if mirror:
        G[j, i] = value
    return G


def labelled(i: int, value: object) -> list[object]:
    labels: list[object] = Y.tolist()
    labels[i] = value
    return labels


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "NaN": ({"K": changed(7, 3, np.nan)}, r"K\[7, 3\] is nan; check rows 7 and 3 of the inputs"),
    "NaN above the diagonal": (
        {"K": changed(3, 7, np.nan, mirror=False)},
        r"K\[3, 7\] is nan; check rows 3 and 7",
    ),
    "infinite": ({"K": changed(4, 2, -np.inf)}, r"K\[4, 2\] is -inf"),
    "infinite diagonal": ({"K": changed(4, 4, np.inf)}, r"K\[4, 4\] is inf"),
    "not square": ({"K": K[:, :9]}, r"square matrix, got shape \(12, 9\)"),
    "not a matrix": ({"K": K[0]}, r"square matrix, got shape \(12,\)"),
    "complex": ({"K": K + 1j}, "real numbers, got complex128"),
    "text": ({"K": [["a"]]}, "real numbers"),
    "not symmetric": (
        {"K": changed(9, 4, 0.5, mirror=False)},
        r"not symmetric: K\[9, 4\] = 0\.5, K\[4, 9\] = .*training points with themselves",
    ),
    "negative diagonal": (
        {"K": changed(5, 5, -1.0)},
        r"not positive semi-definite: K\[5, 5\] = -1.*use a positive definite kernel",
    ),
    "a 2 x 2 minor": (
        {"K": changed(8, 1, -1.5)},
        r"not positive semi-definite: K\[8, 8\] = 1, K\[1, 1\] = 1, K\[8, 1\] = -1\.5",
    ),
    "a larger minor": (
        {"K": 1.5 * np.eye(12) - 0.5},
        r"not positive semi-definite: its block of rows 0 to .* has a negative eigenvalue",
    ),
    "tanh": ({"K": np.tanh(3.0 * X @ X.T + 1.0)}, "not positive semi-definite"),
    "huge": ({"K": 1e200 * K}, r"K\[0, 0\] is 1e\+200; rescale the inputs"),
    "next to nothing": ({"K": 1e-250 * K}, r"K\[0, 0\] is 1e-250; rescale the inputs"),
    "labels of another length": ({"y": Y[:11]}, r"each of the 12 rows of K, got shape \(11,\)"),
    "a column of labels": ({"y": Y[:, None]}, r"got shape \(12, 1\)"),
    "one class": ({"y": np.ones(12)}, r"two classes, -1 and \+1; it holds 1: 1\.0"),
    "three classes": ({"y": labelled(3, 2.0)}, r"it holds 3: -1\.0, 1\.0, 2\.0"),
    "NaN label": ({"y": labelled(3, np.nan)}, "it holds 3: .*nan"),
    "no label": ({"y": labelled(3, None)}, "it holds 3: .*None"),
    "mixed labels": ({"y": np.array(["a", 1] * 6, dtype=object)}, "it holds 'a' and 1"),
    "zero and one": (
        {"y": (Y > 0).astype(int)},
        r"must hold -1 and \+1, it holds 0 and 1; pass numpy\.where\(y == 1, 1, -1\)",
    ),
    "words": ({"y": np.where(Y > 0, "yes", "no")}, r"numpy\.where\(y == 'yes', 1, -1\)"),
    "booleans": ({"y": Y > 0}, r"it holds False and True; pass"),
    "C zero": ({"C": 0.0}, r"C must be a positive finite number, got 0\.0"),
    "C negative": ({"C": -1.0}, "positive finite number, got -1"),
    "C NaN": ({"C": np.nan}, "positive finite number, got nan"),
    "C infinite": ({"C": np.inf}, "positive finite number, got inf"),
    "C text": ({"C": "1"}, "positive finite number, got '1'"),
    "C None": ({"C": None}, "positive finite number, got None"),
    "C many": ({"C": np.ones(2)}, "positive finite number, got array"),
    "C enormous": ({"C": 1e200}, r"C times the largest weight is 1e\+200"),
    "C next to nothing": (
        {"C": 1e-310},
        r"C times the smallest weight above zero is 1e-310; raise",
    ),
    "a weight next to nothing": (
        {"weights": np.where(np.arange(12) == 6, 1e-310, 1.0)},
        r"smallest weight above zero is 1e-310; raise one of them \(a weight of zero leaves",
    ),
    "a product that vanishes": (
        {"C": 1e-60, "weights": np.where(np.arange(12) == 6, 1e-300, 1.0)},
        "smallest weight above zero is 0; raise one",
    ),
    "weights of another length": (
        {"weights": np.ones(11)},
        r"one entry for each of the 12 points, got shape \(11,\)",
    ),
    "negative weight": (
        {"weights": np.where(np.arange(12) == 6, -0.5, 1.0)},
        r"weights\[6\] is -0\.5; weights must be finite and not negative",
    ),
    "NaN weight": ({"weights": np.where(np.arange(12) == 6, np.nan, 1.0)}, r"weights\[6\] is nan"),
    "text as weights": ({"weights": ["a"] * 12}, "weights must be an array of real numbers"),
    "no weight on a class": (
        {"weights": np.where(Y < 0, 0.0, 1.0)},
        "every point of class -1 has weight zero; a machine needs both classes",
    ),
    "no weight on the other": ({"weights": np.where(Y > 0, 0.0, 1.0)}, r"class \+1 has weight"),
    "no such loss": (
        {"loss": "hinged"},
        "loss='hinged' is not one of 'hinge', 'squared_hinge', 'logistic'",
    ),
    "nothing": ({"K": np.empty((0, 0)), "y": []}, "two classes, .* it holds 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named(name: str) -> None:
    arguments, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        solve(**{"K": K, "y": Y, "C": 1.0, **arguments})


@pytest.mark.parametrize("name", [n for n in BAD if "K" in BAD[n][0]])
def test_the_reference_sees_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "backend", lambda: reference)
    test_bad_input_is_named(name)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_every_way_to_a_machine_refuses_what_overflows(loss: str) -> None:
    # these matrices come from a kernel, not from a user: there they took for ever
    cube = Polynomial(3)
    with pytest.raises(ValueError, match=r"K\[0, 0\] is inf; rescale the inputs"):
        score(1e60 * (1.0 + X**2), Y, "likelihood", kernel=cube, loss=loss)
    with pytest.raises(ValueError, match=r"K\[0, 0\] is inf; rescale the inputs"):
        score(1e60 * X, Y, "alignment", kernel=cube, loss=loss)  # no machine is trained
    with pytest.raises(ValueError, match="smallest weight above zero is 1e-310"):
        score(X, Y, "likelihood", C=1e-310, kernel=cube, loss=loss)
    with pytest.raises(ValueError, match=r"largest weight is 1e\+150"):
        score(X, Y, "likelihood", weights=np.full(12, 1e150), kernel=cube, loss=loss)


@pytest.mark.parametrize("least", [1e-100, 1e-99])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_the_least_that_is_allowed(loss: str, least: float) -> None:
    for C, w in ((least, 1.0), (1.0, least)):
        for fit_intercept in (True, False):
            weights = np.where(np.arange(12) == 6, w, 1.0)
            s = solve(K, Y, C, loss, fit_intercept, weights)
            assert s.alpha[6] > 0
            assert judge(K, s).kkt <= 1e-9


@pytest.mark.parametrize("name", regimes(4))
def test_every_gram_matrix_passes(name: str) -> None:
    G, _ = regimes(60, seed=4)[name]
    np.testing.assert_array_equal(check_gram(G), G)
    np.testing.assert_array_equal(check_gram(np.asfortranarray(G)), G)


def test_rounding_and_single_precision_are_forgiven() -> None:
    rng = np.random.default_rng(0)
    noisy = K + 1e-12 * rng.normal(size=K.shape)
    assert solve(noisy, Y, 1.0).status.ok
    assert solve(K.astype(np.float32), Y.astype(np.int8), 1).status.ok
    assert solve(K.tolist(), Y.tolist(), 1).status.ok
    with pytest.raises(ValueError, match="not symmetric"):
        solve(K + 1e-3 * rng.normal(size=K.shape), Y, 1.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_diagonal_a_little_below_zero_is_forgiven(loss: str) -> None:
    G = np.pad(K, (0, 2))
    G[12, 12] = G[13, 13] = -1e-12
    for fit_intercept in (True, False):
        s = solve(G, np.append(Y, [1.0, -1.0]), 1.0, loss, fit_intercept)
        assert s.status.ok


def test_a_fault_in_any_tile_is_found() -> None:
    n = 200  # more than one tile a side
    G = RBF(1.0)(cloud(n)[0])
    for i, j in ((0, 0), (63, 62), (64, 63), (130, 5), (199, 0), (199, 199)):
        for value in (np.nan, 5.0, -5.0) if i != j else (np.nan, -5.0):
            wrong = G.copy()
            wrong[i, j] = wrong[j, i] = value
            with pytest.raises(ValueError, match=rf"K\[{i}, {j}\]"):
                check_gram(wrong)


def test_definiteness_costs_no_factorisation_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    factor = linalg.lapack.dpotrf

    def counted(A: np.ndarray, **options: Any) -> Any:
        sizes.append(len(A))
        return factor(A, **options)

    monkeypatch.setattr(check.lapack, "dpotrf", counted)
    check_gram(np.eye(1500))
    assert sizes == [128]


def test_arguments_are_left_alone() -> None:
    G, y, w = K.copy(), Y.copy(), np.ones(12)
    s = solve(G, y, 1.0, weights=w)
    for ours, theirs in ((G, K), (y, Y), (w, np.ones(12))):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.flags.writeable
    y[:], w[:] = 0.0, 0.0  # and what happens to them later is no concern of the solution
    np.testing.assert_array_equal(s.y, Y)
    np.testing.assert_array_equal(s.weights, np.ones(12))


def test_the_extension_is_in_use() -> None:
    assert box_qp.backend().__name__ == "svmselect.machine._native"
