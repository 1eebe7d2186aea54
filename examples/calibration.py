"""Are the probabilities right?

Calibration curves on held-out rows of a noisy problem: of the rows that were given a probability of
0.8, eight in ten should be of the class. On the diagonal they are.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split

from svmselect import AutoKLR, AutoSVC

X, y = make_classification(
    4000, 8, n_informative=4, n_redundant=0, flip_y=0.1, class_sep=0.8, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=300, random_state=0)

models = {
    "AutoSVC": AutoSVC(random_state=0),
    "AutoKLR": AutoKLR(random_state=0),
    "GP classifier, untuned": GaussianProcessClassifier(random_state=0),
}
figure, ax = plt.subplots(figsize=(5, 4.6), layout="constrained")
for name, model in models.items():
    p = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    CalibrationDisplay.from_predictions(y_test, p, n_bins=10, name=name, ax=ax)
    print(f"{name:24} log loss {log_loss(y_test, p):.3f}, Brier {brier_score_loss(y_test, p):.3f}")
ax.set(title="Calibration on held-out rows")
plt.show()
