"""AutoSVC and AutoKLR: classifiers that choose their own hyperparameters, for scikit-learn."""

from __future__ import annotations

from typing import Any

from svmselect.estimators.base import AutoMachine


class AutoSVC(AutoMachine):
    """A support vector machine that needs no hyperparameters.

    ``AutoSVC().fit(X, y)`` standardises the inputs, chooses C, the width of a Gaussian kernel and
    how far its length scales may part by the cross-validated likelihood, and gives probabilities
    that agree with its predictions. More than two classes go one against one. Where the likelihood
    does not say, C near 1 and a width near the median distance between rows are preferred; up to
    1000 rows are split into folds twice.

    kernel : "auto", a name, a kernel of ``svmselect.kernels`` or of scikit-learn's Gaussian
        processes, or a list of them to compare.
    criterion, search, prior : "auto", or as in ``svmselect.select``.
    ard : one length scale an input: "auto" (if it pays), "yes" or "no".
    loss : "hinge" or "squared_hinge".
    standardize : whether the inputs are standardised, for kernels that need it.
    cv : a number of stratified folds, a splitter, or ready splits; ``groups`` given to ``fit`` are
        kept together.
    scoring : None (the likelihood decides), or a scorer that decides among the finalists.
    class_weight : None, "balanced" or a dict. ``sample_weight`` given to ``fit`` counts copies.
    multi_class : "ovo", hyperparameters shared by all pairs of classes, or "ovo-separate".
    decision_function_shape : for three classes or more: "ovr", log-probabilities of the classes,
        or "ovo", the decision values of the pairs.
    probability : where ``predict_proba`` comes from: "sigmoid", one fitted to held-out decision
        values; "posterior", the average over the posterior of the evidence model (at most 3000
        rows; decision values are then log odds); "auto", what serves held-out rows better.
    max_time : seconds for the search. n_jobs : workers, as joblib counts them.
    warm_start : begin the search where the last fit ended.
    verbose : 1 logs the result, 2 every evaluation, to the logger "svmselect".

    After ``fit``: ``C_``, ``kernel_`` and ``length_scale_`` (in units of the standardised inputs),
    ``feature_importances_``, ``best_score_``, ``best_params_``, ``trace_``, ``classes_``,
    ``support_``, ``support_vectors_`` (in the units of X), ``dual_coef_``, ``intercept_``,
    ``n_support_``, ``mean_``, ``scale_``; ``explain()`` tells it in words.
    """

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        criterion: Any = "auto",
        search: Any = "auto",
        ard: str | bool = "auto",
        prior: Any = "auto",
        loss: str = "hinge",
        standardize: bool = True,
        cv: Any = 5,
        scoring: Any = None,
        class_weight: Any = None,
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        probability: str = "sigmoid",
        max_time: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.criterion = criterion
        self.search = search
        self.ard = ard
        self.prior = prior
        self.loss = loss
        self.standardize = standardize
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.probability = probability
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    def _loss(self) -> str:
        if self.loss not in ("hinge", "squared_hinge"):
            hint = "; for 'logistic' use AutoKLR" if self.loss == "logistic" else ""
            raise ValueError(f"loss={self.loss!r} is not 'hinge' or 'squared_hinge'{hint}")
        return self.loss


class AutoKLR(AutoMachine):
    """Kernel logistic regression that needs no hyperparameters: ``AutoSVC`` with another loss.

    Every row is a support vector; all else, parameters included, is as in ``AutoSVC``.
    """

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        criterion: Any = "auto",
        search: Any = "auto",
        ard: str | bool = "auto",
        prior: Any = "auto",
        standardize: bool = True,
        cv: Any = 5,
        scoring: Any = None,
        class_weight: Any = None,
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        probability: str = "sigmoid",
        max_time: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.criterion = criterion
        self.search = search
        self.ard = ard
        self.prior = prior
        self.standardize = standardize
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.probability = probability
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    def _loss(self) -> str:
        return "logistic"
