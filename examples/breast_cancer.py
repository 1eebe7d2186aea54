"""Train a support vector machine on scikit-learn's breast-cancer data and report how it went."""

import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from svmselect.kernels import RBF
from svmselect.machine import solve


def main() -> None:
    X, target = load_breast_cancer(return_X_y=True)
    y = np.where(target == 1, 1.0, -1.0)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=0
    )
    scaler = StandardScaler().fit(X_train)
    X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

    kernel = RBF(length_scale=5.0)
    start = time.perf_counter()
    solution = solve(kernel(X_train), y_train, C=10.0)
    elapsed = time.perf_counter() - start

    decision = kernel(X_test, X_train) @ solution.beta + solution.intercept
    error = np.mean(np.sign(decision) != y_test)
    support = np.count_nonzero(solution.alpha)
    print("breast cancer, RBF kernel, length scale 5, C = 10")
    print(f"  held-out error    {error:.1%} of {len(y_test)} rows")
    print(f"  support vectors   {support} of {len(y_train)} rows")
    print(f"  duality gap       {solution.gap:.1e}")
    print(f"  kernel and solve  {1000 * elapsed:.1f} ms")


if __name__ == "__main__":
    main()
