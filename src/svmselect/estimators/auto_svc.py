"""AutoSVC: a support vector machine that chooses its own hyperparameters."""

from __future__ import annotations

from typing import Any

from svmselect.estimators.base import AutoMachine


class AutoSVC(AutoMachine):
    """A support vector machine that needs no hyperparameters.

    ``AutoSVC().fit(X, y)`` standardises the inputs, chooses C, the parameters of the kernel and how
    far its length scales may part by the cross-validated likelihood, and gives probabilities that
    agree with its predictions. More than two classes go one against one.

    Parameters
    ----------
    kernel : str, kernel or list of either, default "auto"
        "auto" is a Gaussian; a name, a kernel of ``svmselect.kernels`` or of scikit-learn's
        Gaussian processes; or a list of them, which are compared.
    criterion : str or Criterion, default "auto"
        What is looked at: "auto" is "likelihood"; otherwise as in ``select``.
    search : str or Search, default "auto"
        How the best point is looked for: "auto" is "gauss-newton" in the default strategy,
        otherwise "lbfgs" where the criterion has a gradient and "cma-es" where it has none;
        otherwise as in ``select``.
    ard : {"auto", "yes", "no"} or bool, default "auto"
        Whether each input has a length scale of its own: "auto" if it pays; without the default
        strategy, if the prior is one that ties them together.
    prior : str, Prior, callable or None, default "auto"
        "auto" is that of the default strategy; with a criterion or search that is named, it ties
        the length scales together where ``ard="yes"`` and is flat otherwise. Anything else is as in
        ``select``.
    loss : {"hinge", "squared_hinge"}, default "hinge"
        The loss.
    standardize : {"auto", True, False}, default "auto"
        Whether the inputs are standardised, for kernels that need it; "auto" also bends those that
        lean to one side, by Yeo and Johnson's function, until they lean no more, and leaves those
        that share a unit, such as pixels, in one where held-out rows are told better so.
    averaging : {"auto", True, False}, default False
        Whether the machines of several kernels are averaged by their marginal likelihood, instead
        of taking the best; attributes such as ``C_`` and ``kernel_`` are those of the heaviest.
    missing : {"auto", "error", "impute"}, default "auto"
        Gaps (NaN, None) in X: "auto" fills in the median, with a column that says so where that
        pays, or makes them a level of a category; "impute" fills in the median or the most
        frequent level and forgets about it; "error" refuses them.
    cv : int, splitter or iterable, default 5
        A number of stratified folds, a splitter, or ready splits. ``groups`` given to ``fit`` are
        kept together.
    scoring : str, callable or None, default None
        None: the criterion decides. Otherwise a scorer that decides among the finalists.
    threshold : str, callable or array-like of shape (k, k), default "argmax"
        What ``predict`` makes of the probabilities. "argmax": the most probable class. The name of
        a metric of predictions, such as "balanced_accuracy" or "f1", or a scorer: the threshold, of
        more than two classes a factor for each, that is best on held-out rows. A matrix of costs,
        true classes in rows and predictions in columns: the prediction of least expected cost.
    class_weight : dict, "balanced" or None, default None
        As in scikit-learn. ``sample_weight`` given to ``fit`` counts copies.
    rare : {"keep", "drop", "merge"}, default "keep"
        Classes of so few rows that folds cannot hold one out and train on another: "keep" chooses
        without them and adds their machines afterwards; "drop" leaves out classes of one or two
        rows; "merge" makes one class of these.
    multi_class : {"auto", "ovo", "ovo-separate"}, default "auto"
        Whether all pairs of classes share the hyperparameters, as "auto" has it, or each pair has
        its own.
    decision_function_shape : {"ovr", "ovo"}, default "ovr"
        What ``decision_function`` gives for three classes or more: log-probabilities of the
        classes, or the decision values of the pairs.
    probability : {"sigmoid", "posterior", "moderated", "auto"}, default "sigmoid"
        Where ``predict_proba`` comes from: a sigmoid fitted to held-out decision values; the
        average over the posterior of the evidence model (at most 3000 rows; decision values are
        then log odds); Kwok's moderated output, the average over a posterior around the machine
        (hinge, likewise); or what serves held-out rows better of the first two.
    device : str, default "cpu"
        Where exact machines of more than 3,000 rows and passes over many are computed: "cpu", or
        "cuda" (also "cuda:1") through torch, which the extra ``svmselect[gpu]`` brings. What has no
        form there stays on the CPU, as all does where there is no card, and a note says so.
    max_time : float, optional
        Seconds for the search.
    n_jobs : int, optional
        Workers, as joblib counts them; the result does not depend on it.
    random_state : int, RandomState or None, default None
        Seed of folds and searches.
    warm_start : bool, default False
        Whether the search of the default strategy begins where the last fit ended.
    checkpoint : path-like, optional
        A file of JSON lines that every evaluation is written to; ``fit`` with the same file, data
        and settings goes on where a killed one ended, and ends where it would have, bit for bit.
    verbose : int, default 0
        1 draws a bar, in a terminal or a notebook, and tells what was chosen; 2 also tells every
        evaluation. The words go to standard error, or to the logger "svmselect" where logging is
        set up for its level INFO.

    Attributes
    ----------
    selection_ : Selection
        What was chosen, how, and what is known of it: the ``svmselect.Selection`` that ``explain``,
        reports and plots are views of.
    C_ : float or ndarray
        The penalty; of each pair of classes for ``multi_class="ovo-separate"``.
    kernel_ : Kernel or tuple of Kernel
        The kernel, or one a pair.
    length_scale_ : float, tuple or None
        Its length scale or scales, in units of the standardised inputs.
    feature_importances_ : ndarray of shape (d,)
        How much each input matters to the kernel.
    best_score_ : float
        The criterion's value.
    best_params_ : dict
        The chosen hyperparameters by name.
    trace_ : Trace
        Every evaluation of the search.
    classes_ : ndarray
        The labels.
    held_out_proba_ : ndarray of shape (n, k)
        Probabilities of ``classes_`` for the rows of the fit, in their order, by machines that did
        not see them; their mean for a row that was held out several times, NaN for one that never
        was: of weight 0, left out by ``cv``, or not among those kept apart from many rows.
    threshold_ : float or ndarray of shape (k, k)
        What ``threshold`` has come to: the probability above which ``classes_[1]`` is predicted; of
        more than two classes a matrix by which ``predict_proba`` is multiplied, the largest column
        being the prediction.
    support_ : ndarray of int
        The support vectors' rows.
    support_vectors_ : ndarray
        The support vectors, in the units of X.
    n_support_ : ndarray of int
        How many there are of each class.
    dual_coef_, intercept_ : ndarray
        Their coefficients and the intercepts, as ``SVC`` has them.
    mean_, scale_ : ndarray of shape (d,)
        What is subtracted from the inputs, and what they are divided by.
    bend_ : ndarray of shape (3, d) or None
        Origin, unit and power by which inputs are bent before that; power 1 is none.
    companions_, weights_ : list, ndarray
        The other machines that are averaged, and what each counts, beginning with this one.
    recalibration_ : ndarray of shape (k, k + 1) or None
        What the logarithms of the probabilities of three classes or more are multiplied by, and in
        the last column what is added, before they are made to sum to one again.

    Notes
    -----
    The default strategy decides where the criterion is "auto" or "likelihood", the search "auto" or
    "gauss-newton" and the prior "auto"; it serves any kernel or list of kernels. What it maximises
    is ``1/n sum_i log p(y_i | f_i)``, the f_i held out, under a vague prior: where the likelihood
    does not say, C near 1 and length scales near the median distance between rows are preferred,
    and other parameters of the kernel near the values given. So a kernel object says which form is
    searched: its length scales are found from the data, beginning with one for all inputs. First a
    coarse path over widths and C on two of the folds, then a few steps of Gauss and Newton; then it
    looks at whether a length scale for each input would pay, and tries it if it may. Of several
    kernels that with the highest marginal likelihood is taken, with one more unit of log-likelihood
    asked of it for each parameter.

    With any other criterion, search or prior the choice is that of ``select``: a search that
    follows gradients has four starts, from the data for kernels given by name and from the kernel's
    own parameters for kernel objects; ``ard`` is for kernels given by name.

    Up to 1000 rows are split into folds twice. Up to 3000 rows everything is exact, in O(n^2)
    memory, at one training a fold for each evaluation. Beyond that the hyperparameters are chosen
    on subsets; for a pair of classes with more than 10,000 rows the final machine has the features
    of m landmarks, at most 1000, in O(n m) memory.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from svmselect import AutoSVC
    >>> X, y = make_moons(100, noise=0.25, random_state=0)
    >>> model = AutoSVC(random_state=0).fit(X, y)
    >>> model.predict([[0.0, 1.0], [1.0, -0.5]])
    array([0, 1])
    >>> model.selection_.criterion, model.selection_.status.ok
    ('likelihood', True)
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
        standardize: str | bool = "auto",
        averaging: str | bool = False,
        missing: str = "auto",
        cv: Any = 5,
        scoring: Any = None,
        threshold: Any = "argmax",
        class_weight: Any = None,
        rare: str = "keep",
        multi_class: str = "auto",
        decision_function_shape: str = "ovr",
        probability: str = "sigmoid",
        device: str = "cpu",
        max_time: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        checkpoint: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.criterion = criterion
        self.search = search
        self.ard = ard
        self.prior = prior
        self.loss = loss
        self.standardize = standardize
        self.averaging = averaging
        self.missing = missing
        self.cv = cv
        self.scoring = scoring
        self.threshold = threshold
        self.class_weight = class_weight
        self.rare = rare
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.probability = probability
        self.device = device
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _losses(self) -> tuple[str, ...]:
        if self.loss not in ("hinge", "squared_hinge"):
            hint = "; for 'logistic' use AutoKLR" if self.loss == "logistic" else ""
            raise ValueError(f"loss={self.loss!r} is not 'hinge' or 'squared_hinge'{hint}")
        return (self.loss,)
