"""
Decision boundaries
===================

What AutoClassifier makes of three problems in the plane: the deeper the shade, the surer the
prediction; the line is where two classes are equally probable.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris, make_circles, make_moons

from svmselect import AutoClassifier
from svmselect.plots import DecisionBoundaryDisplay

flowers, kinds = load_iris(return_X_y=True)
problems = {
    "two moons": make_moons(200, noise=0.25, random_state=0),
    "two circles": make_circles(200, noise=0.15, factor=0.5, random_state=0),
    "three irises": (flowers[:, 2:], kinds),
}
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
for ax, (name, (X, y)) in zip(axes, problems.items(), strict=True):
    model = AutoClassifier(random_state=0).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(name)
    print(
        f"{name:12} {len(model.weights_)} machines are averaged, the first with C = {model.C_:.3g}"
    )
plt.show()
