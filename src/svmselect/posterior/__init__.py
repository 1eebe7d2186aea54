"""The posterior of the latent function for one Gram matrix, penalty and loss."""

from svmselect.posterior.ep import EP, Start, expectation_propagation

__all__ = ["EP", "Start", "expectation_propagation"]
