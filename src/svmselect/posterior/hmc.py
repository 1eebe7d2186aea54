"""Hybrid Monte Carlo in the frame of expectation propagation: many chains, each step a product.

The posterior is exp(-delta' Sigma^-1 delta/2 - R(delta)) (see ``frame``). With velocity
v ~ N(0, Sigma) the energy is H = delta' Sigma^-1 delta/2 + v' Sigma^-1 v/2 + R(delta); its
Gaussian part moves exactly, by the rotation

    delta <- cos t delta + sin t v,   v <- cos t v - sin t delta,

and only the residual kicks, v <- v - e Sigma f. Were expectation propagation exact, a quarter turn
would give an independent draw. A kick changes the energy by -e v'f + e^2 f'Sigma f/2, so neither
Sigma^-1 nor K^-1 occurs. Between two rotations v can be eliminated,

    delta_{k+1} = 2 cos t delta_k - delta_{k-1} - t sin t Sigma f_k,

which leaves one product with Sigma a step for all chains together.

The force f need not be r = R': any function of each coordinate is a gradient, so the map keeps
volume and can be reversed, and the acceptance uses the true R. Here f is r averaged over where the
trajectory goes in the next half step, r at cos(t/2) delta +- sin(t/2) (a uniform average of the
same variance stands for the Gaussian). The hinge's kinks then cost acceptance only at the ends of
a trajectory and not at each step, and as t grows to a quarter turn, f fades like the mean of r.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmselect.clock import look
from svmselect.devices import Matrix
from svmselect.posterior.frame import Frame
from svmselect.posterior.noise import Noise
from svmselect.posterior.potential import Force
from svmselect.types import Array

TURN = 1.9  # length of a trajectory: a little over a quarter turn, so that means mix faster
JITTER = 0.1  # the turn of each chain varies by this share, so that none is periodic
DIVERGENT = 1000.0  # an energy error beyond this is counted
_ROOT3 = 3.0**0.5


@dataclass(frozen=True, eq=False)
class State:
    """What the next trajectory needs: a column for each chain.

    ``R`` and ``V`` are the residual and the potential there, ``force`` f and ``push`` Sigma f for
    the tuning in use.
    """

    delta: Matrix
    R: Matrix
    V: Matrix
    force: Matrix
    push: Matrix


@dataclass(frozen=True)
class Info:
    """Diagnostics of one transition of all chains: acceptance probabilities, divergences."""

    accept: Array
    divergent: int


@dataclass(frozen=True, eq=False)
class Stepper:
    """How trajectories are run: ``steps`` rotations of ``turn / steps``, at a temperature.

    ``heat`` multiplies the residual: 0 is the Gaussian, 1 the posterior.
    """

    frame: Frame
    steps: int
    turn: float
    heat: float
    force: Force

    @classmethod
    def of(cls, frame: Frame, steps: int, turn: float = TURN, heat: float = 1.0) -> Stepper:
        """Build the averaged force for this step."""
        half = 0.5 * turn / steps
        shrink, width = float(np.cos(half)), _ROOT3 * float(np.sin(half)) * frame.deviation
        slope = frame.potential.force(frame.mean, shrink, width)
        b, S = frame.dual, shrink * frame.precision

        def force(delta: Matrix) -> Matrix:
            f = slope(delta)
            f += b
            f -= S * delta
            return f

        return cls(frame, steps, turn, heat, force)

    def state(self, delta: Matrix) -> State:
        """Evaluate everything at a position."""
        f = self.force(delta)
        return State(delta, *self.frame.residual(delta), f, self.frame.spread(f))

    def fresh(self, noise: Noise, chains: int) -> Matrix:
        """Independent draws of N(0, Sigma)."""
        factor = self.frame.factor
        return factor @ noise.normal(factor.shape[1], chains)

    def move(self, at: State, noise: Noise) -> tuple[State, Info]:
        """One trajectory and its acceptance, for every chain."""
        with np.errstate(over="ignore", invalid="ignore"):  # a divergent one is rejected
            return self._move(at, noise)

    def _move(self, at: State, noise: Noise) -> tuple[State, Info]:
        frame, xp, heat = self.frame, self.frame.xp, self.heat
        chains = at.delta.shape[1]
        v = self.fresh(noise, chains)
        t = self.turn / self.steps * (1.0 + JITTER * (2.0 * noise.uniform(chains) - 1.0))
        c, s = xp.cos(t), xp.sin(t)
        e = heat * t  # a full kick; the two at the ends are halved
        change = -0.5 * e * _dot(xp, at.force, v - 0.25 * e * at.push)
        v -= 0.5 * e * at.push
        before, here = at.delta, c * at.delta + s * v
        f = self.force(here)
        push = frame.spread(f)
        for _ in range(self.steps - 1):
            after = 2.0 * c * here
            after -= before
            after -= e * s * push
            # the mean velocity at a kick is (after - before) / (2 sin t)
            change -= 0.5 * e / s * _dot(xp, f, after - before)
            before, here = here, after
            f = self.force(here)
            push = frame.spread(f)
        arriving = (c * here - before) / s
        arriving -= 0.25 * e * push
        change -= 0.5 * e * _dot(xp, f, arriving)
        R, V = frame.residual(here)
        change += heat * (R - at.R)
        change = xp.where(xp.isfinite(change), change, xp.full_like(change, np.inf))
        chance = xp.exp(-xp.clip(change, 0.0, None))
        taken = noise.uniform(chains) < chance
        new = State(
            xp.where(taken, here, at.delta),
            xp.where(taken, R, at.R),
            xp.where(taken, V, at.V),
            xp.where(taken, f, at.force),
            xp.where(taken, push, at.push),
        )
        return new, Info(frame.backend.get(chance), int((change > DIVERGENT).sum()))


@dataclass(frozen=True, eq=False)
class Trace:
    """What a run leaves: (draws, chains) of summed loss, R and five latents; acceptance."""

    potential: Array
    residual: Array
    latents: Array  # (five, draws, chains)
    accept: float
    divergent: int

    def __add__(self, other: Trace) -> Trace:
        parts = {
            name: np.concatenate([getattr(self, name), getattr(other, name)], axis=-2)
            for name in ("potential", "residual", "latents")
        }
        share = len(self.potential) / len(parts["potential"])
        accept = share * self.accept + (1.0 - share) * other.accept
        return replace(self, **parts, accept=accept, divergent=self.divergent + other.divergent)


def run(
    stepper: Stepper,
    state: State,
    noise: Noise,
    iterations: int,
    collect: Callable[[Matrix], None] | None = None,
) -> tuple[State, Trace]:
    """Run every chain for some trajectories; ``collect`` sees the positions after each."""
    on, n = stepper.frame.backend, len(stepper.frame)
    watched = np.unique(np.linspace(0, n - 1, min(n, 5)).round().astype(int))
    potential, residual, latents, accept, divergent = [], [], [], [], 0
    for _ in range(iterations):
        look()
        state, info = stepper.move(state, noise)
        if collect is not None:
            collect(state.delta)
        potential.append(on.get(state.V))
        residual.append(on.get(state.R))
        latents.append(on.get(state.delta[watched]))
        accept.append(info.accept.mean())
        divergent += info.divergent
    stacked = np.array(latents).transpose(1, 0, 2)
    trace = Trace(
        np.array(potential), np.array(residual), stacked, float(np.mean(accept)), divergent
    )
    return state, trace


def _dot(xp: Any, a: Matrix, b: Matrix) -> Matrix:
    """Inner product of each pair of columns."""
    return xp.einsum("ij,ij->j", a, b)
