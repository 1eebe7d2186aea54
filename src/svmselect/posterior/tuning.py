"""How many steps a trajectory should have, and where chains should start."""

from __future__ import annotations

import numpy as np

from svmselect.devices import Matrix
from svmselect.posterior.frame import Frame
from svmselect.posterior.hmc import TURN, State, Stepper
from svmselect.posterior.importance import annealed_importance
from svmselect.posterior.noise import Noise

# One step would be all but an independence sampler, whose chains stick in the Gaussian's tails.
# Where the loss is a wall (large C and amplitude) only short trajectories are accepted.
_STEPS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
LADDER = (*((steps, TURN) for steps in _STEPS), (256, 1.0), (256, 0.5), (256, 0.25))
_FIRST = 16  # steps of the trajectories that lead the first chains to the posterior
_TRIALS = 6  # transitions of all chains to judge a rung
_SETTLE = 12  # accepted quarter turns after which a start is forgotten


def tune(frame: Frame, noise: Noise, chains: int = 32) -> tuple[Stepper, float]:
    """Choose steps and length of trajectories on a few chains; also the acceptance they give.

    With acceptance a, draws a quarter turn apart have autocorrelation 1 - a, so a trajectory is
    worth a/(2-a) draws (somewhat less: rejections cluster, hence the power; and a short one less by
    1 - cos turn) and costs steps + 1 products with Sigma and as much again for the rest. Rungs are
    climbed while that gains; when the chains have settled, the neighbours are tried again.
    """
    judged: dict[int, float] = {}
    accepts: dict[int, float] = {}

    def judge(rung: int, delta: Matrix) -> Matrix:
        steps, turn = LADDER[rung]
        stepper = Stepper.of(frame, steps, turn)
        state, chances = stepper.state(delta), []
        for _ in range(_TRIALS):
            state, info = stepper.move(state, noise)
            chances.append(info.accept.mean())
        a = accepts[rung] = float(np.mean(chances[_TRIALS // 3 :]))
        judged[rung] = (a / (2.0 - a)) ** 1.5 * _worth(turn) / (steps + 2.0)
        return state.delta

    delta = annealed_importance(Stepper.of(frame, _FIRST), noise, chains, keep=0.5)[1]
    best = 0
    for rung in range(len(LADDER)):
        delta = judge(rung, delta)
        best = max(judged, key=judged.__getitem__)
        if accepts[rung] > 0.5 and judged[rung] < 0.9 * judged[best]:
            break
    delta = settled(Stepper.of(frame, *LADDER[best]), noise, delta, accepts[best]).delta
    judged.clear()
    for rung in range(max(best - 1, 0), min(best + 2, len(LADDER))):
        delta = judge(rung, delta)
    best = max(judged, key=judged.__getitem__)
    return Stepper.of(frame, *LADDER[best]), accepts[best]


def settled(stepper: Stepper, noise: Noise, delta: Matrix, accept: float) -> State:
    """Run chains until they have forgotten where they started, by their acceptance."""
    state = stepper.state(delta)
    needed = int(_SETTLE / max(accept * _worth(stepper.turn), 0.1))
    for _ in range(needed):
        state = stepper.move(state, noise)[0]
    return state


def _worth(turn: float) -> float:
    return float(min(1.0, 1.0 - np.cos(turn)))
