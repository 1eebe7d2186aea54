"""Where dense algebra runs: NumPy, or torch on a card or the processor; torch is loaded here only.

Algorithms that need no more than ``@ * +``, ``.T``, indexing and the elementwise functions of
``xp`` are written once for both. Sums of many terms come back in double precision whatever the
precision of the terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from scipy.linalg import lapack

from svmselect.types import Array, IntArray

Matrix = Any  # a NumPy array or a torch tensor


class Device(Protocol):
    """What an array library is asked for."""

    xp: Any
    room: int
    """Kernel values at a time."""

    def put(self, array: Array) -> Matrix:
        """Move there, in the precision of this device."""

    def get(self, matrix: Matrix) -> Array:
        """Move back, in double precision."""

    def zeros(self, *shape: int) -> Matrix:
        """Make what sums are collected in, in double precision."""

    def block(self, matrix: Matrix, rows: IntArray) -> Matrix:
        """Copy these rows and columns of a square matrix, in double precision."""

    def cholesky(self, matrix: Matrix) -> Matrix | None:
        """Lower factor, None if not positive definite; may overwrite the argument. n^3/3 flops."""

    def cholesky_solve(self, lower: Matrix, right: Matrix) -> Matrix:
        """(L L')^-1 right. O(n^2) a column."""


class NumpyDevice:
    """The processor, through NumPy."""

    xp: Any = np
    room = 2**20  # 4 or 8 MiB: in cache

    def __init__(self, single: bool = False) -> None:
        self._dtype = np.float32 if single else np.float64

    def put(self, array: Array) -> Matrix:
        return np.asarray(array, dtype=self._dtype)

    def get(self, matrix: Matrix) -> Array:
        return np.asarray(matrix, dtype=np.float64)

    def zeros(self, *shape: int) -> Matrix:
        return np.zeros(shape)

    def block(self, matrix: Matrix, rows: IntArray) -> Matrix:
        return np.asarray(matrix[np.ix_(rows, rows)], dtype=np.float64)

    def cholesky(self, matrix: Matrix) -> Matrix | None:
        # symmetric, so the transpose is the same matrix in LAPACK's order
        lower, info = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1, clean=1)
        return None if info else lower

    def cholesky_solve(self, lower: Matrix, right: Matrix) -> Matrix:
        return lapack.dpotrs(lower, right, lower=1)[0]


class TorchDevice:
    """A device of torch's, by its name."""

    def __init__(self, device: str, single: bool = False) -> None:
        self.xp = load_torch(device)
        self.room = NumpyDevice.room if device == "torch-cpu" else 2**28
        self._where = self.xp.device(device.removeprefix("torch-"))
        self._dtype = self.xp.float32 if single else self.xp.float64

    def put(self, array: Array) -> Matrix:
        if self.xp.is_tensor(array):
            tensor: Matrix = array
            return tensor.to(self._where, dtype=self._dtype)
        given = np.ascontiguousarray(array)
        if not given.flags.writeable:  # torch shares no such memory
            given = given.copy()
        return self.xp.from_numpy(given).to(self._where, dtype=self._dtype)

    def get(self, matrix: Matrix) -> Array:
        return np.asarray(matrix.cpu().numpy(), dtype=np.float64)

    def zeros(self, *shape: int) -> Matrix:
        return self.xp.zeros(shape, dtype=self.xp.float64, device=self._where)

    def block(self, matrix: Matrix, rows: IntArray) -> Matrix:
        at = self.xp.as_tensor(rows, device=self._where)
        made = self.zeros(len(rows), len(rows))
        size = max(1, self.room // max(len(matrix), 1))
        for first in range(0, len(rows), size):  # all rows at once would be another such matrix
            part = slice(first, first + size)
            made[part] = matrix[at[part]][:, at]
        return made

    def cholesky(self, matrix: Matrix) -> Matrix | None:
        lower, info = self.xp.linalg.cholesky_ex(matrix)
        return None if int(info) else lower

    def cholesky_solve(self, lower: Matrix, right: Matrix) -> Matrix:
        return self.xp.cholesky_solve(right, lower)


def check_device(device: str) -> None:
    """Refuse what names no device; whether it is there is seen when it is used."""
    if device not in ("cpu", "torch-cpu") and not str(device).startswith("cuda"):
        raise ValueError(f'device={device!r} is not one of "cpu", "cuda", "torch-cpu"')


def get_device(device: str, single: bool = False) -> Device:
    """Give the device called "cpu" (NumPy), "torch-cpu", "cuda" or "cuda:1"."""
    check_device(device)
    return NumpyDevice(single) if device == "cpu" else TorchDevice(device, single)


def usable(device: str) -> tuple[str, str]:
    """Give a device to compute on: this one, or the processor and why."""
    if device == "cpu":
        return device, ""
    try:
        load_torch(device)
    except ValueError as error:
        check_device(device)
        said = str(error).split("; ")[0]
        return "cpu", f"{said}; all was computed on the processor"
    return device, ""


def free_bytes(device: str) -> int | None:
    """How much memory a card has left, what torch holds without need included; None for none."""
    if not device.startswith("cuda"):
        return None
    torch = load_torch(device)
    free: int = torch.cuda.mem_get_info(device)[0]
    return free + int(torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


@contextmanager
def within_memory(device: str, rows: int, remedy: str) -> Iterator[None]:
    """Say what to do where a device has no room for what is made inside."""
    try:
        yield
    except RuntimeError as error:  # torch has no class for it that all of its devices raise
        if not any(words in str(error) for words in ("out of memory", "can't allocate memory")):
            raise
        said = f"device={device!r} has no room for the matrices of {rows:,} rows; {remedy}"
        raise ValueError(said) from error


def load_torch(device: str) -> Any:
    """Give torch if it is there and has the device; refuse with the remedy if not."""
    check_device(device)
    try:
        import torch
    except ImportError:
        raise ValueError(
            f"device={device!r} needs torch, which is not installed; "
            'install svmselect[gpu], or use device="cpu"'
        ) from None
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ValueError(f'device={device!r}: torch finds no GPU here; use device="cpu"')
    return torch
