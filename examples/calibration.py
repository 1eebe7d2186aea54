"""
Are the probabilities right?
============================

Calibration curves on held-out rows of a noisy problem: of the rows that were given a probability of
0.8, eight in ten should be of the class. On the diagonal they are. Bars are 95 % intervals.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.model_selection import train_test_split

from svmselect import AutoClassifier, AutoSVC
from svmselect.plots import CalibrationDisplay

X, y = make_classification(
    4000, 8, n_informative=4, n_redundant=0, flip_y=0.1, class_sep=0.8, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=300, random_state=0)

models = {
    "AutoClassifier": AutoClassifier(random_state=0),
    "AutoSVC": AutoSVC(random_state=0),
    "Gaussian process, untuned": GaussianProcessClassifier(random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    shown = CalibrationDisplay.from_estimator(model.fit(X_train, y_train), X_test, y_test, ax=ax)
    ax.set_title(f"{name}\n{ax.get_title(loc='left')}", loc="left", fontsize="small")
    print(f"{name:26} log loss {shown.data.log_loss:.3f}")
plt.show()
