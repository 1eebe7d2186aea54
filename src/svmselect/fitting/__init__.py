"""From data to a fitted classifier: rows and folds, the choice, pairwise machines, probabilities.

``svmselect.estimators`` wraps this in scikit-learn's interface.
"""
