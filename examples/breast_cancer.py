"""A classifier that tunes itself

scikit-learn's breast-cancer data: a few hundred rows of thirty inputs, some of them near copies of
others. AutoSVC, with nothing to choose, beside an untuned SVC.
"""

import time

from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from svmselect import AutoSVC


def main() -> None:
    data = load_breast_cancer(as_frame=True)
    labels = data.target_names[data.target]
    X_train, X_test, y_train, y_test = train_test_split(
        data.data, labels, test_size=0.3, stratify=labels, random_state=0
    )
    start = time.perf_counter()
    model = AutoSVC(random_state=0).fit(X_train, y_train)
    elapsed = time.perf_counter() - start
    plain = make_pipeline(StandardScaler(), SVC()).fit(X_train, y_train)

    print(model.explain())
    print()
    print(f"held-out error        {1 - model.score(X_test, y_test):.1%} of {len(y_test)} rows")
    print(f"  of an untuned SVC   {1 - plain.score(X_test, y_test):.1%}")
    print(f"held-out log loss     {log_loss(y_test, model.predict_proba(X_test)):.3f}")
    print(f"seconds to fit        {elapsed:.2f}")


if __name__ == "__main__":
    main()
