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
    """The box that is searched, with a name for each coordinate.

    Parameters
    ----------
    names : tuple of str
        The names of the coordinates.
    lower, upper : ndarray of shape (p,)
        The limits.
    """

    names: tuple[str, ...]
    lower: Array
    upper: Array

    def __len__(self) -> int:
        return len(self.names)

    def clip(self, point: Array) -> Array:
        """Return the nearest point of the box.

        Parameters
        ----------
        point : ndarray of shape (p,)
            A point.

        Returns
        -------
        ndarray of shape (p,)
            The point itself if it is inside.
        """
        return np.minimum(np.maximum(point, self.lower), self.upper)

    def outward(self, point: Array, gradient: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Mark coordinates that are at an edge, with the descent direction pointing out of the box.

        Parameters
        ----------
        point : ndarray of shape (p,)
            A point of the box.
        gradient : ndarray of shape (p,)
            The gradient there.

        Returns
        -------
        ndarray of bool
            True for each such coordinate.
        """
        below = (point <= self.lower) & (gradient > 0)
        above = (point >= self.upper) & (gradient < 0)
        return np.asarray(below | above)


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """Base class of what a search remembers; subclasses add fields of their own.

    Attributes
    ----------
    space : Space
        The box.
    pending : tuple of ndarray
        The points it waits for.
    stopped : Status, optional
        Why the search is over; None while it is not.
    """

    space: Space
    pending: tuple[Array, ...]
    stopped: Status | None = None


S = TypeVar("S", bound=State)


@dataclass(frozen=True)
class Search(ABC, Generic[S]):
    """Base class of searches; a search's options are the fields of the subclass.

    Notes
    -----
    A search minimises a function of a vector inside a box and knows nothing else about it.
    Everything it remembers is in a frozen ``State``, the random generator's state included, so that
    the same answers lead to the same questions: resuming a run relies on that. ``start`` and
    ``tell`` make the next state; ``ask`` and ``stop`` read it. None of them changes anything, so
    any of them may be called twice. The class variables ``name`` and ``reference`` say what it is
    called and where it comes from.
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
        """Begin at a point of the box.

        Parameters
        ----------
        point : ndarray of shape (p,)
            Where to start.
        space : Space
            The box.
        seed : int
            Seed of what is random.

        Returns
        -------
        State
            The first state.
        """

    @abstractmethod
    def tell(self, state: S, answers: Sequence[Evaluation]) -> S:
        """Take in the answers to all that was asked.

        Parameters
        ----------
        state : State
            The present state.
        answers : sequence of Evaluation
            One for each point of ``ask(state)``, in order.

        Returns
        -------
        State
            The next state.
        """

    def ask(self, state: S) -> tuple[Array, ...]:
        """Return the points to evaluate next.

        Parameters
        ----------
        state : State
            The present state.

        Returns
        -------
        tuple of ndarray
            The points.
        """
        return state.pending

    def stop(self, state: S) -> Status | None:
        """Tell whether the search is over.

        Parameters
        ----------
        state : State
            The present state.

        Returns
        -------
        Status or None
            Why it is over; None if it is not.
        """
        return state.stopped

    def choice(self, state: S) -> Array | None:
        """Return the point that the search stands by.

        Parameters
        ----------
        state : State
            The last state.

        Returns
        -------
        ndarray or None
            The point; None means the one with the lowest value seen.
        """
        return None

    def edges(self, state: S) -> tuple[Array, Array]:
        """Return the box that the search looked into: a result on its edge deserves a warning.

        Parameters
        ----------
        state : State
            The last state.

        Returns
        -------
        lower : ndarray of shape (p,)
            Lower limits.
        upper : ndarray of shape (p,)
            Upper limits.
        """
        return state.space.lower, state.space.upper


def loss_of(answer: Evaluation) -> float:
    """Return the value to be minimised, infinite where it is not a number.

    Parameters
    ----------
    answer : Evaluation
        An evaluation.

    Returns
    -------
    float
        The value.
    """
    return answer.value if np.isfinite(answer.value) else np.inf


def slope_of(answer: Evaluation) -> Array | None:
    """Return the gradient, if there is one and it can be followed.

    Parameters
    ----------
    answer : Evaluation
        An evaluation.

    Returns
    -------
    ndarray or None
        The gradient.
    """
    usable = answer.gradient is not None and np.isfinite(answer.value)
    if not usable or not np.isfinite(answer.gradient).all():  # type: ignore[arg-type]
        return None
    return answer.gradient


def order_of(search: Search[Any]) -> int:
    """Return which derivatives a search asks for.

    Parameters
    ----------
    search : Search
        The search.

    Returns
    -------
    int
        0 for none, 1 for the gradient, 2 for the Hessian too.
    """
    return 2 if search.hessians else int(search.gradients)


def generator(state: Mapping[str, Any]) -> np.random.Generator:
    """Make a random generator from its state.

    Parameters
    ----------
    state : mapping
        What ``seeded`` or ``asleep`` returned.

    Returns
    -------
    numpy.random.Generator
        The generator, which goes on where it was.
    """
    bits = np.random.PCG64()
    bits.state = dict(state)  # type: ignore[assignment]
    return np.random.Generator(bits)


def asleep(rng: np.random.Generator) -> Mapping[str, Any]:
    """Return the state of a random generator, to be kept in a search's state.

    Parameters
    ----------
    rng : numpy.random.Generator
        A generator made by ``generator``.

    Returns
    -------
    mapping
        Its state.
    """
    return dict(rng.bit_generator.state)


def seeded(seed: int) -> Mapping[str, Any]:
    """Return the state of a new random generator.

    Parameters
    ----------
    seed : int
        Its seed.

    Returns
    -------
    mapping
        Its state, for ``generator``.
    """
    return asleep(np.random.Generator(np.random.PCG64(seed)))


def no_gradient(search: Search[Any]) -> Status:
    """Return the status of a search whose first point has no gradient to follow.

    Parameters
    ----------
    search : Search
        The search.

    Returns
    -------
    Status
        What is wrong, and which searches to use instead.
    """
    return Status(
        "failed",
        f"the criterion has no finite value or gradient where {search.name!r} starts; "
        "start elsewhere or use a search without gradients",
    )
