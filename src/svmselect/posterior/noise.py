"""Random numbers where the chains live: in NumPy or on a torch device, from one seed."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from svmselect.data import Seed
from svmselect.devices import Matrix
from svmselect.posterior.backend import Backend, TorchBackend


class Noise(Protocol):
    """A stream of random numbers; drawing from it moves it on."""

    def normal(self, rows: int, columns: int) -> Matrix:
        """Independent standard normals."""

    def uniform(self, size: int) -> Matrix:
        """Uniform on (0, 1)."""


class NumpyNoise:
    """NumPy's generator."""

    def __init__(self, seed: Seed) -> None:
        self.generator = np.random.default_rng(seed)

    def normal(self, rows: int, columns: int) -> Matrix:
        return self.generator.standard_normal((rows, columns))

    def uniform(self, size: int) -> Matrix:
        return self.generator.random(size)


class TorchNoise:
    """torch's generator on the device, seeded from NumPy's."""

    def __init__(self, seed: Seed, backend: TorchBackend) -> None:
        self.torch, self.device = backend.torch, backend.device
        self.generator = self.torch.Generator(device=self.device)
        self.generator.manual_seed(int(np.random.default_rng(seed).integers(2**62)))

    def normal(self, rows: int, columns: int) -> Matrix:
        return self.torch.randn((rows, columns), **self._where)

    def uniform(self, size: int) -> Matrix:
        return self.torch.rand(size, **self._where)

    @property
    def _where(self) -> dict[str, Any]:
        return {
            "generator": self.generator,
            "dtype": self.torch.float64,
            "device": self.device,
        }


def get_noise(seed: Seed, backend: Backend) -> Noise:
    """Open a stream on the backend's device."""
    return TorchNoise(seed, backend) if isinstance(backend, TorchBackend) else NumpyNoise(seed)


def array_module(backend: Backend) -> Any:
    """Give the module whose ``clip``, ``where``, ``exp`` ... take the backend's arrays."""
    return backend.torch if isinstance(backend, TorchBackend) else np
