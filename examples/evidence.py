"""
The evidence, approximated and sampled
======================================

The log evidence per point along C by three methods. Laplace's expansion around the trained machine
is a first look; expectation propagation lies on the sampled values.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from svmselect import score
from svmselect.kernels import RBF, Constant

X, y = make_moons(100, noise=0.3, random_state=0)
kernel = Constant(4.0) * RBF(0.7) + Constant(0.1)

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, points in (("laplace", 25), ("evidence-ep", 25), ("evidence-hmc", 7)):
    grid = np.geomspace(0.1, 10, points)
    began = time.perf_counter()
    scores = [score(X, y, name, C=C, kernel=kernel, fit_intercept=False) for C in grid]
    spent = time.perf_counter() - began
    values = [s.value for s in scores]
    if name == "evidence-hmc":
        bars = [2 * s.stderr for s in scores]
        ax.errorbar(grid, values, yerr=bars, fmt="ko", ms=4, capsize=3, label="sampled, ± 2 se")
    else:
        ax.plot(grid, values, label=name)
    print(f"{name:12} {1000 * spent / points:7.1f} ms a value")
ax.set(
    xscale="log", xlabel="C", ylabel="log evidence per point", title="Three ways to the evidence"
)
ax.legend()
plt.show()
