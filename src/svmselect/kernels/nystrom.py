"""Low-rank Gram matrices from a few landmarks.

With m of the n points as landmarks, Q = K[:, landmarks] and its m landmark rows A = U diag(v) U',
the Nystrom approximation with p components is

    K ~ Q (A)_p^+ Q' = G G',    G = Q U_p diag(v_p)^-1/2,

exact when m = p = n. (Williams & Seeger 2001; KK section 7, whose factors l/m cancel.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.data import Seed
from svmselect.types import Array, IntArray


def choose_landmarks(candidates: IntArray, m: int, random_state: Seed = 0) -> IntArray:
    """Draw m of the candidate rows without replacement, in ascending order.

    Parameters
    ----------
    candidates : ndarray of int
        The rows to choose from.
    m : int
        How many.
    random_state : int, Generator or None, default 0
        Seed.

    Returns
    -------
    ndarray of int
        The rows.
    """
    if not 1 <= m <= len(candidates):
        raise ValueError(
            f"nystrom asks for {m} landmarks, but there are {len(candidates)} rows of positive "
            f"weight; choose between 1 and {len(candidates)}"
        )
    if m == len(candidates):
        return candidates
    rng = np.random.default_rng(random_state)
    return np.sort(rng.choice(candidates, size=m, replace=False))


@dataclass(frozen=True, eq=False)
class Nystrom:
    """A low-rank factor G of a Gram matrix, given some of its columns, and the way back from it.

    Attributes
    ----------
    columns : ndarray of shape (n, m)
        Q, the columns of K at the landmarks.
    landmarks : ndarray of int
        The m landmark rows.
    values : ndarray of shape (m,)
        Eigenvalues of A, the landmark rows of Q, largest first.
    vectors : ndarray of shape (m, m)
        Its eigenvectors.
    factor : ndarray of shape (n, p)
        G, such that K is about G G'.
    rank : int
        How many eigenvalues are more than round-off, m eps of the largest.

    Notes
    -----
    ``K ~ Q (A)_p^+ Q' = G G'`` with G = Q U_p diag(v_p)^-1/2; exact when m = p = n. Components
    whose eigenvalue is round-off are left out, so p may come out smaller than asked for. O(m^2 n).

    References
    ----------
    Williams & Seeger 2001; Kobayashi & Komaki 2005, section 7.
    """

    columns: Array
    landmarks: IntArray
    values: Array
    vectors: Array
    factor: Array
    rank: int

    @classmethod
    def of(cls, columns: Array, landmarks: IntArray, components: int) -> Nystrom:
        """Factor a Gram matrix given its columns at the landmarks.

        Parameters
        ----------
        columns : ndarray of shape (n, m)
            The columns.
        landmarks : ndarray of int
            The landmark rows.
        components : int
            How many components to keep.

        Returns
        -------
        Nystrom
            The factor.
        """
        m = len(landmarks)
        if not 1 <= components <= m:
            raise ValueError(
                f"nystrom asks for {components} components of {m} landmarks; choose between 1 and "
                f"{m}"
            )
        block = columns[landmarks]
        values, vectors = np.linalg.eigh(0.5 * (block + block.T))
        values, vectors = values[::-1], vectors[:, ::-1]
        if not values[0] > 0:
            raise ValueError(
                "the Gram matrix of the landmarks is zero; choose another kernel, or exact algebra"
            )
        rank = int(np.sum(values > m * np.finfo(float).eps * values[0]))
        p = min(components, rank)
        factor = columns @ (vectors[:, :p] / np.sqrt(values[:p]))
        return cls(columns, landmarks, values, vectors, factor, rank)

    @property
    def components(self) -> int:
        """The number of components kept, p."""
        return int(self.factor.shape[1])

    @property
    def differentiable(self) -> bool:
        """Whether the p leading eigenvalues are apart from the rest, so that G G' is smooth."""
        p, v = self.components, self.values
        return p == self.rank or bool(v[p - 1] - v[p] > 1e-8 * v[p - 1])

    def features(self, columns: Array) -> Array:
        """Compute rows of G for new points.

        Parameters
        ----------
        columns : ndarray of shape (k, m)
            The new points' kernel values with the landmarks.

        Returns
        -------
        ndarray of shape (k, p)
            Their features.
        """
        p = self.components
        return np.asarray(columns @ (self.vectors[:, :p] / np.sqrt(self.values[:p])))

    def pullback(self, on_factor: Array) -> Array:
        """Turn derivatives with respect to G into derivatives with respect to Q.

        Parameters
        ----------
        on_factor : ndarray of shape (n, p)
            The derivatives of a number that depends on G G' only.

        Returns
        -------
        ndarray of shape (n, m)
            The derivatives with respect to Q. The landmark rows hold what flows through A as well.

        Notes
        -----
        With ``dphi/dG = 2 Psi G``, ``dK = dQ Z Q' + Q Z dQ' + Q dZ Q'``, Z = (A)_p^+, and dZ by the
        divided differences of the function that is 1/v on the p components kept and 0 on the
        others. O(m^2 n).
        """
        p, v, U = self.components, self.values, self.vectors
        root = np.sqrt(v[:p])
        on_columns = on_factor @ (U[:, :p] / root).T  # 2 Psi Q Z
        # rows of U'(Q' Psi Q)U for the kept components, and their divided differences
        inner = 0.5 * root[:, None] * (on_factor.T @ (self.columns @ U))
        divided = np.zeros_like(inner)
        divided[:, :p] = -1.0 / np.outer(v[:p], v[:p])
        if p < self.rank:  # else Q vanishes on the other vectors, and inner with it
            divided[:, p:] = 1.0 / (v[:p, None] * (v[:p, None] - v[p:]))
        bent = divided * inner
        half = U[:, :p] @ bent @ U.T
        on_columns[self.landmarks] += half + U[:, p:] @ bent[:, p:].T @ U[:, :p].T
        return np.asarray(on_columns)
