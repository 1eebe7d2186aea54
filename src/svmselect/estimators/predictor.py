"""What a fitted classifier answers: decision values, probabilities, labels, sets, exports."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from svmselect.estimators.card import of_model
from svmselect.estimators.decisions import threshold_of
from svmselect.estimators.given import dense, encoded
from svmselect.estimators.keeping import as_plain, from_plain
from svmselect.estimators.machines import Machines, from_dual_coef
from svmselect.estimators.opened import by_piece
from svmselect.estimators.posteriors import Posteriors
from svmselect.estimators.rest import Rest, against_rest
from svmselect.estimators.scaling import Scaling
from svmselect.kernels import Kernel
from svmselect.probability import sigmoid_log_probability, sigmoid_probability
from svmselect.probability.prediction_sets import check_alpha, least_probability, prediction_sets
from svmselect.probability.recalibration import Recalibration
from svmselect.probability.thresholds import decide
from svmselect.search.trace import Trace
from svmselect.selection.result import Selection
from svmselect.types import Array, BoolArray


class Predictor(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that has been fitted; subclasses fit it."""

    selection_: Selection

    def __getstate__(self) -> dict[str, Any]:
        """What is saved: plain values, and not the rows the choice was made on."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_judge", None)
        if isinstance(self.checkpoint, os.PathLike):
            state["checkpoint"] = os.fspath(self.checkpoint)
        if "selection_" in state:
            state["selection_"] = as_plain(state["selection_"])
        if "feature_names_in_" in state:  # one text: a file has a node for every other object
            state["feature_names_in_"] = json.dumps(state["feature_names_in_"].tolist())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Undo that."""
        if "selection_" in state:
            state = {**state, "selection_": from_plain(state["selection_"])}
        if isinstance(names := state.get("feature_names_in_"), str):
            state = {**state, "feature_names_in_": np.array(json.loads(names), dtype=object)}
        if "sharpness_" in state:  # a power, before it became a matrix
            state = {**state}
            power, k = state.pop("sharpness_"), len(state["classes_"])
            made = None if power == 1.0 else Recalibration.of_sharpness(power, k).table
            state["recalibration_"] = made
        super().__setstate__(state)
        if "selection_" in state:
            self._judge = self._unpacked()

    def _machines(self) -> Machines | Rest:
        k = len(self.classes_)
        member = np.repeat(np.arange(k), self.n_support_)
        if against_rest(self.dual_coef_, k):
            vectors = self._scaling(self.support_vectors_)
            return Rest(self._kernels[0], vectors, self.dual_coef_.T, self.intercept_)
        table = self.recalibration_
        return Machines(
            kernels=self._kernels,
            vectors=self._prepared(self.support_vectors_),
            coefficients=from_dual_coef(self.dual_coef_, member, k),
            intercepts=self.intercept_ if k == 2 else -self.intercept_,
            slopes=self.sigmoid_slope_,
            n_classes=k,
            recalibration=None if table is None else Recalibration(table),
        )

    def _unpacked(self) -> Machines | Rest | Posteriors:
        """What decides: the machines and their sigmoids, or the posteriors."""
        if self._posterior is None:
            return self._machines()
        return Posteriors.from_plain(self._posterior, self._kernels, len(self.classes_))

    @property
    def _kernels(self) -> tuple[Kernel, ...]:
        return self.kernel_ if isinstance(self.kernel_, tuple) else (self.kernel_,)

    @property
    def _scaling(self) -> Scaling:
        return Scaling.learned(self)

    def _encoded(self, X: Any) -> Any:
        """Rows as the matrix that the kernel sees before it is scaled (sparse ones stay sparse)."""
        check_is_fitted(self)
        return encoded(self, X)

    def _of_matrix(self, X: Any) -> Array:
        """Our own decision values of every pair, f > 0 for the later class, of encoded rows."""
        return self._judge.in_blocks(X, self._prepared, self.n_jobs)

    def _prepared(self, X: Any) -> Any:
        """Encoded rows as the machines look at them: scaled, or sparse if their vectors are."""
        if sparse.issparse(self.support_vectors_):
            return sparse.csr_matrix(X)
        return self._scaling(dense(X))

    def _logs(self, X: Any) -> Array:
        """Log-probabilities of encoded rows, averaged over the companions if there are any."""
        machines, f = self._judge, self._of_matrix(X)
        if machines.n_classes > 2:
            own = _log(machines.probabilities(f))
        else:
            slope = float(machines.slopes[0])
            sides = [sigmoid_log_probability(f[:, 0], one, 0.0) for one in (-slope, slope)]
            own = np.column_stack(sides)
        if not self.companions_:
            return own
        said = [own, *(companion._logs(X) for companion in self.companions_)]
        shares = np.log(self.weights_)
        return np.asarray(
            np.logaddexp.reduce([w + one for w, one in zip(shares, said, strict=True)])
        )

    def _probabilities(self, X: Any) -> Array:
        """Probabilities of encoded rows, averaged over the companions if there are any."""
        if not self.companions_:
            return self._judge.probabilities(self._of_matrix(X))
        if len(self.classes_) == 2:
            logs = self._logs(X)
            odds = logs[:, 1] - logs[:, 0]
            return np.column_stack([sigmoid_probability(odds, one, 0.0) for one in (1.0, -1.0)])
        said = [self._judge.probabilities(self._of_matrix(X))]
        said += [companion._probabilities(X) for companion in self.companions_]
        return np.asarray(sum(w * p for w, p in zip(self.weights_, said, strict=True)))

    @by_piece
    def decision_function(self, X: Any) -> Array:
        """Compute decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m,) or (m, k)
            Two classes: above zero means ``classes_[1]``, and p > 1/2. Three or more:
            log-probabilities of the classes, or the values of the pairs where
            ``decision_function_shape="ovo"``, above zero for the earlier class of a pair. Of
            several machines that are averaged: the log odds of the average, and for "ovo" the
            values of the heaviest.
        """
        X = self._encoded(X)
        if len(self.classes_) > 2:
            own = self.decision_function_shape == "ovo"
            return -self._of_matrix(X) if own else _log(self._probabilities(X))
        if self.companions_:
            logs = self._logs(X)
            return np.asarray(logs[:, 1] - logs[:, 0])
        return np.asarray(self._of_matrix(X)[:, 0])

    @by_piece
    def predict_proba(self, X: Any) -> Array:
        """Compute the probabilities of ``classes_``; the largest is the prediction.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m, k)
            The probabilities.
        """
        return self._probabilities(self._encoded(X))

    @by_piece
    def predict_log_proba(self, X: Any) -> Array:
        """Compute the logarithms of ``predict_proba``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m, k)
            The logarithms.
        """
        X = self._encoded(X)
        return _log(self._probabilities(X)) if len(self.classes_) > 2 else self._logs(X)

    @by_piece
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row, or the one that ``threshold`` asks for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m,)
            The labels.
        """
        check_is_fitted(self)
        if len(self.classes_) == 2 and self._utilities is None:
            return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(np.intp)])
        return self._labels(self.predict_proba(X))

    def _labels(self, probabilities: Array) -> NDArray[Any]:
        """What is predicted of rows with these probabilities."""
        if self._utilities is None:
            return np.asarray(self.classes_[probabilities.argmax(axis=1)])
        return np.asarray(self.classes_[decide(probabilities, self._utilities)])

    @by_piece
    def predict_set(self, X: Any, alpha: float = 0.1) -> BoolArray:
        """Predict a set of classes for each row, which holds the true one as often as it says.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            The rows.
        alpha : float, default 0.1
            How often the true class may be missed, on average over new rows.

        Returns
        -------
        ndarray of bool of shape (m, k)
            Whether each of ``classes_`` is in the row's set: those whose probability is not below
            what all but a share ``alpha`` of the held-out rows had for their own class, and the
            most probable one. A row that could be anything has them all.

        Notes
        -----
        Conformal prediction with held-out probabilities of all training rows, which allow for their
        folds having had a say in the hyperparameters; the final machine is taken to be as good as
        those of the folds, which have seen fewer rows. It asks that new rows come like the training
        rows did. The share is that of all rows together: of one class it may be less.

        References
        ----------
        Vovk, Gammerman & Shafer 2005; Sadinle, Lei & Wasserman 2019.
        """
        level = check_alpha(alpha)
        return self._sets(self.predict_proba(X), level)

    def _sets(self, probabilities: Array, alpha: float) -> BoolArray:
        """The prediction sets of rows with these probabilities."""
        if not self._given.shape[1]:
            raise ValueError(
                "the fit held out no rows in all classes at once, so there is nothing to base "
                "prediction sets on; fit with more max_time"
            )
        least = least_probability(self._given[0], self._given[1], alpha)
        return prediction_sets(probabilities, least)

    @property
    def threshold_(self) -> float | Array:
        """What ``threshold`` has come to."""
        check_is_fitted(self)
        if self._utilities is None:
            k = len(self.classes_)
            return 0.5 if k == 2 else np.eye(k)
        return threshold_of(self._utilities)

    @property
    def trace_(self) -> Trace:
        """Every evaluation of the search."""
        kept = vars(self).get("selection_")
        if kept is None:
            raise AttributeError(f"this {type(self).__name__} is not fitted, so it has no trace")
        trace: Trace = kept.trace
        return trace

    def explain(self) -> str:
        """Tell what was chosen, why, what it cost, and what to try next, in words.

        Returns
        -------
        str
            The text.
        """
        from svmselect.estimators.words import explanation

        check_is_fitted(self)
        return explanation(self)

    def to_sklearn(self) -> Any:
        """Make a plain pipeline of a StandardScaler and an SVC with the same decision values.

        Where skewed columns are bent, a PowerTransformer does it first.

        Returns
        -------
        Pipeline
            The pipeline, fitted.

        Raises
        ------
        ValueError
            For what no SVC does: another kernel, averages over machines (``averaging=False`` takes
            one) or over a posterior.
        """
        from svmselect.estimators.export import to_pipeline

        check_is_fitted(self)
        return to_pipeline(self)

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the model as an ONNX graph, for ONNX Runtime and other languages.

        Parameters
        ----------
        path : path-like
            The file.

        Notes
        -----
        The graph has everything from raw rows to predictions: one float64 input ``X`` of shape
        (rows, inputs), and the outputs ``label``, of shape (rows,), and ``probabilities``, of shape
        (rows, classes), in the order of ``classes_``. It needs the extra ``onnx``; whoever runs it
        needs a runtime for opset 18, such as ONNX Runtime from 1.18 on.
        """
        from svmselect.estimators.onnx.model import to_onnx

        check_is_fitted(self)
        to_onnx(self, path)

    def _repr_html_inner(self) -> str:
        """What was chosen, above scikit-learn's picture of the estimator."""
        return of_model(self) + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """The same, for those who ask this way."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = of_model(self) + bundle["text/html"]
        return bundle


def of_encoded(model: Predictor, X: Array) -> Array:
    """Probabilities of rows that are encoded already: those of ``predict_proba``."""
    return model._probabilities(X)


def _log(p: Array) -> Array:
    """log p, its largest entry that of p, even where logarithms round to a tie."""
    logs = np.log(p)
    rows, best = np.arange(len(p)), p.argmax(axis=1)
    top = logs.max(axis=1)
    tied = logs.argmax(axis=1) != best
    logs[rows[tied], best[tied]] = np.nextafter(top[tied], np.inf)
    return np.asarray(logs)
