// Quadratic programs over a box, the common form of every dual this library solves:
//
//     minimise  1/2 b'(K + diag(ridge)) b - target'b,   lower <= b <= upper,   [sum(b) = total]
//
// `b` is the signed dual variable beta = y * alpha, so K enters as it is, without labels.
// The residual r = target - (K + diag(ridge)) b is kept up to date throughout; at the optimum
// r = offset on the free coordinates, r <= offset at the lower and r >= offset at the upper bound
// (offset = 0 where the sum is not constrained).
//
// decompose(): working sets of two, chosen to second order (Fan, Chen & Lin 2005; without the
//              constraint on the sum, Steinwart, Hush & Scovel 2011). O(n) a step.
// settle():    active-set descent, from there to the optimal sets. O(|F|^2) a change, O(n |F|) a round.
// pivot():     block principal pivoting on the active sets (Judice & Pires 1994): one Cholesky
//              factorisation of the free block a round, exact when it ends. O(|F|^3 + n |F|) a round.
//
// The first is here, the others in settling.hpp and pivoting.hpp; reference.py is the same in NumPy.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "list.hpp"
#include "watch.hpp"

// Clones are told apart when the library is loaded, which glibc can do and musl cannot.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define SVMSELECT_CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define SVMSELECT_CLONES
#endif

namespace svmselect {

// Stands for infinity, so that the compiler may assume finite arithmetic.
constexpr double HUGE_NUMBER = 1e300;
constexpr Index BLOCK = 64;
constexpr long STEPS_A_LOOK = 64;

struct Problem {
    const double* K;  // n x n, row-major, symmetric
    Index n;
    const double* ridge;
    const double* target;
    const double* lower;
    const double* upper;
    bool balanced;  // whether sum(b) is constrained
    double total;   // ... and to what
};

// PARKED: free, but its column of K depends on those of the other free coordinates, so any value
// will do (the others make up for it) and it keeps the one it has.
enum State : std::int8_t { AT_LOWER = -1, FREE = 0, AT_UPPER = 1, ABSENT = 2, PARKED = 3 };

// ---------------------------------------------------------------------------------------------
// Vector passes: the hot loops.

// a'b.
SVMSELECT_CLONES inline double dot(const double* a, const double* b, Index n) {
    double sums[16] = {};
    Index j = 0;
    for (; j + 15 < n; j += 16)
        for (Index l = 0; l < 16; ++l) sums[l] += a[j + l] * b[j + l];
    for (; j < n; ++j) sums[0] += a[j] * b[j];
    double total = 0.0;
    for (const double s : sums) total += s;
    return total;
}

// x -= a l; y -= b l.
SVMSELECT_CLONES inline void subtract_twice(Index n, const double* l, double a, double b, double* x,
                                            double* y) {
    for (Index j = 0; j < n; ++j) x[j] -= a * l[j], y[j] -= b * l[j];
}

// r -= a Ki + c Kj; then the largest r + grow and the smallest r + shrink, and where the first is.
SVMSELECT_CLONES inline void balanced_pass(Index n, const double* Ki, const double* Kj, double a,
                                           double c, double* r, const double* grow,
                                           const double* shrink, double* largest, double* smallest,
                                           Index* where) {
    double top = -HUGE_NUMBER, bottom = HUGE_NUMBER;
    Index block = 0;
    for (Index s = 0; s < n; s += BLOCK) {
        const Index e = std::min(s + BLOCK, n);
        double hi = -HUGE_NUMBER, lo = HUGE_NUMBER;
        for (Index k = s; k < e; ++k) {
            const double v = r[k] - a * Ki[k] - c * Kj[k];
            r[k] = v;
            const double u = v + grow[k], d = v + shrink[k];
            hi = u > hi ? u : hi;
            lo = d < lo ? d : lo;
        }
        if (hi > top) top = hi, block = s;
        if (lo < bottom) bottom = lo;
    }
    Index k = block;
    while (k + 1 < std::min(block + BLOCK, n) && r[k] + grow[k] != top) ++k;
    *largest = top, *smallest = bottom, *where = k;
}

// The partner j of i that gains most: (r_i - r_j)^2 / (q_i + q_j - 2 K_ij), j able to shrink.
SVMSELECT_CLONES inline Index balanced_partner(Index n, const double* Ki, const double* q, double qi,
                                               double tiny, double ri, const double* r,
                                               const double* shrink) {
    double best = 0.0;
    Index block = -1;
    double gains[BLOCK];
    for (Index s = 0; s < n; s += BLOCK) {
        const Index m = std::min(BLOCK, n - s);
        double top = 0.0;
        for (Index k = 0; k < m; ++k) {
            const double d = std::max(ri - (r[s + k] + shrink[s + k]), 0.0);
            const double curvature = std::max(qi + q[s + k] - 2.0 * Ki[s + k], tiny);
            const double g = d * d / curvature;
            top = g > top ? g : top;
        }
        if (top > best) best = top, block = s;
    }
    if (block < 0) return -1;
    const Index m = std::min(BLOCK, n - block);
    Index where = 0;
    for (Index k = 0; k < m; ++k) {
        const double d = std::max(ri - (r[block + k] + shrink[block + k]), 0.0);
        gains[k] = d * d / std::max(qi + q[block + k] - 2.0 * Ki[block + k], tiny);
        if (gains[k] > gains[where]) where = k;
    }
    return block + where;
}

// r -= a Ki + c Kj; then the coordinate with the largest gain of its own, r_k^2 / q_k, where r_k
// counts only in a direction the box allows; and the largest such |r_k|.
SVMSELECT_CLONES inline void free_pass(Index n, const double* Ki, const double* Kj, double a, double c,
                                       double* r, const double* most, const double* least,
                                       const double* q, double* violation, Index* where) {
    double best = -1.0, worst = 0.0;
    Index block = 0;
    for (Index s = 0; s < n; s += BLOCK) {
        const Index e = std::min(s + BLOCK, n);
        double top = 0.0, big = 0.0;
        for (Index k = s; k < e; ++k) {
            const double v = r[k] - a * Ki[k] - c * Kj[k];
            r[k] = v;
            const double p = std::max(std::min(v, most[k]), least[k]);
            const double g = p * p / q[k];
            top = g > top ? g : top;
            big = std::fabs(p) > big ? std::fabs(p) : big;
        }
        if (top > best) best = top, block = s;
        if (big > worst) worst = big;
    }
    Index at = block;
    double top = -1.0;
    for (Index k = block; k < std::min(block + BLOCK, n); ++k) {
        const double p = std::max(std::min(r[k], most[k]), least[k]);
        if (p * p / q[k] > top) top = p * p / q[k], at = k;
    }
    *violation = worst, *where = at;
}

// The partner j of i for a joint unconstrained step: the gain of the 2 x 2 Newton step.
SVMSELECT_CLONES inline Index free_partner(Index n, const double* Ki, const double* q, double qi,
                                           double pi, const double* r, const double* most,
                                           const double* least, Index i) {
    double best = pi * pi / qi;
    Index block = -1;
    const auto gain = [&](Index k) {
        const double p = std::max(std::min(r[k], most[k]), least[k]);
        const double det = std::max(qi * q[k] - Ki[k] * Ki[k], 1e-10 * qi * q[k]);
        return (pi * pi * q[k] - 2.0 * pi * p * Ki[k] + p * p * qi) / det * (p != 0.0 ? 1.0 : 0.0);
    };
    for (Index s = 0; s < n; s += BLOCK) {
        const Index e = std::min(s + BLOCK, n);
        double top = 0.0;
        for (Index k = s; k < e; ++k) {
            const double g = k == i ? 0.0 : gain(k);
            top = g > top ? g : top;
        }
        if (top > best) best = top, block = s;
    }
    if (block < 0) return -1;
    Index at = -1;
    double top = 0.0;
    for (Index k = block; k < std::min(block + BLOCK, n); ++k)
        if (k != i && gain(k) > top) top = gain(k), at = k;
    return at;
}

// out -= sum_i step_i K[rows_i, :], four rows a pass.
SVMSELECT_CLONES inline void subtract_rows(const double* K, Index n, const Index* rows,
                                           const double* step, Index m, double* out) {
    Index i = 0;
    for (; i + 3 < m; i += 4) {
        const double *p = K + rows[i] * n, *q = K + rows[i + 1] * n, *s = K + rows[i + 2] * n,
                     *t = K + rows[i + 3] * n;
        const double a = step[i], b = step[i + 1], c = step[i + 2], d = step[i + 3];
        for (Index k = 0; k < n; ++k) out[k] -= a * p[k] + b * q[k] + c * s[k] + d * t[k];
    }
    for (; i < m; ++i) {
        const double* p = K + rows[i] * n;
        const double a = step[i];
        for (Index k = 0; k < n; ++k) out[k] -= a * p[k];
    }
}

// r -= (K + diag(ridge)) b, reading the rows that count.
inline void subtract(const double* K, Index n, const double* ridge, const double* b, double* r) {
    List<Index> rows;
    List<double> steps;
    for (Index k = 0; k < n; ++k)
        if (b[k] != 0.0) rows.push_back(k), steps.push_back(b[k]), r[k] -= ridge[k] * b[k];
    subtract_rows(K, n, rows.data(), steps.data(), rows.size(), r);
}

// ---------------------------------------------------------------------------------------------
// Decomposition

struct Descent {
    long steps;
    double violation;  // of the optimality conditions, in units of the residual
    double churn;      // sum of K_kk step_k^2: what went through the residual
};

// The best point of a segment or a box for two coordinates at once.
inline void two_step(double qi, double qj, double kij, double ri, double rj, double li, double ui,
                     double lj, double uj, double* di, double* dj) {
    // minimise 1/2 (qi x^2 + 2 kij x y + qj y^2) - ri x - rj y over [li, ui] x [lj, uj]
    const auto value = [&](double x, double y) {
        return 0.5 * (qi * x * x + 2.0 * kij * x * y + qj * y * y) - ri * x - rj * y;
    };
    const auto clip = [](double v, double a, double b) { return std::min(std::max(v, a), b); };
    const double det = qi * qj - kij * kij;
    if (det > 1e-14 * qi * qj) {
        const double x = (ri * qj - rj * kij) / det, y = (rj * qi - ri * kij) / det;
        if (x >= li && x <= ui && y >= lj && y <= uj) {
            *di = x, *dj = y;
            return;
        }
    }
    double best = HUGE_NUMBER;
    const auto consider = [&](double x, double y) {
        const double v = value(x, y);
        if (v < best) best = v, *di = x, *dj = y;
    };
    for (const double x : {li, ui})
        if (std::fabs(x) < HUGE_NUMBER / 10) consider(x, clip((rj - kij * x) / qj, lj, uj));
    for (const double y : {lj, uj})
        if (std::fabs(y) < HUGE_NUMBER / 10) consider(clip((ri - kij * y) / qi, li, ui), y);
    if (best == HUGE_NUMBER) consider(ri / qi, 0.0);
}

inline Descent decompose(const Problem& p, double* beta, double* r, double tol, long max_steps,
                         Watch& watch) {
    const Index n = p.n;
    if (n == 0) return {0, 0.0, 0.0};
    List<double> q(n), up(n), down(n);
    double largest_q = 0.0;
    for (Index k = 0; k < n; ++k) {
        q[k] = p.K[k * n + k] + p.ridge[k];
        largest_q = std::max(largest_q, q[k]);
    }
    const double tiny = std::max(1e-14 * largest_q, 1e-140);  // its square must not vanish
    if (!p.balanced)
        for (double& v : q) v = std::max(v, tiny);
    // balanced: added to r, they take a coordinate out of the running; otherwise limits on r
    const auto refresh = [&](Index k) {
        const bool can_grow = beta[k] < p.upper[k], can_shrink = beta[k] > p.lower[k];
        if (p.balanced) {
            up[k] = can_grow ? 0.0 : -HUGE_NUMBER;
            down[k] = can_shrink ? 0.0 : HUGE_NUMBER;
        } else {
            up[k] = can_grow ? HUGE_NUMBER : 0.0;
            down[k] = can_shrink ? -HUGE_NUMBER : 0.0;
        }
    };
    for (Index k = 0; k < n; ++k) refresh(k);

    Index i = 0, j = 0;
    double di = 0.0, dj = 0.0, violation = 0.0, churn = 0.0;
    for (long step = 0;; ++step) {
        if (step % STEPS_A_LOOK == 0) watch.look();
        const double *Ki = p.K + i * n, *Kj = p.K + j * n;
        if (p.balanced) {
            double largest, smallest;
            balanced_pass(n, Ki, Kj, di, dj, r, up.data(), down.data(), &largest, &smallest, &i);
            violation = std::max(largest - smallest, 0.0);
            if (violation <= tol || step == max_steps) return {step, violation, churn};
            Ki = p.K + i * n;
            j = balanced_partner(n, Ki, q.data(), q[i], tiny, r[i], r, down.data());
            if (j < 0) return {step, violation, churn};
            const double curvature = std::max(q[i] + q[j] - 2.0 * Ki[j], tiny);
            const double room_i = p.upper[i] - beta[i], room_j = beta[j] - p.lower[j];
            const double s = std::min((r[i] - r[j]) / curvature, std::min(room_i, room_j));
            beta[i] = s >= room_i ? p.upper[i] : beta[i] + s;
            beta[j] = s >= room_j ? p.lower[j] : beta[j] - s;
            di = s, dj = -s;
        } else {
            free_pass(n, Ki, Kj, di, dj, r, up.data(), down.data(), q.data(), &violation, &i);
            if (violation <= tol || step == max_steps) return {step, violation, churn};
            Ki = p.K + i * n;
            const double pi = std::max(std::min(r[i], up[i]), down[i]);
            j = free_partner(n, Ki, q.data(), q[i], pi, r, up.data(), down.data(), i);
            if (j < 0) {
                j = i, dj = 0.0;
                di = std::min(std::max(r[i] / q[i], p.lower[i] - beta[i]), p.upper[i] - beta[i]);
            } else {
                two_step(q[i], q[j], Ki[j], r[i], r[j], p.lower[i] - beta[i], p.upper[i] - beta[i],
                         p.lower[j] - beta[j], p.upper[j] - beta[j], &di, &dj);
            }
            const auto move = [&](Index k, double d) {
                const double v = beta[k] + d;
                // within round-off of a bound is at the bound
                const double slack = 1e-14 * (std::fabs(v) + std::fabs(d));
                beta[k] = v >= p.upper[k] - slack ? p.upper[k] : v <= p.lower[k] + slack ? p.lower[k] : v;
            };
            move(i, di);
            if (j != i) move(j, dj);
        }
        r[i] -= p.ridge[i] * di;
        if (j != i) r[j] -= p.ridge[j] * dj;
        churn += q[i] * di * di + q[j] * dj * dj;
        refresh(i), refresh(j);
    }
}

}  // namespace svmselect
