"""Local optima of values on a grid: hills that are really apart, not bumps on one slope."""

from __future__ import annotations

import heapq

import numpy as np

from svmselect.types import Array

Cell = tuple[int, int]


def other_hills(heights: Array, home: Cell, rise: float = 0.05, least: float = 0.0) -> list[Cell]:
    """Tops inside the grid, best first, that are on another hill than ``home``.

    Two cells are on different hills if every way between them goes down, from either, by at least
    ``rise`` of the distance from the greatest height to the median; a tenth of that will do for one
    that is higher than ``home``. And by ``least`` in any case. O(tops x cells log cells).
    """
    h = np.where(np.isfinite(heights), heights, -np.inf)
    finite = h[np.isfinite(h)]
    if not len(finite) or finite.max() == finite.min():
        return []
    dip = rise * float(finite.max() - np.median(finite))
    ways = [(h[home], lowest_on_the_way(h, home))]
    kept: list[Cell] = []
    for top in sorted(_tops(h), key=lambda cell: -h[cell]):
        needed = max(0.1 * dip if h[top] > h[home] else dip, least)
        apart = (min(h[top], height) - way[top] >= needed for height, way in ways)
        if dip > 0 and all(apart):
            kept.append(top)
            ways.append((h[top], lowest_on_the_way(h, top)))
    return kept


def lowest_on_the_way(heights: Array, start: Cell) -> Array:
    """For every cell, the lowest height on the way from ``start`` that keeps highest."""
    n, m = heights.shape
    found = np.full((n, m), -np.inf)
    reached = np.zeros((n, m), dtype=np.bool_)
    queue = [(-heights[start], start)]
    while queue:
        negative, (i, j) = heapq.heappop(queue)
        if reached[i, j]:
            continue
        reached[i, j], found[i, j] = True, -negative
        for a in range(max(i - 1, 0), min(i + 2, n)):
            for b in range(max(j - 1, 0), min(j + 2, m)):
                if not reached[a, b]:
                    heapq.heappush(queue, (max(negative, -heights[a, b]), (a, b)))
    return found


def _tops(h: Array) -> list[Cell]:
    """Cells inside the grid that none of their eight neighbours exceeds."""
    n, m = h.shape
    return [
        (i, j)
        for i in range(1, n - 1)
        for j in range(1, m - 1)
        if np.isfinite(h[i, j]) and h[i, j] >= h[i - 1 : i + 2, j - 1 : j + 2].max()
    ]
