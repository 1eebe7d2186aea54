"""Tiles of sums and products of kernels, in place."""

from __future__ import annotations

from math import fsum, prod

import numpy as np

from .tiles import Array, Block


class CompositeBlock(Block):
    """Constants are numbers here; only the other parts need a tile."""

    def __init__(self, blocks: list[Block], scalars: list[float | None]) -> None:
        self.blocks = blocks
        self.scalars = scalars
        self.varying = [b for b, s in zip(blocks, scalars, strict=True) if s is None]
        self.constants = [s for s in scalars if s is not None]


class SumBlock(CompositeBlock):
    """A tile of a sum."""

    def fill(self, rows: slice, cols: slice, out: Array) -> None:
        if not self.varying:
            out.fill(fsum(self.constants))
            return
        self.varying[0].fill(rows, cols, out)
        for block in self.varying[1:]:
            scratch = np.empty_like(out)
            block.fill(rows, cols, scratch)
            out += scratch
        if constant := fsum(self.constants):
            out += constant

    def pull(self, rows: slice, cols: slice, G: Array, K: Array | None) -> Array:
        rest = None
        if K is not None and len(self.varying) == 1:
            constant = fsum(self.constants)
            rest = K - constant
            # Beside a much larger constant the difference has lost its digits: compute afresh.
            if constant > 1e3 * np.abs(rest).max():
                rest = None
        return np.concatenate(
            [
                b.pull(rows, cols, G, rest) if s is None else np.array([s * G.sum()])
                for b, s in zip(self.blocks, self.scalars, strict=True)
            ]
        )


class ProductBlock(CompositeBlock):
    """A tile of a product."""

    def fill(self, rows: slice, cols: slice, out: Array) -> None:
        factor = prod(self.constants)
        if not self.varying:
            out.fill(factor)
            return
        self.varying[0].fill(rows, cols, out)
        for block in self.varying[1:]:
            scratch = np.empty_like(out)
            block.fill(rows, cols, scratch)
            out *= scratch
        if factor != 1.0:
            out *= factor

    def pull(self, rows: slice, cols: slice, G: Array, K: Array | None) -> Array:
        factor = prod(self.constants)
        if K is not None and len(self.varying) == 1:
            values = [K / factor]
        else:
            values = [np.empty_like(G) for _ in self.varying]
            for block, tile in zip(self.varying, values, strict=True):
                block.fill(rows, cols, tile)
        scaled = factor * G
        # d/dlog c of c * rest is the product itself, the same number for every constant factor.
        whole = float(np.sum(_times(scaled, values))) if self.constants else 0.0
        pulled: list[Array] = []
        varying = 0
        for block, scalar in zip(self.blocks, self.scalars, strict=True):
            if scalar is not None:
                pulled.append(np.array([whole]))
                continue
            others = values[:varying] + values[varying + 1 :]
            pulled.append(block.pull(rows, cols, _times(scaled, others), values[varying]))
            varying += 1
        return np.concatenate(pulled)


def _times(G: Array, values: list[Array]) -> Array:
    result = G
    for value in values:
        result = result * value
    return result
