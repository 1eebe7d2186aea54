"""The posterior of the latent function for one Gram matrix, penalty and loss."""

from svmselect.posterior.approximation import EP, Start
from svmselect.posterior.curvature import evidence_hessian
from svmselect.posterior.ep import expectation_propagation

__all__ = ["EP", "Start", "evidence_hessian", "expectation_propagation"]
