"""How tables of packages become the papers' data sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmselect.datasets.record import Raw, standardised

_SIZES = ("FL", "RW", "CL", "CW", "BD")
_PIMA = ("npreg", "glu", "bp", "skin", "bmi", "ped", "age")


def crabs(table: Any) -> Raw:
    """Leptograpsus crabs: five sizes and the species (1 orange); +1 is male."""
    X = np.column_stack([table[list(_SIZES)].to_numpy(float), table["sp"] == "O"])
    return Raw(X.astype(float), np.where(table["sex"] == "M", 1.0, -1.0), (*_SIZES, "orange"))


def crab_species(table: Any) -> Raw:
    """The species of crabs from five sizes and the sex (1 male); +1 is orange."""
    X = np.column_stack([table[list(_SIZES)].to_numpy(float), table["sex"] == "M"])
    return Raw(X.astype(float), np.where(table["sp"] == "O", 1.0, -1.0), (*_SIZES, "male"))


def crabs_without_colour(table: Any) -> Raw:
    """The five sizes, standardised; 80 training rows, 20 of each sex and colour, drawn once."""
    held = crabs(table)
    rng = np.random.default_rng(0)
    group = 2 * held.X[:, 5] + (held.y > 0)
    train = np.sort(
        np.concatenate(
            [rng.choice(np.flatnonzero(group == g), size=20, replace=False) for g in range(4)]
        )
    )
    test = np.setdiff1d(np.arange(len(held.y)), train)
    return Raw(standardised(held.X[:, :5]), held.y, _SIZES, train[None], test[None])


def pima(first: Any, second: Any) -> Raw:
    """Pima Indians (Ripley's 532 complete rows), his 200 for training; +1 is diabetic."""
    parts = [table[list(_PIMA)].to_numpy(float) for table in (first, second)]
    y = np.concatenate([np.where(t["type"] == "Yes", 1.0, -1.0) for t in (first, second)])
    return first_rows(Raw(np.vstack(parts), y, _PIMA), len(parts[0]))


def pima_standardised(first: Any, second: Any) -> Raw:
    """Give ``pima`` with inputs of zero mean and unit variance over all rows."""
    return scaled(pima(first, second))


def synth(first: Any, second: Any) -> Raw:
    """Ripley's synthetic problem, his 250 rows for training and 1000 for testing."""
    X = np.vstack([table[["xs", "ys"]].to_numpy(float) for table in (first, second)])
    y = np.concatenate([np.where(t["yc"].astype(int) == 1, 1.0, -1.0) for t in (first, second)])
    return first_rows(Raw(X, y, ("xs", "ys")), len(first))


def biopsy(table: Any) -> Raw:
    """Wisconsin breast cancer without missing values, inconsistent or repeated patterns (Kwok).

    683 complete rows are 449 distinct patterns, Kwok's 150 + 299; none is inconsistent. +1 is
    malignant.
    """
    columns = [f"V{j}" for j in range(1, 10)]
    table = table.dropna()
    X = table[columns].to_numpy(float)
    y = np.where(table["class"] == "malignant", 1.0, -1.0)
    patterns, place = np.unique(X, axis=0, return_inverse=True)
    place = place.ravel()
    total, count = np.bincount(place, weights=y), np.bincount(place)
    clear = np.abs(total) == count
    return Raw(patterns[clear], np.sign(total[clear]), tuple(columns))


def titanic(table: Any) -> Raw:
    """Raetsch's titanic: class (1st, 2nd, 3rd, crew), child, male; standardised; +1 survived."""
    rows = table.loc[table.index.repeat(table["Freq"].astype(int))]
    X = np.column_stack(
        [
            rows["Class"].map({"1st": 0, "2nd": 1, "3rd": 2, "Crew": 3}),
            rows["Age"] == "Child",
            rows["Sex"] == "Male",
        ]
    ).astype(float)
    y = np.where(rows["Survived"] == "Yes", 1.0, -1.0)
    return Raw(standardised(X), y, ("class", "child", "male"))


def first_rows(raw: Raw, size: int) -> Raw:
    """Make the first rows the training set, the others the test set."""
    rows = np.arange(len(raw.y))
    return Raw(raw.X, raw.y, raw.names, rows[None, :size], rows[None, size:])


def scaled(raw: Raw) -> Raw:
    """Standardise the inputs over all rows."""
    return Raw(standardised(raw.X), raw.y, raw.names, raw.train, raw.test)


def first_300_scaled(raw: Raw) -> Raw:
    """Standardise the inputs, with the first 300 rows for training (Gold & Sollich 5.1)."""
    return first_rows(scaled(raw), 300)


def without_constants(raw: Raw) -> Raw:
    """Drop the columns that never change."""
    moves = np.ptp(raw.X, axis=0) > 0
    names = tuple(name for name, kept in zip(raw.names, moves, strict=False) if kept)
    return Raw(raw.X[:, moves], raw.y, names, raw.train, raw.test)


def like_uci_segmentation(raw: Raw) -> Raw:
    """Draw 210 training rows with 30 brickfaces, as many as UCI's own training file has."""
    rng = np.random.default_rng(0)
    parts = [
        rng.choice(np.flatnonzero(raw.y == label), size=size, replace=False)
        for label, size in ((1, 30), (-1, 180))
    ]
    train = np.sort(np.concatenate(parts))
    test = np.setdiff1d(np.arange(len(raw.y)), train)
    return Raw(raw.X, raw.y, raw.names, train[None], test[None])


def image_of_segmentation(raw: Raw) -> Raw:
    """Give Raetsch's image from UCI's segmentation: 18 columns, standardised."""
    return scaled(Raw(np.delete(raw.X, 2, axis=1), raw.y))
