"""What a search is: a rule that asks for points, is told their losses, and says when to stop.

A search minimises a function of a vector inside a box and knows nothing else about it. Everything
it remembers is in a frozen State, the random generator's state included, so that the same answers
lead to the same questions: that is what resuming a run relies on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from svmselect.types import Array, Evaluation, Status

LINEAR = "log C"
"""The coordinate in which Gold & Sollich step linearly, not by its logarithm."""


@dataclass(frozen=True, eq=False)
class Space:
    """A box in search coordinates, with a name for each of them."""

    names: tuple[str, ...]
    lower: Array
    upper: Array

    def __len__(self) -> int:
        return len(self.names)

    def clip(self, point: Array) -> Array:
        """The nearest point of the box."""
        return np.minimum(np.maximum(point, self.lower), self.upper)

    def outward(self, point: Array, gradient: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which coordinates lie on the edge, with the descent direction pointing out of the box."""
        below = (point <= self.lower) & (gradient > 0)
        above = (point >= self.upper) & (gradient < 0)
        return np.asarray(below | above)


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """What a search remembers: the points it waits for, why it is over, and its own fields."""

    space: Space
    pending: tuple[Array, ...]
    stopped: Status | None = None


S = TypeVar("S", bound=State)


@dataclass(frozen=True)
class Search(ABC, Generic[S]):
    """A search; its options are the fields of the subclass, one subclass a file in this folder.

    ``start`` and ``tell`` make the next State; ``ask`` and ``stop`` read it. None of them changes
    anything, so any of them may be called twice.
    """

    name: ClassVar[str]
    gradients: ClassVar[bool] = False
    """Whether it needs gradients."""
    hessians: ClassVar[bool] = False
    """Whether it needs Hessians too."""
    chain: ClassVar[int] = 8
    """How many points of one batch are evaluated one after the other, each starting from the
    machines of the one before; batches are cut into pieces of this length."""
    reference: ClassVar[str]

    @abstractmethod
    def start(self, point: Array, space: Space, seed: int) -> S:
        """Begin at a point of the box."""

    @abstractmethod
    def tell(self, state: S, answers: Sequence[Evaluation]) -> S:
        """Take in the answers to all that was asked, in order."""

    def ask(self, state: S) -> tuple[Array, ...]:
        """Give the points to evaluate next."""
        return state.pending

    def stop(self, state: S) -> Status | None:
        """Why the search is over; None if it is not."""
        return state.stopped

    def choice(self, state: S) -> Array | None:
        """The point the search stands by; None means the lowest loss seen."""
        return None

    def edges(self, state: S) -> tuple[Array, Array]:
        """The box it looked into: a result on its edge deserves a warning."""
        return state.space.lower, state.space.upper


def loss_of(answer: Evaluation) -> float:
    """Give the loss, plus infinity where it is no number."""
    return answer.value if np.isfinite(answer.value) else np.inf


def slope_of(answer: Evaluation) -> Array | None:
    """Give the gradient if there is one and it can be followed."""
    usable = answer.gradient is not None and np.isfinite(answer.value)
    if not usable or not np.isfinite(answer.gradient).all():  # type: ignore[arg-type]
        return None
    return answer.gradient


def order_of(search: Search[Any]) -> int:
    """What a search wants to know of the function: 0 the value, 1 the gradient, 2 the Hessian."""
    return 2 if search.hessians else int(search.gradients)


def generator(state: Mapping[str, Any]) -> np.random.Generator:
    """Wake a random generator from its state."""
    bits = np.random.PCG64()
    bits.state = dict(state)  # type: ignore[assignment]
    return np.random.Generator(bits)


def asleep(rng: np.random.Generator) -> Mapping[str, Any]:
    """The state of a generator made by ``generator`` or ``seeded``."""
    return dict(rng.bit_generator.state)


def seeded(seed: int) -> Mapping[str, Any]:
    """The state of a fresh generator."""
    return asleep(np.random.Generator(np.random.PCG64(seed)))


def no_gradient(search: Search[Any]) -> Status:
    """Say that the first point has no gradient to follow."""
    return Status(
        "failed",
        f"the criterion has no finite value or gradient where {search.name!r} starts; "
        "start elsewhere or use a search without gradients",
    )
