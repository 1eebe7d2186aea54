"""The value of the evidence, with its Monte Carlo error.

With the posterior split as in ``frame``, ln Q = log_partition - constant + ln E_q exp(-R) over the
Gaussian q of expectation propagation: draws of q, in pairs +-delta, give it directly where the
weights exp(-R) are even enough. Where they are not, the chains are led from q to the posterior
through exp(-heat R) q (annealed importance sampling, Neal 2001), one trajectory at each heat, the
heats chosen so that no step loses more than a given share of the effective weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from svmselect.clock import look
from svmselect.devices import Matrix
from svmselect.posterior.diagnostics import pareto_k, weight_ess
from svmselect.posterior.frame import Frame
from svmselect.posterior.hmc import Stepper
from svmselect.posterior.noise import Noise
from svmselect.types import Array

_BLOCK = 2**21  # entries drawn at a time
_MOST_HEATS = 400  # then in one leap: the weights will tell


@dataclass(frozen=True, eq=False)
class Evidence:
    """ln Q without kappa, its standard error, and how far to trust the weights.

    ``share`` is the effective share of the draws, ``k`` the Pareto index of the weights (beyond
    0.7 neither value nor error can be relied on).
    """

    log_value: float
    stderr: float
    share: float
    k: float
    draws: int
    method: str
    heats: int = 1

    @property
    def reliable(self) -> bool:
        """Whether the weights have the moments that the value and its error need."""
        bounded = self.share > 0.8 or (self.share > 0.05 and not self.k > 0.7)
        return bool(np.isfinite(self.stderr)) and bounded


def importance_sampling(frame: Frame, noise: Noise, draws: int = 4096) -> Evidence:
    """Average exp(-R) over pairs of draws of expectation propagation's posterior. O(n^2) a draw."""
    n, rank = frame.factor.shape
    pairs = max(draws // 2, 1)
    logs: list[Array] = []
    while (done := sum(part.shape[1] for part in logs)) < pairs:
        look()
        width = min(pairs - done, max(_BLOCK // n, 1))
        delta = frame.factor @ noise.normal(rank, width)
        two = [frame.residual(sign * delta)[0] for sign in (1.0, -1.0)]
        logs.append(-np.array([frame.backend.get(R) for R in two]))
    each = np.hstack(logs)
    return _evidence(frame, np.logaddexp(*each) - np.log(2.0), each.ravel(), "importance sampling")


def annealed_importance(
    stepper: Stepper, noise: Noise, chains: int, keep: float = 0.9
) -> tuple[Evidence, Matrix]:
    """Lead chains from q to the posterior; also where they end, a good place to sample from.

    ``keep`` is the share of the effective weights that a change of heat must leave.
    """
    frame = stepper.frame
    delta = stepper.fresh(noise, chains)
    logs = np.zeros(chains)
    heat, heats = 0.0, 0
    while heat < 1.0:
        R = frame.backend.get(frame.residual(delta)[0])
        most = 1.0 - heat
        step = _largest_step(R, logs, most, keep) if heats < _MOST_HEATS else most
        logs = logs - step * R
        heat, heats = min(heat + step, 1.0), heats + 1
        warm = Stepper.of(frame, stepper.steps, stepper.turn, heat)
        delta = warm.move(warm.state(delta), noise)[0].delta
    evidence = _evidence(frame, logs, logs, "annealed importance sampling", heats)
    return evidence, delta


def log_evidence(
    frame: Frame, noise: Noise, stepper: Callable[[], Stepper], chains: int, target: float
) -> Evidence:
    """Take importance sampling where it will do, else anneal, more slowly until that does.

    ``target`` is the standard error of ln Q to reach; ``stepper`` is asked for only to anneal.
    """
    found = importance_sampling(frame, noise)
    for draws in (2**14, 2**16, 2**18):
        if found.stderr <= target or found.share < 0.02:
            break
        found = importance_sampling(frame, noise, draws)
    if found.reliable and found.stderr <= target:
        return found
    for keep in (0.8, 0.95, 0.99):
        found = annealed_importance(stepper(), noise, chains, keep)[0]
        if found.reliable and found.share > 0.3 and found.stderr <= target:
            break
        if found.heats > _MOST_HEATS // 2:  # slower would not be better
            break
    return found


def _largest_step(R: Array, logs: Array, most: float, keep: float) -> float:
    """The largest change of heat that keeps this share of the weights, by bisection.

    The share is (sum w u)^2 / (sum w u^2) for normalised weights w and increments u.
    """
    w = logs - logsumexp(logs)

    def share(step: float) -> float:
        u = -step * (R - R.min())
        return float(np.exp(2.0 * logsumexp(w + u) - logsumexp(w + 2.0 * u)))

    if share(most) >= keep:
        return most
    low, high = 0.0, most
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if share(middle) >= keep else (low, middle)
    return max(low, 1e-6)


def _evidence(frame: Frame, logs: Array, single: Array, method: str, heats: int = 1) -> Evidence:
    """``logs``: log weights of independent units; ``single``: of every draw, for diagnostics."""
    top = float(logs.max())
    w = np.exp(logs - top)
    mean = float(w.mean())
    spread = float(w.std(ddof=1)) if len(w) > 1 else float("inf")
    return Evidence(
        log_value=frame.log_partition - frame.constant + top + float(np.log(mean)),
        stderr=spread / (mean * float(np.sqrt(len(w)))),
        share=weight_ess(single) / len(single),
        k=pareto_k(single),
        draws=len(single),
        method=method,
        heats=heats,
    )
