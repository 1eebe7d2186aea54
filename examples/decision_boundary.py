"""Decision boundary and probabilities

Two moons, and what AutoSVC makes of them: the shade is the probability of the second class, the
line is where it is one half, and rings mark the support vectors.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from svmselect import AutoSVC

X, y = make_moons(300, noise=0.25, random_state=0)
model = AutoSVC(random_state=0).fit(X, y)
print(model.explain())

figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
shade = DecisionBoundaryDisplay.from_estimator(
    model, X, response_method="predict_proba", class_of_interest=1, ax=ax, cmap="RdBu_r",
    plot_method="pcolormesh", grid_resolution=150, vmin=0, vmax=1, alpha=0.8,
)  # fmt: skip
DecisionBoundaryDisplay.from_estimator(
    model, X, response_method="decision_function", ax=ax, plot_method="contour", levels=[0],
    colors="k", grid_resolution=150,
)  # fmt: skip
ax.scatter(*X.T, c=y, cmap="RdBu_r", s=18, edgecolors="w", linewidths=0.5)
ax.scatter(*model.support_vectors_.T, s=50, facecolors="none", edgecolors="k", linewidths=0.6)
figure.colorbar(shade.surface_, label="probability of class 1")
ax.set(title="AutoSVC on two moons", xlabel="first input", ylabel="second input")
plt.show()
