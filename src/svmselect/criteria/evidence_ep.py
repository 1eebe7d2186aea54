"""The exact evidence by expectation propagation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svmselect.criteria.base import IN_THE_KERNEL, PENALISED, Context, Criterion, Verdict, every
from svmselect.devices import check_device
from svmselect.kernels import Kernel
from svmselect.posterior.approximation import EP
from svmselect.posterior.curvature import evidence_hessian
from svmselect.posterior.ep import propagate
from svmselect.posterior.on_device import evidence_on
from svmselect.types import Array, IntArray, Sensitivity


@dataclass(frozen=True)
class EvidenceEP(Criterion):
    """The log evidence per point, by Gaussian factors that match every point's moments.

    Parameters
    ----------
    device : {"cpu", "cuda"}, default "cpu"
        Where matrices are made and computed; "cuda" needs torch.
    rank : int, optional
        Take a low-rank prior from that many landmarks, O(n r^2) a sweep.
    normalised : bool, default False
        Divide each likelihood by its sum over both labels, and drop kappa: then a machine that
        predicts one class cannot win by wasting probability.

    Notes
    -----
    ``E = 1/n ln [kappa^n E_theta exp(-C sum_i w_i loss(y_i theta_i))]`` with theta ~ N(0, K), by
    expectation propagation. The gradient is ``sum_ij (b b' - R)_ij / 2 dK_ij``, R = (K + S^-1)^-1.
    The Hessian, for searches that ask for one, is exact too and costs O(p n^3) (not with ``rank``).

    The offset is a ``Constant`` in the kernel (``fit_intercept=False``). Losses: hinge, squared
    hinge, logistic. A weight counts as copies of its row, and copies as one row: they share a
    latent value, so that their product is one exact factor. O(n^3) a sweep, five to ten of them.

    References
    ----------
    Gold & Sollich 2003, sections 3.3, 4.3; Minka 2001; Opper & Winther 2000.
    """

    device: str = "cpu"
    rank: int | None = None
    normalised: bool = False

    name = "evidence-ep"
    greater_is_better = True
    serves = every("hinge", "squared_hinge", "logistic", offsets=(PENALISED,))
    units = "mean"
    formula = "1/n ln E_theta exp(-C sum loss(y theta)) + ln kappa(C), theta ~ N(0, K)"
    cost = "O(n^3), five to ten factorisations (rank: O(n r^2))"
    reference = "Gold & Sollich 2003, sections 3.3, 4.3; Minka 2001; Opper & Winther 2000"

    def __post_init__(self) -> None:
        """Refuse senseless options."""
        if self.rank is not None and self.rank < 1:
            raise ValueError(f"evidence-ep: rank must be at least 1, got {self.rank!r}")
        check_device(self.device)

    def refusal(self, kernel: Kernel, loss: str, fit_intercept: bool) -> str | None:
        if fit_intercept:
            return IN_THE_KERNEL
        return super().refusal(kernel, loss, fit_intercept)

    @property
    def curved(self) -> bool:
        """Whether there is a Hessian: with the full prior, on the processor."""
        return self.rank is None and self.device == "cpu"

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        if self.device != "cpu" and self.rank is None:
            return self._on_device(context, gradient)
        return self._judge(context, gradient)[0]

    def _on_device(self, context: Context, gradient: bool) -> Verdict:
        """The verdict, with no n x n matrix on the host."""
        n = context.total
        rows, weights, group = distinct(context.X, context.y, context.weights)
        known = context.start.get("ep")
        found = evidence_on(
            self.device, context.kernel, context.X[rows], context.y[rows], context.C,
            context.loss, weights, self.normalised, None if known is None else known.at(rows),
            gradient,
        )  # fmt: skip
        context.trained["ep"] = found.start.at(group)
        details = {
            "log_evidence": found.log_evidence, "sweeps": found.sweeps, "residual": found.residual,
        }  # fmt: skip
        slopes = None if found.gradient is None else found.gradient / n
        value = found.log_evidence / n
        return Verdict(value, details=details, status=found.status, gradient=slopes)

    def expand(self, context: Context) -> Verdict:
        """Evaluate with gradient and Hessian, both exact.

        Parameters
        ----------
        context : Context
            The point.

        Returns
        -------
        Verdict
            The value, the gradient and the Hessian, which is NaN where the run did not settle.
        """
        verdict, ep, rows = self._judge(context, True)
        assert verdict.sensitivity is not None
        slopes = context.gradient(verdict.sensitivity)
        bend = np.full((len(slopes), len(slopes)), np.nan)
        if ep.status.ok:
            bend = evidence_hessian(ep, context.X[rows], context.kernel) / context.total
        return replace(verdict, sensitivity=None, gradient=slopes, hessian=bend)

    def _judge(self, context: Context, gradient: bool) -> tuple[Verdict, EP, IntArray]:
        """The verdict, the run behind it, and the rows that it is over."""
        n = context.total
        rows, weights, group = distinct(context.X, context.y, context.weights)
        whole = len(rows) == len(context.y)
        K = context.K if whole else context.K[np.ix_(rows, rows)]
        known = context.start.get("ep")
        rank = None if self.rank is None else min(self.rank, len(rows))
        ep = propagate(
            K, context.y[rows], context.C, context.loss, weights, self.normalised,
            known if whole or known is None else known.at(rows),
            rank, self.device, gradient=gradient,
        )  # fmt: skip
        # a row stands for its copies; absent rows get what the first row has, and no harm in it
        context.trained["ep"] = ep.start if whole else ep.start.at(group)
        details = {"log_evidence": ep.log_evidence, "sweeps": ep.sweeps, "residual": ep.residual}
        verdict = Verdict(ep.log_evidence / n, details=details, status=ep.status)
        if gradient:
            total = ep.sensitivity if whole else _expand(ep.sensitivity, rows, len(context.y))
            verdict = replace(verdict, sensitivity=total * (1.0 / n))
        return verdict, ep, rows


def distinct(X: Array, y: Array, weights: Array) -> tuple[IntArray, Array, IntArray]:
    """Give the rows of positive weight that differ in x or y; O(n d log n).

    Also the weight of all copies of each, and for every row of the data which of them stands for it
    (the first, for rows without weight).
    """
    present = np.flatnonzero(weights > 0)
    table = np.column_stack([X, y])[present] + 0.0  # -0.0 becomes 0.0
    _, first, member = np.unique(table, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # so that data without copies stay in order
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    member = place[member.ravel()]
    group = np.zeros(len(y), dtype=np.intp)
    group[present] = member
    counts: Array = np.zeros(len(order))
    np.add.at(counts, member, weights[present])
    return present[first[order]], counts, group


def _expand(part: Sensitivity, rows: IntArray, n: int) -> Sensitivity:
    """The sensitivity of a number that depends on some rows of K only."""
    left, right = np.zeros((2, n, part.left.shape[1]))
    left[rows], right[rows] = part.left, part.right
    dense = None
    if part.dense is not None:
        dense = np.zeros((n, n))
        dense[np.ix_(rows, rows)] = part.dense
    return Sensitivity(left, right, part.log_C, dense)
