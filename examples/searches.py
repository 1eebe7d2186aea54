"""
How fast do the searches come down?
===================================

The cross-validated likelihood of a kernel with a length scale for each of ten inputs: eleven
hyperparameters. With the gradient some tens of evaluations are enough; without it, hundreds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from svmselect import select
from svmselect.kernels import RBF

X, height = make_friedman1(200, n_features=10, noise=1.0, random_state=0)
X, y = (X - X.mean(0)) / X.std(0), height > 14.4
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name in ("lbfgs", "irprop", "gradient-ascent", "random-walk", "cma-es"):
    chosen = select(
        X, y, "likelihood", search=name, kernel=RBF([4.0] * 10), prior="integrated",
        budget=300, random_state=0,
    )  # fmt: skip
    best = np.minimum.accumulate(chosen.trace.losses)
    ax.plot(1 + np.arange(len(best)), best, label=name, lw=1.4)
    print(f"{name:16} {best[-1]:.5f} after {len(best):3} evaluations, {chosen.trace.seconds:.2f} s")
ax.set(xscale="log", xlabel="evaluations", ylabel="best so far", title="Eleven hyperparameters")
ax.legend()
plt.show()
