"""A card: very many rows from host memory, exact machines, and the evidence with its gradient.

    python benchmarks/gpu_rows.py [--device cuda] [--rows 4000000] [--n 20000] [--out FILE]
        [--exact 5000 10000 20000 30000] [--whole 10000 30000] [--cpu-limit 60]

Rows: ``rows`` x 50 of the generated rule of ``large.py`` in host memory, in double precision; the
whole of ``AutoSVC(device=..., n_jobs=-1).fit``, the choice of hyperparameters included, and where
the time went; error and log loss of 20,000 new rows. Where ``--beside`` asks for it, the same rows
on the processor, and a linear model on random features by gradient descent.

Exact: a machine of each loss for ``n`` rows of 20 inputs, the Gram matrix made and all vectors
moved, on the card and, up to a size that takes --cpu-limit seconds, on the processor; whole:
``AutoSVC.fit`` of as many rows of 50 inputs.

Evidence: value and gradient of evidence-ep for ``n`` rows of 20 inputs, everything that is not in
host memory at first counted: rows moved, the Gram matrix made, the gradient fetched.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from evidence_ep import sample
from large import generated
from svmselect import AutoSVC, score
from svmselect.kernels import RBF, Constant
from svmselect.machine.on_device import Gram, train_on
from svmselect.machine.train import train


def rows_on(device: str, rows: int) -> dict[str, object]:
    """Fit, test, and look at the clock."""
    X, y = generated(rows, 0)
    new = generated(20_000, 1)
    began, cpu = time.perf_counter(), time.process_time()
    model = AutoSVC(random_state=0, device=device, n_jobs=-1).fit(X, y)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    p = model.predict_proba(new[0])[np.arange(len(new[1])), (new[1] > 0).astype(int)]
    steps, trained = {"choice": 0.0}, []
    for record in model.trace_:
        spent, details = record.evaluation.seconds, record.evaluation.details
        if "landmarks" not in details:
            steps["choice"] = round(steps["choice"] + spent, 2)
            continue
        trained.append([details["rows"], details["landmarks"], round(spent, 2)])
        where = "all rows" if details["rows"] == rows else "sample"
        steps[where] = round(steps.get(where, 0.0) + spent, 2)
    return {
        "what": f"{rows} x {X.shape[1]} on {device}",
        "seconds": round(seconds, 1),
        "cpu": round(cpu, 1),
        "error %": round(100 * float(np.mean(model.predict(new[0]) != new[1])), 2),
        "log loss": round(float(-np.log(p).mean()), 4),
        "peak GiB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "steps": steps,
        "rows, landmarks, seconds of each training": trained,
        "words": model.explain(),
    }


def exact_on(device: str, n: int) -> Iterator[dict[str, object]]:
    """Train the machines of one kernel, and look at their duality gaps."""
    X, y = generated(n, 0, 20)
    new = generated(5000, 1, 20)
    kernel = RBF(5.0)
    for loss, C in (("hinge", 10.0), ("squared_hinge", 10.0), ("logistic", 10.0)):
        began = time.perf_counter()
        if device == "cpu":
            machine = train(kernel(X), y.astype(float), C, loss, True, np.ones(n))
        else:
            gram = Gram.of(kernel, X, device)
            machine = train_on(gram, y.astype(float), C, loss, True, np.ones(n))
            del gram
        seconds = time.perf_counter() - began
        used = machine.support
        f = kernel(new[0], X[used]) @ machine.beta[used] + machine.intercept
        yield {
            "what": f"exact {loss} machine, n = {n}, on {device}",
            "seconds": round(seconds, 2),
            "gap": machine.gap,
            "kkt": machine.kkt,
            "objective": machine.objective,
            "support": len(used),
            "free": len(machine.free),
            "error %": round(100 * float(np.mean(f * new[1] <= 0)), 2),
            "status": machine.status.name,
        }


def random_features(rows: int) -> dict[str, object]:
    """scikit-learn's SGDClassifier on random Fourier features, in pieces of 20,000 rows."""
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDClassifier
    from sklearn.preprocessing import StandardScaler

    X, y = generated(rows, 0)
    new = generated(20_000, 1)
    began = time.perf_counter()
    scale = StandardScaler().fit(X[:100_000])
    features = RBFSampler(gamma=0.3 / X.shape[1], n_components=1000, random_state=0).fit(X[:2])
    made = SGDClassifier(loss="log_loss", alpha=1e-6, random_state=0)
    for at in range(0, rows, 20_000):
        part = slice(at, at + 20_000)
        made.partial_fit(features.transform(scale.transform(X[part])), y[part], [-1, 1])
    seconds = time.perf_counter() - began
    error = np.mean(made.predict(features.transform(scale.transform(new[0]))) != new[1])
    return {
        "what": f"{rows} x {X.shape[1]}, SGDClassifier on 1,000 random features, one pass",
        "seconds": round(seconds, 1),
        "error %": round(100 * float(error), 2),
    }


def evidence_on(device: str, n: int) -> list[dict[str, object]]:
    """Cold and again: the first call in a process loads the card's libraries."""
    X, y = sample("twonorm", n, 20)
    kernel = Constant(1.0) * RBF(4.5) + Constant(0.1)
    told = []
    score(X[:500], y[:500], "evidence-ep", 1.0, kernel, fit_intercept=False, device=device)
    for form in (kernel, kernel.at(kernel.theta + 0.05), Constant(1.0) * RBF([4.5] * 20)):
        began = time.perf_counter()
        r = score(X, y, "evidence-ep", 1.0, form, fit_intercept=False, gradient=True, device=device)
        told.append(
            {
                "what": f"evidence-ep with gradient of {len(r.gradient)}, n = {n}, on {device}",
                "seconds": round(time.perf_counter() - began, 2),
                "sweeps": r.details["sweeps"],
                "value": r.value,
                "gradient": r.gradient[:3].round(6).tolist(),
                "status": r.status.name,
            }
        )
    return told


def main() -> None:
    """Print one line of JSON for each figure, as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rows", type=int, nargs="*", default=[4_000_000])
    parser.add_argument("--n", type=int, nargs="*", default=[20_000])
    parser.add_argument("--exact", type=int, nargs="*", default=[])
    parser.add_argument("--whole", type=int, nargs="*", default=[])
    parser.add_argument("--cpu-limit", type=float, default=60.0)
    parser.add_argument("--beside", nargs="*", default=[], choices=["cpu", "random-features"])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")

    def tell(found: dict[str, object]) -> None:
        print(json.dumps(found), flush=True)
        if given.out is not None:
            with given.out.open("a") as file:
                file.write(json.dumps(found) + "\n")

    for n in given.n:
        for found in evidence_on(given.device, n):
            tell(found)
    spent = 0.0
    if given.exact:
        list(exact_on(given.device, 200))  # which loads the card's libraries
    for n in given.exact:
        for found in exact_on(given.device, n):
            tell(found)
        for found in exact_on("cpu", n) if spent < given.cpu_limit else ():
            spent = float(found["seconds"])
            tell(found)
            if spent > given.cpu_limit:
                break
    for rows in given.whole:
        tell(rows_on(given.device, rows))
    for rows in given.rows:
        tell(rows_on(given.device, rows))
        if "random-features" in given.beside:
            tell(random_features(rows))
        if "cpu" in given.beside:
            tell(rows_on("cpu", rows))


if __name__ == "__main__":
    main()
