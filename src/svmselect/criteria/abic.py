"""Akaike's Bayesian information criterion."""

from __future__ import annotations

from dataclasses import dataclass

from svmselect.criteria.base import Context, Criterion, Verdict, every
from svmselect.criteria.logistic_laplace import LogisticLaplace
from svmselect.data import Seed


@dataclass(frozen=True)
class ABIC(Criterion):
    """-2 log evidence + 2 (number of hyperparameters), by the logistic model's Laplace evidence.

    Parameters
    ----------
    eta : float, default 1.0
        Slope of the logistic model, as in ``logistic-laplace``.
    variant : {"derived", "printed"}, default "derived"
        As in ``logistic-laplace``.
    nystrom : tuple of int, optional
        As in ``logistic-laplace``.
    random_state : int, Generator or None, default 0
        As in ``logistic-laplace``.

    Notes
    -----
    The evidence is that of ``logistic-laplace``. The hyperparameters are C and every parameter of
    the kernel, so kernels of different form can be compared: each parameter more must earn one unit
    of log evidence. Losses and cost are those of ``logistic-laplace``.

    References
    ----------
    Akaike 1980; Kobayashi & Komaki 2005, section 9.
    """

    eta: float = 1.0
    variant: str = "derived"
    nystrom: tuple[int, int] | None = None
    random_state: Seed = 0

    name = "abic"
    greater_is_better = False
    serves = every("hinge", "logistic")
    units = "deviance"
    formula = "-2 log evidence + 2 (1 + number of kernel parameters)"
    cost = LogisticLaplace.cost
    reference = "Akaike 1980; Kobayashi & Komaki 2005, section 9"

    def __post_init__(self) -> None:
        """Check the options where they are used."""
        object.__setattr__(self, "nystrom", self._evidence().nystrom)

    def _evidence(self) -> LogisticLaplace:
        return LogisticLaplace(self.eta, self.variant, self.nystrom, self.random_state)

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        evidence = self._evidence().evaluate(context, gradient)
        number = 1 + len(context.kernel.theta)
        slope = evidence.sensitivity
        return Verdict(
            -2.0 * evidence.value + 2.0 * number,
            None if slope is None else slope * -2.0,
            details={"log_evidence": evidence.value, "hyperparameters": number, **evidence.details},
            status=evidence.status,
        )
