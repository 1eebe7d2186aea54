"""Gold & Sollich's own Hybrid Monte Carlo (their section 4.2), as the reference.

Variables h = K^-1 theta (their theta-tilde) and momenta p, with energy

    H = p'Kp/2 + h'Kh/2 + V(Kh)                                                      (GS eq. 21)
    dh/dt = p,   dp/dt = -h - V'(Kh),                                           (GS eqs 22, 23)

so that K is never inverted. An update redraws one momentum, chosen at random, from its conditional
Gaussian; follows a trajectory by leapfrog; and accepts or rejects its end. Chains start at the
support vector machine, h = y alpha; of 40,000 samples the first half is dropped. The gradient comes
from the plain average <g h'>, made symmetric (GS eq. 20).

What the paper leaves open is chosen here: trajectories of length 1 (the Gaussian part has frequency
1 in these variables, so that a quarter turn is pi/2); a step adapted in the first quarter of the
run, all of it dropped, to an acceptance of 0.95; momenta drawn at the start by one sweep of the
same conditionals; and a rejection turns the momenta round, without which single redraws would not
leave the posterior unchanged (the momenta that are not redrawn live on). ``scale_time`` shortens
trajectories as 1/C for C > 1 (their section 5.3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsymv

from svmselect.clock import look
from svmselect.posterior.averages import dense
from svmselect.posterior.backend import get_backend
from svmselect.posterior.hmc import DIVERGENT, Trace
from svmselect.posterior.potential import Potential
from svmselect.types import Array, IntArray, Sensitivity

TIME = 1.0
ACCEPT = 0.95
_MOST_STEPS = 1000
_BLOCK = 128  # draws gathered before they are multiplied


@dataclass(frozen=True, eq=False)
class PaperRun:
    """Averages of the second half, in batches, and how the run went.

    ``force`` and ``lagging`` are <g> and <h> of each batch, whose sum is zero but for Monte Carlo
    error; ``product`` is <g h'>.
    """

    product: tuple[Array, ...]
    force: Array
    lagging: Array
    log_C: Array
    trace: Trace
    steps: int
    time: float
    rows: IntArray
    signs: Array
    size: int

    @property
    def groups(self) -> int:
        """How many batches there are."""
        return len(self.product)

    def sensitivity(self, group: int | None, mix: float = 0.0) -> Sensitivity:
        """d ln Q without kappa, from one batch or (None) from all; there is nothing to mix."""
        chosen = slice(None) if group is None else slice(group, group + 1)
        mean = sum(self.product[chosen], start=np.zeros(())) / len(self.log_C[chosen])
        slope = np.zeros((self.size, self.size))
        slope[np.ix_(self.rows, self.rows)] = (
            -0.25 * (mean + mean.T) * np.outer(self.signs, self.signs)
        )
        return dense(slope, -float(self.log_C[chosen].mean()))

    @property
    def imbalance(self) -> float:
        """The largest |<g> + <h>| in units of its standard error; a few at most if all is well."""
        both = self.force + self.lagging
        error = both.std(axis=0, ddof=1) / np.sqrt(len(both))
        return float(np.max(np.abs(both.mean(axis=0)) / np.maximum(error, 1e-300)))


def paper_hmc(
    K: Array,
    y: Array,
    C: float,
    loss: str,
    weights: Array,
    alpha: Array,
    normalised: bool = False,
    draws: int = 40_000,
    chains: int = 1,
    random_state: int | np.random.Generator | None = 0,
    scale_time: bool = False,
    groups: int = 16,
) -> PaperRun:
    """Sample the posterior of one machine; ``draws`` in all, the dropped half included.

    O(n^2) a leapfrog step. Rows of weight zero take no part.
    """
    rows = np.flatnonzero(weights > 0)
    signs = y[rows]
    chain = _Chains(
        K[np.ix_(rows, rows)] * signs * signs[:, None],
        Potential.of(C, loss, normalised, weights[rows], get_backend("cpu")),
        np.random.default_rng(random_state),
        min(1.0, 1.0 / C) * TIME if scale_time else TIME,
    )
    total = max(draws // chains, 4 * groups)
    h, p = np.repeat(alpha[rows][:, None], chains, axis=1), chain.momenta(chains)
    kept = total - total // 2
    batches = _Batches(len(rows), groups, kept, chains)
    log_step, accept, divergent = np.log(0.1 * chain.time), 0.0, 0
    n = len(rows)
    watched = np.unique(np.linspace(0, n - 1, min(n, 5)).round().astype(int))
    potentials, latents = np.empty((kept, chains)), np.empty((len(watched), kept, chains))
    for draw in range(total):
        look()
        h, p, theta, chance, worst = chain.update(h, p, chain.steps(log_step))
        if draw < total // 4:  # Robbins & Monro
            log_step += (chance.mean() - ACCEPT) * 10.0 / (draw + 30.0)
        k = draw - total // 2
        if k >= 0:
            batches.add(k, chain.potential.slope(theta), h, chain.potential.by_log_C(theta))
            potentials[k], latents[:, k] = chain.potential.value(theta), theta[watched]
            accept += float(chance.mean()) / kept
            divergent += int((worst > DIVERGENT).sum())
    trace = Trace(potentials, np.full_like(potentials, np.nan), latents, accept, divergent)
    averages = batches.averages()
    return PaperRun(*averages, trace, chain.steps(log_step), chain.time, rows, signs, len(y))


@dataclass(frozen=True, eq=False)
class _Chains:
    """Gold & Sollich's update for chains side by side, in margins."""

    K: Array
    potential: Potential
    rng: np.random.Generator
    time: float

    def product(self, x: Array) -> Array:
        """K x; of a single chain, from one half of K, which is read once."""
        if x.shape[1] > 1:
            return self.K @ x
        one: Array = dsymv(1.0, self.K.T, x[:, 0])  # transposed for its order in memory alone
        return one[:, None]

    def steps(self, log_step: float) -> int:
        return int(np.clip(np.ceil(self.time / np.exp(log_step)), 1, _MOST_STEPS))

    def momenta(self, chains: int) -> Array:
        p = np.zeros((len(self.K), chains))
        for i in range(len(p)):
            self.redraw(p, np.full(chains, i))
        return p

    def redraw(self, p: Array, i: IntArray) -> None:
        """Draw p_i given the others from exp(-p'Kp/2), in place."""
        at = (i, np.arange(p.shape[1]))
        variance = self.K[i, i]
        pull = np.einsum("cj,jc->c", self.K[i], p)
        known = variance > 0  # a latent value without prior variance has no momentum
        safe = np.where(known, variance, 1.0)
        fresh = self.rng.standard_normal(len(i)) / np.sqrt(safe)
        p[at] = np.where(known, p[at] - pull / safe + fresh, 0.0)

    def update(self, h: Array, p: Array, steps: int) -> tuple[Array, Array, Array, Array, Array]:
        """One redraw and one trajectory: new h, p, theta, acceptance and energy error."""
        chains: int = h.shape[1]
        p = p.copy()
        self.redraw(p, self.rng.integers(len(h), size=(chains,)))
        theta = self.K @ h
        step = self.time / steps
        x, f, g = h.copy(), theta, self.potential.slope(theta)
        q = p - 0.5 * step * (x + g)
        move = np.empty_like(q)
        for k in range(1, steps + 1):  # two half kicks that meet are one
            np.multiply(q, step, out=move)
            x += move
            f = self.product(x)
            g = self.potential.slope(f)
            np.add(x, g, out=move)
            move *= step if k < steps else 0.5 * step
            q -= move
        error = self.energy(x, q, f) - self.energy(h, p, theta)
        error = np.where(np.isfinite(error), error, np.inf)
        chance = np.exp(-np.maximum(error, 0.0))
        taken = self.rng.random(chains) < chance
        return (
            np.where(taken, x, h),
            np.where(taken, q, -p),
            np.where(taken, f, theta),
            chance,
            error,
        )

    def energy(self, h: Array, p: Array, theta: Array) -> Array:
        kinetic = (p * (self.K @ p)).sum(axis=0)
        total: Array = 0.5 * (kinetic + (h * theta).sum(axis=0)) + self.potential.value(theta)
        return total


class _Batches:
    """Averages by stretches of the run, or by groups of chains where there are enough of them."""

    def __init__(self, n: int, groups: int, kept: int, chains: int) -> None:
        self.by_chain = chains >= groups
        self.groups, self.kept = groups, kept
        self.product = [np.zeros((n, n)) for _ in range(groups)]
        self.force, self.lagging = np.zeros((groups, n)), np.zeros((groups, n))
        self.log_C, self.count = np.zeros(groups), np.zeros(groups)
        self.waiting: list[tuple[int, Array, Array]] = []
        self.edges = np.linspace(0, chains, groups + 1).round().astype(int)

    def add(self, draw: int, g: Array, h: Array, log_C: Array) -> None:
        if self.by_chain:
            for k, (a, b) in enumerate(zip(self.edges[:-1], self.edges[1:], strict=True)):
                self._put(k, g[:, a:b], h[:, a:b], log_C[a:b])
        else:
            self._put(draw * self.groups // self.kept, g, h, log_C)
        if len(self.waiting) >= _BLOCK * (self.groups if self.by_chain else 1):
            self._flush()

    def _put(self, k: int, g: Array, h: Array, log_C: Array) -> None:
        self.waiting.append((k, g, h))
        self.log_C[k] += log_C.sum()
        self.count[k] += len(log_C)

    def _flush(self) -> None:
        for k in {item[0] for item in self.waiting}:
            g = np.hstack([item[1] for item in self.waiting if item[0] == k])
            h = np.hstack([item[2] for item in self.waiting if item[0] == k])
            self.product[k] += g @ h.T
            self.force[k] += g.sum(axis=1)
            self.lagging[k] += h.sum(axis=1)
        self.waiting.clear()

    def averages(self) -> tuple[tuple[Array, ...], Array, Array, Array]:
        self._flush()
        each = self.count[:, None]
        product = tuple(p / c for p, c in zip(self.product, self.count, strict=True))
        return product, self.force / each, self.lagging / each, self.log_C / self.count
