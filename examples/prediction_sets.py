"""
More than one answer, where there is more than one
==================================================

``predict_set`` gives every class that is still in question: one where the classes are apart, two or
all where they meet. Of new rows 90 % are to have their true class in the set.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_blobs

from svmselect import AutoSVC

centres = [(-2.0, 0.0), (2.0, 0.0), (0.0, 2.5)]
X, y = make_blobs(2240, centers=centres, cluster_std=1.3, random_state=0)
model = AutoSVC(random_state=0).fit(X[:240], y[:240])

levels = (0.2, 0.1, 0.02)
across, up = np.meshgrid(np.linspace(-6, 6, 160), np.linspace(-4.5, 7, 160))
plane = np.column_stack([across.ravel(), up.ravel()])
figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained", sharey=True)
for ax, alpha in zip(axes, levels, strict=True):
    sizes = model.predict_set(plane, alpha).sum(axis=1).reshape(across.shape)
    shades = ListedColormap(["white", "0.85", "0.65"])
    ax.contourf(across, up, sizes, levels=[0.5, 1.5, 2.5, 3.5], cmap=shades)
    ax.scatter(*X[:240].T, c=y[:240], s=10, cmap="tab10", vmax=9)
    sets = model.predict_set(X[240:], alpha)
    right = sets[np.arange(2000), y[240:]].mean()
    ax.set_title(f"at most {alpha:.0%} missed: {1 - right:.1%} were", loc="left")
    size = sets.sum(axis=1).mean()
    print(f"alpha {alpha:4}: {right:.3f} hold the true class, {size:.2f} classes")
figure.suptitle("White: one class is left. Light grey: two, dark grey: all three")
plt.show()
