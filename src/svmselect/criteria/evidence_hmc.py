"""The exact evidence by Hybrid Monte Carlo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any, Protocol

import numpy as np

from svmselect.criteria.base import PENALISED, Context, Criterion, Verdict, every
from svmselect.kappa import log_kappa
from svmselect.kernels import Kernel
from svmselect.posterior.averages import Gatherer
from svmselect.posterior.backend import get_backend
from svmselect.posterior.diagnostics import bulk_ess, rhat
from svmselect.posterior.ep import propagate
from svmselect.posterior.frame import Frame
from svmselect.posterior.hmc import Stepper, Trace, run
from svmselect.posterior.hmc_paper import paper_hmc
from svmselect.posterior.importance import Evidence, annealed_importance, log_evidence
from svmselect.posterior.noise import get_noise
from svmselect.posterior.tuning import settled, tune
from svmselect.types import OK, Array, Sensitivity, Status

SCHEMES = ("split", "paper")

_FIRST = 32  # draws of each chain before the error is looked at
_STRETCH = 32  # draws that make a group where chains are few
_WORK = 2**22  # leapfrog steps of all chains at most, unless draws are given
_MIXES = np.linspace(0.0, 1.0, 21)
_MIXED = 1.1  # R-hat beyond which the chains do not agree


@dataclass(frozen=True)
class EvidenceHMC(Criterion):
    """The log evidence per point, its gradient and the standard errors of both, by sampling.

    E = 1/n ln [kappa^n E_theta exp(-C sum_i w_i loss(y_i theta_i))], theta ~ N(0, K); the gradient
    is a posterior average (GS eqs 18, 20). ``scheme="split"``: chains in the frame of expectation
    propagation, which is their control variate (``posterior.hmc``); "paper": Gold & Sollich's own
    (``posterior.hmc_paper``, 40,000 draws of one chain; ``scale_time``: shorter trajectories at
    large C). The value is by importance sampling, annealed where need be. Without ``draws`` they
    are taken until every standard error is below ``tolerance``; ``details`` has "gradient_stderr",
    R-hat and effective sample sizes. ``normalised`` divides each likelihood by its sum over both
    labels (and drops kappa), ``rank`` takes a prior from that many landmarks, ``device`` "cuda"
    runs the chains there. The offset is a Constant in the kernel; a weight counts as copies of its
    row. O(n^2) a draw. Hinge, squared hinge, logistic.
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
        if self.device not in ("cpu", "torch-cpu") and not self.device.startswith("cuda"):
            raise ValueError(
                f'evidence-hmc: device={self.device!r} is not "cpu", "cuda" or "torch-cpu"'
            )
        if self.scheme == "paper" and (self.rank is not None or self.device != "cpu"):
            raise ValueError(
                'evidence-hmc: scheme="paper" is the reference: it takes neither rank nor device'
            )

    def refusal(self, kernel: Kernel, loss: str, fit_intercept: bool) -> str | None:
        """Explain where the offset has its place."""
        if fit_intercept:
            return (
                "the offset is a Constant in the kernel here, because an unpenalised intercept has "
                "no proper prior and so no evidence: pass fit_intercept=False and add, for "
                "example, + Constant(0.1) to the kernel"
            )
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
        if self.scheme == "paper":
            sampled = self._by_paper(context)
        else:
            sampled = self._by_frame(context, frame, seeds[2], tuned, chains)
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

    def _by_paper(self, context: Context) -> Sampled:
        chain = paper_hmc(
            context.K, context.y, context.C, context.loss, context.weights,
            context.solution.alpha, self.normalised, self.draws or 40_000, self._chains(1),
            self.random_state, self.scale_time,
        )  # fmt: skip
        return Sampled.of(context, chain, chain.trace, chain.steps, False)

    def _by_frame(
        self,
        context: Context,
        frame: Frame,
        seed: np.random.SeedSequence,
        tuned: Callable[[], tuple[Stepper, float]],
        chains: int,
    ) -> Sampled:
        """Sample until the errors are small enough."""
        noise = get_noise(seed, frame.backend)
        stepper, accept = tuned()
        delta = annealed_importance(stepper, noise, chains, keep=0.8)[1]
        state = settled(stepper, noise, delta, accept)
        groups, stretch = 16 if len(frame) <= 1000 else 8, _STRETCH
        if self.draws is None:
            most = max(_WORK // (stepper.steps + 1) // chains, _FIRST)
            more = _FIRST if chains >= groups else groups * stretch
        else:
            more = most = max(-(-self.draws // chains), 2)
            if chains < groups:  # stretches of draws in place of chains
                groups = min(groups, more)
                stretch = more // groups
        gathered = Gatherer(frame, groups, stretch)
        state, trace = run(stepper, state, noise, more, gathered.add)
        sampled = Sampled.of(context, gathered, trace, stepper.steps, False)
        while (done := len(trace.potential)) < most:
            excess = float(sampled.stderr.max()) / (0.8 * self.tolerance)
            if excess <= 1.0:
                break
            if sampled.mixable or frame.landmarks is not None:
                more = int(np.ceil(done * min(excess**2 - 1.0, 3.0)))
                state, part = run(stepper, state, noise, min(more, most - done), gathered.add)
                trace = trace + part
            mixable = frame.landmarks is None
            sampled = Sampled.of(context, gathered, trace, stepper.steps, mixable)
        return sampled


class Averages(Protocol):
    """Posterior averages in independent groups."""

    @property
    def groups(self) -> int:
        """How many there are."""

    def sensitivity(self, group: int | None, mix: float = 0.0) -> Sensitivity:
        """d ln Q without kappa, of one group or of all."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """A gradient with its errors, and the chains behind it.

    ``by_group`` holds the gradient per point of each group, by rows; ``mixable`` says that both
    forms of the gradient were tried (see ``posterior.frame``) and ``mix`` is the better mixture.
    """

    sensitivity: Sensitivity
    by_group: Array
    trace: Trace
    steps: int
    mixable: bool
    mix: float

    @classmethod
    def of(
        cls, context: Context, averages: Averages, trace: Trace, steps: int, mixable: bool
    ) -> Sampled:
        """Differentiate the kernel for each group and form; the largest error is made least."""

        def gradients(mix: float) -> Array:
            each = [averages.sensitivity(k, mix) for k in range(averages.groups)]
            return np.array([context.gradient(s) for s in each]) / context.total

        by_group, mix = gradients(0.0), 0.0
        if mixable:
            other = gradients(1.0)
            mixtures = [(1.0 - m) * by_group + m * other for m in _MIXES]
            best = int(np.argmin([g.std(axis=0).max() for g in mixtures]))
            by_group, mix = mixtures[best], float(_MIXES[best])
        return cls(averages.sensitivity(None, mix), by_group, trace, steps, mixable, mix)

    @property
    def stderr(self) -> Array:
        """Standard error of every component."""
        spread: Array = self.by_group.std(axis=0, ddof=1) / np.sqrt(len(self.by_group))
        return spread

    def details(self) -> dict[str, Any]:
        """What the chains say of themselves."""
        t = self.trace
        return {
            "gradient_stderr": self.stderr,
            "draws": t.potential.size,
            "chains": t.potential.shape[1],
            "steps": self.steps,
            "accept": t.accept,
            "divergences": t.divergent,
            "rhat": max(rhat(x) for x in (t.potential, *t.latents)),
            "ess": bulk_ess(t.potential),
            "ess_latents": min(bulk_ess(x) for x in t.latents),
            "mix": self.mix,
        }

    def status(self, tolerance: float) -> Status:
        """Whether the chains agree and the errors are as small as asked for."""
        agree = rhat(self.trace.potential)
        if agree > _MIXED or self.trace.accept < 0.02:
            return _UNMIXED
        worst = float(self.stderr.max())
        if worst > tolerance:
            advice = f"a component has standard error {worst:.1e}; give draws, or lower C"
            return Status("noisy gradient", advice)
        return OK


_UNMIXED = Status(
    "not mixed",
    "the chains disagree with one another: lower C or the kernel's amplitude, give more draws, or "
    "use evidence-ep, which needs no chains",
)
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
