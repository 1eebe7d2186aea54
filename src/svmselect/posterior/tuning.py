"""How many steps a trajectory should have, and where chains should start."""

from __future__ import annotations

import numpy as np

from svmselect.posterior.backend import Matrix
from svmselect.posterior.frame import Frame
from svmselect.posterior.hmc import State, Stepper
from svmselect.posterior.importance import annealed_importance
from svmselect.posterior.noise import Noise

# One step would be all but an independence sampler, whose chains stick in the Gaussian's tails.
STEPS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
_FIRST = 16  # steps of the trajectories that lead the first chains to the posterior
_TRIALS = 6  # transitions of all chains to judge a number of steps
_SETTLE = 12  # accepted trajectories after which a start is forgotten


def tune(frame: Frame, noise: Noise, chains: int = 32) -> tuple[Stepper, float]:
    """Choose the number of steps on a few chains; also the acceptance it gives.

    With acceptance a, draws a quarter turn apart have autocorrelation 1 - a, so a trajectory is
    worth a/(2-a) draws (somewhat less: rejections cluster, hence the power) and costs steps + 1
    products with Sigma and as much again for the rest. Steps are raised while that gains; when the
    chains have settled, the neighbours are tried again.
    """
    judged: dict[int, float] = {}
    accepts: dict[int, float] = {}

    def judge(steps: int, delta: Matrix) -> Matrix:
        stepper = Stepper.of(frame, steps)
        state, chances = stepper.state(delta), []
        for _ in range(_TRIALS):
            state, info = stepper.move(state, noise)
            chances.append(info.accept.mean())
        a = accepts[steps] = float(np.mean(chances[_TRIALS // 3 :]))
        judged[steps] = (a / (2.0 - a)) ** 1.5 / (steps + 2.0)
        return state.delta

    delta = annealed_importance(Stepper.of(frame, _FIRST), noise, chains, keep=0.5)[1]
    best = STEPS[0]
    for steps in STEPS:
        delta = judge(steps, delta)
        best = max(judged, key=judged.__getitem__)
        if accepts[steps] > 0.5 and judged[steps] < 0.9 * judged[best]:
            break
    delta = settled(Stepper.of(frame, best), noise, delta, accepts[best]).delta
    at = STEPS.index(best)
    judged.clear()
    for steps in STEPS[max(at - 1, 0) : at + 2]:
        delta = judge(steps, delta)
    best = max(judged, key=judged.__getitem__)
    return Stepper.of(frame, best), accepts[best]


def settled(stepper: Stepper, noise: Noise, delta: Matrix, accept: float) -> State:
    """Run chains until they have forgotten where they started, by their acceptance."""
    state = stepper.state(delta)
    for _ in range(min(int(_SETTLE / max(accept, 0.05)), 10 * _SETTLE)):
        state = stepper.move(state, noise)[0]
    return state
