"""The losses once more, written with operations that NumPy and torch share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from svmselect.devices import Matrix


@dataclass(frozen=True, eq=False)
class PortableLoss(ABC):
    """A loss of many margins at once; ``xp`` is the module whose arrays they are."""

    xp: Any

    @abstractmethod
    def value(self, z: Matrix) -> Matrix:
        """l(z)."""

    @abstractmethod
    def slope(self, z: Matrix) -> Matrix:
        """-l'(z)."""

    def odds(self, C: float, z: Matrix) -> Matrix:
        """C [l(z) - l(-z)]: the log odds of the other label."""
        return C * (self.value(z) - self.value(-z))


class PortableHinge(PortableLoss):
    """(1 - z)_+."""

    def value(self, z: Matrix) -> Matrix:
        return self.xp.clip(1.0 - z, 0.0, None)

    def slope(self, z: Matrix) -> Matrix:
        return 1.0 * (z < 1.0)


class PortableSquaredHinge(PortableLoss):
    """1/2 (1 - z)_+^2."""

    def value(self, z: Matrix) -> Matrix:
        u = self.xp.clip(1.0 - z, 0.0, None)
        return 0.5 * u * u

    def slope(self, z: Matrix) -> Matrix:
        return self.xp.clip(1.0 - z, 0.0, None)


class PortableLogistic(PortableLoss):
    """log(1 + e^-z)."""

    def value(self, z: Matrix) -> Matrix:
        return softplus(self.xp, -z)

    def slope(self, z: Matrix) -> Matrix:
        return sigmoid(self.xp, -z)

    def odds(self, C: float, z: Matrix) -> Matrix:
        return -C * z


def softplus(xp: Any, t: Matrix) -> Matrix:
    """log(1 + e^t)."""
    return xp.clip(t, 0.0, None) + xp.log1p(xp.exp(-xp.abs(t)))


def sigmoid(xp: Any, t: Matrix) -> Matrix:
    """1/(1 + e^-t)."""
    return 0.5 + 0.5 * xp.tanh(0.5 * t)
