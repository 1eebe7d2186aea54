"""What the default strategy takes for other kernels than the Gaussian, as a ratio to it.

    python benchmarks/forms.py [FOLDER] [--rows 400]

CPU seconds of one thread, the better of two fits each; FOLDER as in auto.py. A list of kernels
should take no more than its members together.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from auto import load, split
from svmselect import AutoSVC
from svmselect.kernels import RBF, Matern, Polynomial

NAMES = ("raetsch_banana", "raetsch_heart", "raetsch_german", "sonar", "raetsch_splice", "wdbc")
FORMS = {"RBF": RBF(), "Matern 3/2": Matern(1.0, nu=1.5), "Polynomial 2": Polynomial(2)}


def seconds(kernel: Any, X: Any, y: Any) -> float:
    """The better of two fits."""
    spent = []
    for _ in range(2):
        began = time.process_time()
        AutoSVC(kernel, random_state=0).fit(X, y)
        spent.append(time.process_time() - began)
    return min(spent)


def main() -> None:
    """Print a line a data set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=os.environ.get("SVMSELECT_DATA"))
    parser.add_argument("--rows", type=int, default=400)
    options = parser.parse_args()
    folder = None if options.folder is None else Path(options.folder)
    names = [n for n in NAMES if n == "wdbc" or (folder and (folder / f"{n}.npz").exists())]
    total = np.zeros(len(FORMS) + 1)
    print("| data | RBF, s | " + " | ".join(list(FORMS)[1:]) + " | list / sum of its members |")
    print("|---" * (len(FORMS) + 2) + "|")
    with threadpool_limits(1):
        for name in names:
            X, y, _, _ = split(*load(folder or Path(), name), options.rows, 0)
            spent = np.array([seconds(k, X, y) for k in [*FORMS.values(), list(FORMS.values())]])
            total += spent
            row(name.removeprefix("raetsch_"), spent)
    row("sum", total)


def row(name: str, spent: Any) -> None:
    """Ratios to the Gaussian, and of the list to the sum."""
    ratios = " | ".join(f"{one / spent[0]:.2f}" for one in spent[1:-1])
    print(f"| {name} | {spent[0]:.3f} | {ratios} | {spent[-1] / spent[:-1].sum():.2f} |")


if __name__ == "__main__":
    main()
