"""Priors over hyperparameters; one a file."""

from svmselect.priors.base import Prior, Together
from svmselect.priors.box import Box
from svmselect.priors.convert import as_prior
from svmselect.priors.flat import Flat
from svmselect.priors.gaussian import Gaussian
from svmselect.priors.hierarchical import Hierarchical
from svmselect.priors.integrated import Integrated
from svmselect.priors.reach import Reach
from svmselect.priors.shrinkage import Shrinkage
from svmselect.priors.user import User
from svmselect.priors.vague import Vague

__all__ = [
    "Box", "Flat", "Gaussian", "Hierarchical", "Integrated", "Prior", "Reach", "Shrinkage",
    "Together", "User", "Vague", "as_prior",
]  # fmt: skip
