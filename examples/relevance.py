"""
Which inputs matter
===================

Friedman's function of ten inputs, of which the first five count. AutoSVC lets the length scales
part because the data pay for it; short scales are relevant inputs.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1

from svmselect import AutoSVC
from svmselect.plots import LengthScaleDisplay


def friedman(n, seed):
    X, height = make_friedman1(n, n_features=10, noise=1.0, random_state=seed)
    return X, (height > 14.4).astype(int)


X, y = friedman(400, 0)
new = friedman(3000, 1)
apart = AutoSVC(random_state=0).fit(X, y)
alike = AutoSVC(ard="no", random_state=0).fit(X, y)
for name, model in {"one length scale": alike, "one for each input": apart}.items():
    print(f"{name:18} error on new rows {1 - model.score(*new):.1%}")

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
names = [f"x{a}" + (" (no effect)" if a >= 5 else "") for a in range(10)]
LengthScaleDisplay.from_estimator(apart, names=names, ax=axes[0])
LengthScaleDisplay.from_estimator(apart, names=names, kind="length_scale", ax=axes[1])
plt.show()
