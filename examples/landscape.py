"""
The landscape of a criterion
============================

The cross-validated likelihood over C and the length scale, with the paths of a gradient search from
four starts: they can end in different local optima, which is why several starts, or a coarse look
first, are worth their time. Beside it the cross-validation error on the same folds, which a grid
search looks at: terraces.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from svmselect import select
from svmselect.kernels import RBF
from svmselect.plots import LandscapeDisplay

X, y = make_moons(150, noise=0.3, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for ax, name, search in zip(axes, ("likelihood", "cv-error"), ("lbfgs", "cma-es"), strict=True):
    chosen = select(
        X, y, name, search=search, kernel=RBF(1.0), n_starts=4, random_state=0,
        bounds={"C": (1e-2, 1e4), "rbf.length_scale": (0.1, 10)},
    )  # fmt: skip
    LandscapeDisplay.from_selection(chosen, ax=ax)
    ax.set_title(name)
    print(f"{name}, {search}: {len(chosen.trace)} evaluations in {len(chosen.outcomes)} runs")
    for record in chosen.optima:
        at = ", ".join(f"{key} = {value:.3g}" for key, value in record.parameters.items())
        print(f"  optimum {record.value:.4f} at {at}")
plt.show()
