"""
A tour
======

From a table as people keep them, with words and gaps, to a model, what is known of it, and what to
do with it.
"""

# %%
# A table
# -------
#
# Six hundred patients, made up: skewed numbers, words, gaps, and a column that says nothing.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.inspection import permutation_importance

from svmselect import AutoClassifier
from svmselect.plots import CalibrationDisplay

rng = np.random.default_rng(0)
n = 600
patients = pd.DataFrame(
    {
        "age": rng.integers(20, 90, n),
        "pressure": rng.lognormal(4.8, 0.2, n).round(1),
        "smoker": rng.choice(["yes", "no", None], n, p=[0.3, 0.6, 0.1]),
        "ward": rng.choice(["north", "south", "west"], n),
    }
)
risk = patients["age"] / 15 + patients["pressure"] / 25
risk += 2.0 * (patients["smoker"] == "yes")
ill = np.where(risk + rng.normal(size=n) > 9.0, "ill", "well")
patients.loc[rng.random(n) < 0.1, "pressure"] = np.nan
print(patients.head(4))

# %%
# Fit
# ---
#
# Nothing to encode, to scale, to fill in or to tune. In a notebook the fitted model shows itself as
# a card:

model = AutoClassifier(random_state=0)
model.fit(patients[:300], ill[:300])

# %%
# What was chosen, and why, in words:

print(model.explain())

# %%
# How good is it?
# ---------------
#
# The error expected of new rows, against that on the three hundred that took no part; and whether
# a probability of 0.8 is right in eight of ten rows.

print(f"expected {model.selection_.error.error:.1%}")
print(f"on new rows {1 - model.score(patients[300:], ill[300:]):.1%}")
CalibrationDisplay.from_estimator(model, patients[300:], ill[300:])
plt.show()

# %%
# Which columns count?
# --------------------
#
# scikit-learn's tools take the model as they take any other: the column is shuffled, and the errors
# are counted.

told = permutation_importance(model, patients[300:], ill[300:], n_repeats=10, random_state=0)
for name, loss in zip(patients, told.importances_mean, strict=True):
    print(f"{name:10} without it {max(loss, 0.0):.1%} more errors")

# %%
# Decide
# ------
#
# A class for each row, its probability, or all classes that are still in question: sets that hold
# the true one in nine of ten new rows.

new = patients[302:308]
for label, p, both in zip(
    model.predict(new), model.predict_proba(new)[:, 0], model.predict_set(new, 0.1), strict=True
):
    print(f"{label:5} ill with probability {p:.2f}, not excluded: {model.classes_[both].tolist()}")

# %%
# Go on
# -----
#
# ``svmselect.save`` writes the model, ``model.to_onnx`` writes it for runtimes without Python, and
# ``svmselect.report`` makes a page of what you have seen here and more, as does ``svmselect fit``
# on the command line.
