"""Several machines that were chosen side by side, and what each counts in their average.

A member is what the strategy finds for one loss and one form of kernel. Its weight is its share of
the marginal likelihood: exp of the log-likelihood of the held-out rows, less what its
hyperparameters cost (their prior, and the width of their posterior). So members that say the same
share the weight, and one that is clearly better has all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svmselect.estimators.chosen import Chosen, mean_likelihood, share_wrong
from svmselect.estimators.problem import Problem
from svmselect.kernels import Kernel
from svmselect.types import ErrorEstimate, Note

LEAST = 0.02
"""A member that counts for less is left out."""


@dataclass(frozen=True)
class Recipe:
    """A loss, and the kernels of which the best is taken with it."""

    loss: str
    kernels: tuple[Kernel, ...]

    @property
    def label(self) -> str:
        """For the trace: the loss and the kernels' classes."""
        forms = [type(leaf).__name__ for kernel in self.kernels for leaf in kernel.leaves()]
        return " ".join([self.loss, *dict.fromkeys(forms)])


@dataclass(frozen=True, eq=False)
class Member:
    """A loss, what was chosen for it, and its share of the whole."""

    loss: str
    chosen: Chosen
    weight: float = 1.0


def height(problem: Problem, chosen: Chosen) -> float:
    """The log marginal likelihood: of the held-out rows' classes, less what the freedom costs."""
    held = chosen.held_out
    if held is None:
        return float(problem.counts.sum()) * chosen.value - chosen.charge
    return float(problem.counts.sum()) * mean_likelihood(problem, held) - chosen.charge


def weighed(problem: Problem, losses: Sequence[str], found: Sequence[Chosen]) -> list[Member]:
    """The members by weight, the heaviest first, without those that hardly count."""
    heights = np.array([height(problem, chosen) for chosen in found])
    shares = np.exp(heights - heights.max())
    shares = shares / shares.sum()
    order = np.argsort(-shares, kind="stable")
    kept = [i for i in order if shares[i] >= LEAST or i == order[0]]
    total = float(shares[kept].sum())
    return [Member(losses[i], found[i], float(shares[i]) / total) for i in kept]


def averaged(problem: Problem, members: Sequence[Member]) -> list[Member]:
    """The same, the first one told what the average says of the held-out rows."""
    lead = members[0]
    held = lead.chosen.held_out
    said = [m.weight * h.probabilities for m in members if (h := m.chosen.held_out) is not None]
    if held is None or len(members) == 1 or len(said) < len(members):
        return list(members)
    mixed = replace(held, probabilities=np.sum(said, axis=0))
    error = ErrorEstimate(share_wrong(problem, mixed), float(problem.counts.sum()))
    forms = ", ".join(f"{m.weight:.0%} {m.loss} {_form(m)}" for m in members)
    note = Note("course", f"probabilities are averaged over {len(members)} machines: {forms}")
    chosen = replace(
        lead.chosen, error=error, held_out=mixed,
        notes=(*lead.chosen.notes, note),
    )  # fmt: skip
    return [replace(lead, chosen=chosen), *members[1:]]


def _form(member: Member) -> str:
    leaves = [leaf for kernel in member.chosen.setting.kernels[:1] for leaf in kernel.leaves()]
    return "+".join(dict.fromkeys(type(leaf).__name__ for leaf in leaves))
