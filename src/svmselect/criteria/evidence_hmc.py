"""The exact evidence by Hybrid Monte Carlo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any

import numpy as np

from svmselect.criteria.base import IN_THE_KERNEL, PENALISED, Context, Criterion, Verdict, every
from svmselect.criteria.sampled import Chains, Past, Sampled, Source, Weighted, sample
from svmselect.devices import check_device
from svmselect.kernels import Kernel
from svmselect.posterior.averages import Gatherer
from svmselect.posterior.backend import get_backend
from svmselect.posterior.ep import propagate
from svmselect.posterior.frame import Frame
from svmselect.posterior.hmc import Stepper
from svmselect.posterior.hmc_paper import paper_hmc
from svmselect.posterior.importance import Evidence, annealed_importance, log_evidence
from svmselect.posterior.kappa import log_kappa
from svmselect.posterior.noise import get_noise
from svmselect.posterior.tuning import settled, tune
from svmselect.types import OK, Sensitivity, Status

SCHEMES = ("split", "paper", "importance")

_FIRST = 32  # draws of each chain before the error is looked at
_STRETCH = 32  # draws that make a group where chains are few
_WORK = 2**21  # products with a column at most, unless draws are given


@dataclass(frozen=True)
class EvidenceHMC(Criterion):
    """The log evidence per point, its gradient and the standard errors of both, by sampling.

    Parameters
    ----------
    draws : int, optional
        The number of draws. If None they are taken until every standard error is below
        ``tolerance``.
    chains : int, optional
        The number of chains; None leaves it to the scheme.
    scheme : {"split", "paper", "importance"}, default "split"
        "split": chains in the frame of expectation propagation, which is their control variate;
        "paper": Gold & Sollich's own, 40,000 draws of one chain; "importance": weighted draws of
        expectation propagation's Gaussian, without chains, cheaper where that Gaussian is a good
        one.
    random_state : int or None, default 0
        Seed.
    device : {"cpu", "cuda"}, default "cpu"
        Where the chains run; "cuda" needs torch.
    rank : int, optional
        Take a low-rank prior from that many landmarks.
    normalised : bool, default False
        Divide each likelihood by its sum over both labels, and drop kappa.
    tolerance : float, default 0.004
        The standard error to reach.
    scale_time : bool, default False
        With scheme="paper": shorter trajectories at large C.

    Notes
    -----
    ``E = 1/n ln [kappa^n E_theta exp(-C sum_i w_i loss(y_i theta_i))]`` with theta ~ N(0, K). The
    gradient is a posterior average (GS eqs 18, 20). The value is by importance sampling whatever
    the scheme, annealed where need be. ``details`` has "gradient_stderr", R-hat and effective
    sample sizes.

    The offset is a ``Constant`` in the kernel (``fit_intercept=False``). Losses: hinge, squared
    hinge, logistic. A weight counts as copies of its row. O(n^3), then O(n^2) a draw.

    References
    ----------
    Gold & Sollich 2003, sections 3.3, 4.2.
    """

    draws: int | None = None
    chains: int | None = None
    scheme: str = "split"
    random_state: int | None = 0
    device: str = "cpu"
    rank: int | None = None
    normalised: bool = False
    tolerance: float = 0.004
    scale_time: bool = False

    name = "evidence-hmc"
    greater_is_better = True
    serves = every("hinge", "squared_hinge", "logistic", offsets=(PENALISED,))
    units = "mean"
    formula = "1/n ln E_theta exp(-C sum loss(y theta)) + ln kappa(C), sampled"
    cost = "O(n^3), then O(n^2) a draw"
    reference = "Gold & Sollich 2003, sections 3.3, 4.2"

    def __post_init__(self) -> None:
        """Refuse senseless options."""
        if self.scheme not in SCHEMES:
            known = ", ".join(map(repr, SCHEMES))
            raise ValueError(f"evidence-hmc: scheme={self.scheme!r} is not one of {known}")
        for name in ("draws", "chains", "rank"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise ValueError(f"evidence-hmc: {name} must be at least 1, got {count!r}")
        if not (isfinite(self.tolerance) and self.tolerance > 0):
            raise ValueError(f"evidence-hmc: tolerance must be positive, got {self.tolerance!r}")
        check_device(self.device)
        if self.scheme == "paper" and (self.rank is not None or self.device != "cpu"):
            raise ValueError(
                'evidence-hmc: scheme="paper" is the reference: it takes neither rank nor device'
            )

    def refusal(self, kernel: Kernel, loss: str, fit_intercept: bool) -> str | None:
        if fit_intercept:
            return IN_THE_KERNEL
        return super().refusal(kernel, loss, fit_intercept)

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        n, C, loss = context.total, context.C, context.loss
        ep = propagate(
            context.K, context.y, C, loss, context.weights, self.normalised,
            context.start.get("ep"), self.rank, self.device, gradient=False,
        )  # fmt: skip
        context.trained["ep"] = ep.start
        shift, slope = (0.0, 0.0) if self.normalised else log_kappa(loss, C)
        backend = get_backend(self.device)
        frame = Frame.of(ep, backend)
        seeds = np.random.SeedSequence(self.random_state).spawn(3)
        tuned = cache(lambda: tune(frame, get_noise(seeds[0], backend)))
        chains = self._chains(len(frame))
        evidence = log_evidence(
            frame, get_noise(seeds[1], backend), lambda: tuned()[0], max(chains, 64),
            0.8 * self.tolerance * n,
        )  # fmt: skip
        value = evidence.log_value / n + shift
        details: dict[str, Any] = {"ep": ep.log_evidence / n, **_described(evidence)}
        status = OK if evidence.reliable else _UNRELIABLE
        stderr = evidence.stderr / n
        if not gradient:
            return Verdict(value, stderr=stderr, details=details, status=status)
        sampled = self._sampled(context, frame, seeds[2], tuned, chains)
        details |= sampled.details()
        total = sampled.sensitivity * (1.0 / n)
        kappa = Sensitivity(total.left[:, :0], total.right[:, :0], C * slope)
        if status.ok:
            status = sampled.status(self.tolerance if self.draws is None else np.inf)
        return Verdict(value, total + kappa, stderr, details, status)

    def _chains(self, n: int) -> int:
        """As many as keep a product busy without leaving the cache, in whole groups."""
        if self.chains is not None:
            return self.chains
        if self.scheme == "paper":
            return 1
        least = 512 if self.device.startswith("cuda") else 32
        return int(np.clip(16384 // n // 16 * 16, least, 1024))

    def _sampled(
        self,
        context: Context,
        frame: Frame,
        seed: np.random.SeedSequence,
        tuned: Callable[[], tuple[Stepper, float]],
        chains: int,
    ) -> Sampled:
        """Posterior averages by the scheme, until the errors are small enough."""
        if self.scheme == "paper":
            found = paper_hmc(
                context.K, context.y, context.C, context.loss, context.weights,
                context.solution.alpha, self.normalised, self.draws or 40_000, chains,
                self.random_state, self.scale_time,
            )  # fmt: skip
            return Sampled.of(context, found, Past(found.trace, found.steps), False)
        noise = get_noise(seed, frame.backend)
        source: Source = Weighted(frame, noise, chains)
        work = _WORK // 2
        if self.scheme == "split":
            stepper, accept = tuned()
            delta = annealed_importance(stepper, noise, chains, keep=0.8)[1]
            source = Chains(stepper, settled(stepper, noise, delta, accept), noise)
            work = _WORK // (stepper.steps + 1)
        groups, stretch = 16 if len(frame) <= 1000 else 8, _STRETCH
        if self.draws is None:
            most = max(work // chains, _FIRST)
            first = _FIRST if chains >= groups else groups * stretch
        else:
            first = most = max(-(-self.draws // chains), 2)
            if chains < groups:  # stretches of draws in place of chains
                groups = min(groups, first)
                stretch = first // groups
        gathered = Gatherer(frame, groups, stretch)
        return sample(context, source, gathered, 0.8 * self.tolerance, first, most)


_UNRELIABLE = Status(
    "unreliable value",
    "a few weights dominate the evidence, so that its error is unknown: give more chains, lower C, "
    "or use evidence-ep",
)


def _described(evidence: Evidence) -> Mapping[str, Any]:
    return {
        "value_method": evidence.method,
        "value_share": evidence.share,
        "pareto_k": evidence.k,
        "heats": evidence.heats,
    }
