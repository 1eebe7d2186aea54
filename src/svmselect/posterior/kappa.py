"""The constant that keeps the likelihood of a support vector machine below one.

1/kappa(C) = max_z [exp(-C loss(z)) + exp(-C loss(-z))], so that kappa^n exp(-C sum loss) is a
likelihood whose two classes never add up to more than one (Sollich 2002; GS section 2).
"""

from __future__ import annotations

from svmselect.machine.losses import get_loss


def log_kappa(loss: str, C: float) -> tuple[float, float]:
    """Give ln kappa(C) and its derivative by C; smooth but for the logistic loss at C = 1."""
    rule = get_loss(loss)
    if not C > 0:
        raise ValueError(f"C must be positive, got {C!r}")
    return rule.log_kappa(C)
