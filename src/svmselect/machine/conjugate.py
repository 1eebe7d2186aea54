"""Bordered systems of several machines over the same rows, side by side, without a factorisation:

    (K + D_k) x_k + shift_k 1 = rhs_k,    1'x_k = 0 where there is an intercept,

by conjugate gradients on K itself, with K ~ L L' of few columns to precondition them. D_k = 1/W_k,
and where W_k is zero, x_k is. The kernels that a search looks at are smooth and D is not small:
some dozens of columns leave a matrix that ten or twenty products with K deal with, where a
factorisation costs as much as a hundred, and the columns serve all machines.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, solve_triangular

from svmselect.clock import look
from svmselect.types import Array, IntArray

_FIRST = 24  # columns of the first block; each further one has twice as many
_SEVERAL = 5  # rows from which one product of matrices is faster than products with vectors
_LITTLE = 0.3  # of K, weighed by W and summed, is not worth a column


def columns_of(K: Array, W: Array, most: int) -> tuple[Array, Array]:
    """L of at most ``most`` columns with K ~ L L', and the diagonal of what is left.

    The rows that L goes through are drawn at random by what is left of them, times W.
    O(n most^2).
    """
    rng = np.random.default_rng(0)
    left = np.maximum(K.diagonal(), 0.0)
    L, size = np.empty((len(K), 0)), _FIRST
    while L.shape[1] < most:
        score = left * W
        total = float(score.sum())
        if not total > _LITTLE:
            break
        count = min(size, most - L.shape[1], int(np.count_nonzero(score > 1e-3 * score.max())))
        rows = rng.choice(len(K), count, replace=False, p=score / total)
        G = K[:, rows] - L @ L[rows].T
        H = G[rows]
        R, order, rank, _ = lapack.dpstrf(H, tol=1e-10 * float(H.diagonal().max()))
        if rank == 0:
            break
        kept, R = order[:rank] - 1, np.triu(R[:rank, :rank])
        new = solve_triangular(R, G[:, kept].T, trans=1, check_finite=False).T
        L = np.hstack([L, new])
        left = np.maximum(left - (new**2).sum(axis=1), 0.0)
        size *= 2
    return L, left


class Preconditioner:
    """The same systems with L L' for K, solved directly; half of what is left is added to D.

    All arrays are (machines, right-hand sides, rows).
    """

    def __init__(self, L: Array, left: Array, W: Array, border: bool) -> None:
        self.L, self.border = L, border
        self.W = (W / (1.0 + 0.5 * W * left))[:, None]
        self.inner = np.array([_inverse(L, w) for w in self.W[:, 0]])
        if border:
            self.ones = self._plain(np.ones_like(self.W), np.arange(len(W)))
            self.total = self.ones.sum(axis=-1)

    def _plain(self, R: Array, at: IntArray) -> Array:
        W, L = self.W[at], self.L
        V = W * R
        if R.shape[1] == 1:
            return np.asarray(V - W * (((V @ L) @ self.inner[at]) @ L.T))
        # a stack of small products is slower than one of them all
        U = (V.reshape(-1, len(L)) @ L).reshape(*R.shape[:2], L.shape[1]) @ self.inner[at]
        return np.asarray(V - W * (U.reshape(-1, L.shape[1]) @ L.T).reshape(R.shape))

    def solve(self, R: Array, at: IntArray) -> tuple[Array, Array]:
        """x and shift of the machines ``at``."""
        x = self._plain(R, at)
        if not self.border:
            return x, np.zeros(x.shape[:2])
        shift = x.sum(axis=-1) / self.total[at]
        return x - shift[..., None] * self.ones[at], shift

    def balanced(self, x: Array) -> Array:
        """A start near x that sums to nothing."""
        if not self.border:
            return x
        return np.asarray(x - (x.sum(axis=-1) / self.total)[..., None] * self.ones)


def _inverse(L: Array, w: Array) -> Array:
    """(1 + L'W L)^-1; refuses what rounding has made indefinite."""
    if not L.shape[1]:
        return np.empty((0, 0))
    T = L.T @ (L * w[:, None])
    T.flat[:: len(T) + 1] += 1.0
    factor, info = lapack.dpotrf(T.T, lower=1)
    half, failed = lapack.dpotri(factor, lower=1)
    if info or failed:
        raise FloatingPointError("a preconditioner is not positive definite")
    return np.asarray(half + np.tril(half, -1).T)


def products(K: Array, x: Array) -> Array:
    """K x for every row of x, however many axes come before."""
    flat = x.reshape(-1, x.shape[-1])
    if len(flat) > _SEVERAL:
        found = np.ascontiguousarray((K @ flat.T).T)
    else:
        found = np.empty_like(flat)
        for one, into in zip(flat, found, strict=True):
            np.dot(K, one, out=into)
    return found.reshape(x.shape)


def conjugate_gradients(
    K: Array, W: Array, R: Array, by: Preconditioner, at: IntArray, gain: Array | float, most: int
) -> tuple[Array, Array, Array] | None:
    """x, K x and shift, with W times the residual less by the factor ``gain``; else None.

    ``R`` are the right-hand sides of the machines ``at``, whose weights are ``W``.
    """
    W = W[:, None]
    trained = W > 0
    D = np.divide(1.0, W, out=np.zeros_like(W), where=trained)
    x, Kx = np.zeros_like(R), np.zeros_like(R)
    Z, shift = by.solve(R, at)
    R = np.where(trained, R - shift[..., None], 0.0)
    first = np.abs(W * R).max(axis=-1)
    p, square = Z, (R * Z).sum(axis=-1)
    done = first == 0.0
    for _ in range(most):
        if done.all():
            return x, Kx, shift
        look()
        Kp = products(K, p)
        Ap = np.where(trained, Kp + D * p, 0.0)
        bend = (p * Ap).sum(axis=-1)
        going = ~done & (bend > 0)
        a = np.divide(square, bend, out=np.zeros_like(bend), where=going)[..., None]
        x, Kx, R = x + a * p, Kx + a * Kp, R - a * Ap
        Z, more = by.solve(R, at)
        more = np.where(going, more, 0.0)
        shift, R = shift + more, np.where(trained, R - more[..., None], 0.0)
        done = done | (np.abs(W * R).max(axis=-1) <= gain * first)
        before, square = square, (R * Z).sum(axis=-1)
        turn = np.divide(square, before, out=np.zeros_like(square), where=~done & (before > 0))
        p = Z + turn[..., None] * p
    return (x, Kx, shift) if done.all() else None
