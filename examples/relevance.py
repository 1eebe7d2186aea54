"""Which inputs matter

Friedman's function of ten inputs, of which the first five count. AutoSVC lets the length scales
part because the data pay for it; short scales are relevant inputs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from svmselect import AutoSVC


def friedman(n, seed):
    X, height = make_friedman1(n, n_features=10, noise=1.0, random_state=seed)
    return X, (height > 14.4).astype(int)


X, y = friedman(400, 0)
new = friedman(3000, 1)
apart = AutoSVC(random_state=0).fit(X, y)
alike = AutoSVC(ard="no", random_state=0).fit(X, y)
print(f"error on new rows: one length scale {1 - alike.score(*new):.1%}, "
      f"one for each input {1 - apart.score(*new):.1%}")  # fmt: skip

figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
order = np.arange(10)
colours = np.where(order < 5, "C0", "0.7")
ax.bar(order, apart.feature_importances_, color=colours)
ax.axhline(0.1, color="k", lw=0.8, ls=":")
ax.text(9.4, 0.105, "all alike", ha="right", va="bottom", fontsize="small")
ax.set_xticks(order, [f"x{a}" for a in order])
ax.set(title="Inputs that count (blue) and those that do not", ylabel="relevance")
plt.show()
