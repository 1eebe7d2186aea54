"""
Where to draw the line
======================

The most probable class is the right answer only where all errors cost the same. Held-out
probabilities, which every fit has, show what another threshold would do, and ``threshold=`` takes
the one that a metric or a matrix of costs asks for. Nothing is trained twice.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import train_test_split

from svmselect import AutoSVC

X, y = make_classification(
    4000, 6, n_informative=4, weights=[0.85], flip_y=0.05, class_sep=0.8, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, train_size=400, stratify=y, random_state=0
)
costs = np.array([[0, 1], [8, 0]])  # rows: the true class; a miss costs eight false alarms


def cost(truth, told):
    """What a row costs on average."""
    return costs[truth, told].mean()


wanted = {
    "balanced_accuracy": ("balanced accuracy", balanced_accuracy_score),
    "f1": ("F1", f1_score),
    "costs": ("cost a row", cost),
}
grid = np.linspace(0.01, 0.99, 99)
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained", sharex=True)
for ax, (name, (label, metric)) in zip(axes, wanted.items(), strict=True):
    threshold = costs if name == "costs" else name
    model = AutoSVC(threshold=threshold, random_state=0).fit(X_train, y_train)
    seen = {
        "held out": (y_train, model.held_out_proba_[:, 1]),
        "new rows": (y_test, model.predict_proba(X_test)[:, 1]),
    }
    for rows, (truth, p) in seen.items():
        ax.plot(grid, [metric(truth, (p > t).astype(int)) for t in grid], label=rows)
    ax.axvline(model.threshold_, color="k", lw=1, label=f"chosen: {model.threshold_:.2f}")
    ax.axvline(0.5, color="0.7", lw=1, ls="--", label="most probable class")
    ax.set(title=label, xlabel="probability above which class 1 is predicted")
    after = metric(y_test, model.predict(X_test))
    before = metric(y_test, (seen["new rows"][1] > 0.5).astype(int))
    print(f"{label:18} {before:.3f} by the most probable class, {after:.3f} by the threshold")
axes[0].legend()
plt.show()
