"""The evidence of a kernel by expectation propagation, everything n x n on a device.

The Gram matrix is made where it is used, and so is the gradient: what travels are rows, vectors and
a few numbers. (``ep.py`` takes a Gram matrix from the host, and gives n x n matrices back.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.devices import get_device, within_memory
from svmselect.kernels import Kernel
from svmselect.kernels.on_device import pulled_back
from svmselect.kernels.portable import values
from svmselect.machine.check import check_scale
from svmselect.posterior import landmark_start
from svmselect.posterior.approximation import Start
from svmselect.posterior.backend import get_backend
from svmselect.posterior.ep import SWEEPS, TOLERANCE
from svmselect.posterior.factors import get_sites, log_concave
from svmselect.posterior.fixed_point import Equations
from svmselect.posterior.iteration import find_fixed_point
from svmselect.posterior.kappa import log_kappa
from svmselect.posterior.latent import DensePrior
from svmselect.types import Array, Status


@dataclass(frozen=True, eq=False)
class Evidence:
    """The log evidence, its gradient by log C and the kernel's ``theta``, and the run's end."""

    log_evidence: float
    gradient: Array | None
    start: Start
    sweeps: int
    residual: float
    status: Status


def evidence_on(
    device: str,
    kernel: Kernel,
    X: Array,
    y: Array,
    C: float,
    loss: str,
    weights: Array,
    normalised: bool = False,
    start: Start | None = None,
    gradient: bool = True,
) -> Evidence:
    """What ``propagate`` finds for ``kernel(X)``, and how it moves with the kernel. O(n^3)."""
    with within_memory(device, len(y), "give rank=, fewer rows, or a device with more of it"):
        on, backend = get_device(device), get_backend(device)
        diagonal = np.asarray(kernel.diag(X), dtype=np.float64)
        check_scale(np.diag(diagonal[[int(np.argmax(diagonal))]]))
        K = values(kernel, X, X, on)
        prior = DensePrior(K, diagonal, backend, signed=not log_concave(loss, normalised))
        begin = start if start is not None and len(start.precision) == len(y) else None
        if begin is None and not prior.signed:
            begin = landmark_start.begin(prior, y, C, loss, weights)

        def equations(C: float) -> Equations:
            return Equations(prior, y, get_sites(loss, C, weights, normalised))

        state, sweeps, status = find_fixed_point(equations, C, begin, TOLERANCE, SWEEPS)
        shift, slope = (0.0, 0.0) if normalised else log_kappa(loss, C)
        total = float(weights.sum())
        b = y * state.dual
        tau = state.tilted.precision
        slopes = None
        if gradient:
            by_C = float(state.tilted.log_C.sum()) + total * C * slope
            beta = backend.put(b)
            G = state.latent.inner()
            G *= -0.5
            G += 0.5 * beta[:, None] * beta
            slopes = np.concatenate([[by_C], pulled_back(kernel, X, G, on)])
        return Evidence(
            log_evidence=state.value() + total * shift,
            gradient=slopes,
            start=Start(tau, b + tau * y * state.mean, b, state.s2),
            sweeps=sweeps,
            residual=state.residual,
            status=status,
        )
