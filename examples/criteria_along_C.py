"""
Criteria side by side along C
=============================

Six criteria on the same problem as C varies, each scaled to its own range so that lower is better,
above the error on 5,000 new rows. The dots are what each would choose; two of the criteria that are
computed from a single machine run away to large C here.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from svmselect import score
from svmselect.datasets import half_relevant
from svmselect.kernels import RBF, Constant

X, y = half_relevant(150, random_state=3)
X_test, y_test = half_relevant(5000, random_state=4)
grid = np.geomspace(1e-2, 1e3, 26)
length = 4.0
error = [1 - SVC(C=C, gamma=1 / (2 * length**2)).fit(X, y).score(X_test, y_test) for C in grid]

figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(7, 5.5), sharex=True, height_ratios=[2, 1], layout="constrained"
)
for name in ("likelihood", "cv-error", "gacv", "span", "kric", "evidence-ep"):
    free = name != "evidence-ep"
    kernel = RBF(length) if free else Constant(1.0) * RBF(length) + Constant(0.1)
    scores = [score(X, y, name, C=C, kernel=kernel, fit_intercept=free) for C in grid]
    value = np.array([-s.value if s.greater_is_better else s.value for s in scores])
    best = value.argmin()
    value = (value - value.min()) / np.quantile(value - value.min(), 0.9)
    (line,) = top.plot(grid, value, label=name, lw=1.4)
    top.plot(grid[best], 0, "o", color=line.get_color(), clip_on=False)
    print(f"{name:12} chooses C = {grid[best]:8.3g}: error on new rows {error[best]:.3f}")
top.set(ylim=(-0.03, 1.2), ylabel="criterion, scaled", title="Lower is better")
top.legend(fontsize="small", ncols=2)
bottom.plot(grid, error, "k", lw=1.4)
bottom.set(xscale="log", xlabel="C", ylabel="error on new rows")
plt.show()
