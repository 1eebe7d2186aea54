"""The constant that keeps the likelihood of a support vector machine below one.

1/kappa(C) = max_z [exp(-C loss(z)) + exp(-C loss(-z))], so that kappa^n exp(-C sum loss) is a
likelihood whose two classes never add up to more than one (Sollich 2002; GS section 2).
"""

from __future__ import annotations

from math import cosh, exp, log, log1p, sqrt, tanh

from svmselect.machine.losses import get_loss


def log_kappa(loss: str, C: float) -> tuple[float, float]:
    """Give ln kappa(C) and its derivative by C; smooth but for the logistic loss at C = 1.

    hinge: the maximum is at z = 1, kappa = 1/(1 + e^-2C). Squared hinge: z = tanh(C z), that is
    z = 0 up to C = 1 and the positive root beyond; d ln kappa/dC = (1 - z^2)/2 by the envelope
    theorem. Logistic: z = 0 for C < 1, infinite beyond.
    """
    get_loss(loss)
    if not C > 0:
        raise ValueError(f"C must be positive, got {C!r}")
    if loss == "hinge":
        small = exp(-2.0 * C)
        return -log1p(small), 2.0 * small / (1.0 + small)
    if loss == "logistic":
        return (0.0, 0.0) if C >= 1.0 else ((C - 1.0) * log(2.0), log(2.0))
    if C <= 1.0:
        return 0.5 * C - log(2.0), 0.5
    u = _root(C)
    # ln(1/kappa) = -C (1-z)^2/2 + ln(1 + e^-2u) with u = C z, and 1 - z from tanh: nothing cancels
    small = exp(-2.0 * u)
    short = 2.0 * small / (1.0 + small)
    slope = 0.5 / cosh(u) ** 2 if u < 300.0 else 0.0
    return 0.5 * C * short**2 - log1p(small), slope


def _root(C: float) -> float:
    """The positive solution of u = C tanh(u), C > 1."""
    if C > 20.0:
        return C * tanh(C)  # e^-40 away from the solution at most
    u = sqrt(3.0 * (C - 1.0) * (1.0 + 0.2 * (C - 1.0)))  # of u/tanh(u) = 1 + u^2/3 - u^4/45 + ...
    if C < 1.0 + 1e-5:
        return u
    # u/tanh(u) is convex: Newton's method falls monotonically to the root after its first step
    for _ in range(60):
        t = tanh(u)
        slope = 1.0 / t - u * (1.0 / (t * t) - 1.0)
        step = (u / t - C) / slope
        u -= step
        if abs(step) <= 1e-15 * u:
            break
    return u
