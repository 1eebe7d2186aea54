"""
A classifier that tunes itself
==============================

scikit-learn's breast-cancer data: a few hundred rows of thirty inputs, some of them near copies of
others. AutoClassifier, with nothing to choose, on five random splits; one split of so few rows says
little. The data are easy: an untuned SVC errs about as often, but has no probabilities.
"""

import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from svmselect import AutoClassifier

data = load_breast_cancer(as_frame=True)
labels = data.target_names[data.target]
errors, losses, seconds = [], [], []
for split in range(5):
    X_train, X_test, y_train, y_test = train_test_split(
        data.data, labels, test_size=0.3, stratify=labels, random_state=split
    )
    start = time.perf_counter()
    model = AutoClassifier(random_state=0).fit(X_train, y_train)
    seconds.append(time.perf_counter() - start)
    plain = make_pipeline(StandardScaler(), SVC()).fit(X_train, y_train)
    errors.append([1 - model.score(X_test, y_test), 1 - plain.score(X_test, y_test)])
    losses.append(log_loss(y_test, model.predict_proba(X_test)))

print(model.explain())
print()
tuned, untuned = np.mean(errors, axis=0)
print(f"held-out error        {tuned:.1%}")
print(f"  of an untuned SVC   {untuned:.1%}")
print(f"held-out log loss     {np.mean(losses):.3f}")
print(f"seconds to fit        {np.mean(seconds):.2f}")
