"""The landscape of a criterion

The cross-validated likelihood over log C and the log length scale, with the paths of a gradient
search from four starts. They end in different local optima, which is why several starts, or a
coarse look first, are worth their time. Beside it the cross-validation error, which a grid search
looks at: terraces. Yellow is better.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from svmselect import score, select
from svmselect.kernels import RBF

X, y = make_moons(150, noise=0.3, random_state=0)
C, width = np.geomspace(1e-2, 1e4, 20), np.geomspace(0.1, 10, 20)
chosen = select(
    X, y, "likelihood", search="lbfgs", kernel=RBF(1.0), n_starts=4, random_state=0,
    bounds={"C": (1e-2, 1e4), "rbf.length_scale": (0.1, 10)},
)  # fmt: skip
print(f"{len(chosen.trace)} evaluations in {len(chosen.outcomes)} runs")
for record in chosen.optima:
    print(f"optimum {record.value:.4f} at", {k: f"{v:.3g}" for k, v in record.parameters.items()})

figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for ax, name, colours in zip(
    axes, ("likelihood", "cv-error"), ("viridis", "viridis_r"), strict=True
):
    value = [
        [score(X, y, name, C=c, kernel=RBF(w), random_state=0).value for c in C] for w in width
    ]
    levels = np.unique(np.quantile(value, np.linspace(0, 1, 25)))
    drawn = ax.contourf(C, width, value, levels=levels, cmap=colours)
    figure.colorbar(drawn, ax=ax, format="%.2f")
    ax.set(xscale="log", yscale="log", xlabel="C", title=name)
for run in chosen.trace.runs.values():
    axes[0].plot(*np.exp([record.point for record in run]).T, "w.-", lw=0.8, ms=4)
axes[0].plot(chosen.C, chosen.kernel.length_scale, "r*", ms=12)
axes[0].set_ylabel("length scale")
plt.show()
