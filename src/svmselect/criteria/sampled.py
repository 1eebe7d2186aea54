"""Gradients from Monte Carlo draws, with their standard errors; for criteria that sample."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from svmselect.clock import look
from svmselect.criteria.base import Context
from svmselect.posterior.averages import Gatherer
from svmselect.posterior.diagnostics import bulk_ess, pareto_k, rhat, weight_ess
from svmselect.posterior.frame import Frame
from svmselect.posterior.hmc import State, Stepper, Trace, run
from svmselect.posterior.noise import Noise
from svmselect.types import OK, Array, Sensitivity, Status

_MIXES = np.linspace(0.0, 1.0, 21)
_MIXED = 1.1  # R-hat beyond which the chains do not agree
_APART = 3.0  # R-hat of chains that do not even overlap
_STUCK = 0.02  # acceptance, or share of weights, below which draws are worthless


class Averages(Protocol):
    """Posterior averages in independent groups."""

    @property
    def groups(self) -> int:
        """How many there are."""

    def sensitivity(self, group: int | None, mix: float = 0.0) -> Sensitivity:
        """d ln Q without kappa, of one group or of all."""


class Described(Protocol):
    """Draws that can tell how good they are."""

    def details(self) -> dict[str, Any]:
        """Numbers, by name."""

    def trusted(self) -> bool:
        """Whether averages over them mean anything."""


class Source(Described, Protocol):
    """Draws without end."""

    def extend(self, draws: int, gathered: Gatherer) -> None:
        """Take so many more of each chain."""

    def hopeless(self) -> bool:
        """Whether more draws would not help."""


@dataclass(frozen=True, eq=False)
class Past:
    """Chains that have run."""

    trace: Trace
    steps: int

    def details(self) -> dict[str, Any]:
        t = self.trace
        return {
            "draws": t.potential.size,
            "chains": t.potential.shape[1],
            "steps": self.steps,
            "accept": t.accept,
            "divergences": t.divergent,
            "rhat": max(rhat(x) for x in (t.potential, *t.latents)),
            "ess": bulk_ess(t.potential),
            "ess_latents": min(bulk_ess(x) for x in t.latents),
        }

    def trusted(self) -> bool:
        return not (rhat(self.trace.potential) > _MIXED or self.trace.accept < _STUCK)


@dataclass(eq=False)
class Chains:
    """Chains that run on."""

    stepper: Stepper
    state: State
    noise: Noise
    trace: Trace | None = None

    def extend(self, draws: int, gathered: Gatherer) -> None:
        self.state, part = run(self.stepper, self.state, self.noise, draws, gathered.add)
        self.trace = part if self.trace is None else self.trace + part

    @property
    def past(self) -> Past:
        if self.trace is None:
            raise ValueError("these chains have not run yet")
        return Past(self.trace, self.stepper.steps)

    def details(self) -> dict[str, Any]:
        return self.past.details()

    def trusted(self) -> bool:
        return self.past.trusted()

    def hopeless(self) -> bool:
        trace = self.past.trace
        return bool(trace.accept < _STUCK or rhat(trace.potential) > _APART)


@dataclass(eq=False)
class Weighted:
    """Independent pairs of draws of the frame's Gaussian, each with the weight exp(-R)."""

    frame: Frame
    noise: Noise
    chains: int
    logs: list[Array] = field(default_factory=list)
    base: float | None = None

    def extend(self, draws: int, gathered: Gatherer) -> None:
        frame, xp = self.frame, self.frame.xp
        for _ in range(-(-draws // 2)):
            look()
            delta = frame.factor @ self.noise.normal(frame.factor.shape[1], self.chains)
            for signed in (delta, -delta):
                R = frame.residual(signed)[0]
                self.base = float(R.min()) if self.base is None else self.base
                gathered.add(signed, xp.exp(-xp.clip(R - self.base, -600.0, None)))
                self.logs.append(-frame.backend.get(R))

    def details(self) -> dict[str, Any]:
        logs = np.concatenate(self.logs)
        found = {"draws": len(logs), "chains": self.chains, "ess": weight_ess(logs)}
        return found | {"gradient_pareto_k": pareto_k(logs)}

    def trusted(self) -> bool:
        d = self.details()
        return bool(d["ess"] > 0.05 * d["draws"] and not d["gradient_pareto_k"] > 0.7)

    def hopeless(self) -> bool:
        logs = np.concatenate(self.logs)
        return weight_ess(logs) < _STUCK * len(logs)


@dataclass(frozen=True, eq=False)
class Sampled:
    """A gradient with its errors, and the draws behind it.

    ``by_group`` holds the gradient per point of each group, by rows; ``mixed`` says that both
    forms of the gradient were tried (see ``posterior.frame``) and ``mix`` is the better mixture.
    """

    sensitivity: Sensitivity
    by_group: Array
    source: Described
    mixed: bool
    mix: float

    @classmethod
    def of(cls, context: Context, averages: Averages, source: Described, mixed: bool) -> Sampled:
        """Differentiate the kernel for each group and form; the largest error is made least."""

        def gradients(mix: float) -> Array:
            groups = range(averages.groups)  # one n x n matrix at a time
            each = [context.gradient(averages.sensitivity(k, mix)) for k in groups]
            return np.array(each) / context.total

        by_group, mix = gradients(0.0), 0.0
        if mixed:
            other = gradients(1.0)
            mixtures = [(1.0 - m) * by_group + m * other for m in _MIXES]
            best = int(np.argmin([g.std(axis=0).max() for g in mixtures]))
            by_group, mix = mixtures[best], float(_MIXES[best])
        return cls(averages.sensitivity(None, mix), by_group, source, mixed, mix)

    @property
    def stderr(self) -> Array:
        """Standard error of every component."""
        spread: Array = self.by_group.std(axis=0, ddof=1) / np.sqrt(len(self.by_group))
        return spread

    def details(self) -> dict[str, Any]:
        """Errors, and what the draws say of themselves."""
        return {"gradient_stderr": self.stderr, "mix": self.mix, **self.source.details()}

    def status(self, tolerance: float) -> Status:
        """Whether the draws can be trusted and the errors are as small as asked for."""
        if not self.source.trusted():
            return _UNTRUSTED
        worst = float(self.stderr.max())
        if worst > tolerance:
            advice = f"a component has standard error {worst:.1e}; give draws, or lower C"
            return Status("noisy gradient", advice)
        return OK


def sample(
    context: Context, source: Source, gathered: Gatherer, target: float, first: int, most: int
) -> Sampled:
    """Draw until every standard error is below the target, or ``most`` draws of each chain."""
    mixable = gathered.frame.landmarks is None
    source.extend(first, gathered)
    found, done = Sampled.of(context, gathered, source, False), first
    while done < most and not source.hopeless():
        excess = float(found.stderr.max()) / target
        if excess <= 1.0:
            break
        if found.mixed or not mixable:
            more = min(int(np.ceil(done * min(excess**2 - 1.0, 3.0))), most - done)
            source.extend(more, gathered)
            done += more
        found = Sampled.of(context, gathered, source, mixable)
    return found


_UNTRUSTED = Status(
    "not mixed",
    "the draws disagree with one another: lower C or the kernel's amplitude, give more draws, or "
    "use evidence-ep, which needs none",
)
