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
// pivot():     block principal pivoting on the active sets (Judice & Pires 1994): one Cholesky
//              factorisation of the free block a round, exact when it ends. O(|F|^3 + n |F|) a round.
//
// reference.py is the same in NumPy.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define SVMSELECT_CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define SVMSELECT_CLONES
#endif

namespace svmselect {

using Index = std::ptrdiff_t;

// Stands for infinity, so that the compiler may assume finite arithmetic.
constexpr double HUGE_NUMBER = 1e300;
constexpr Index BLOCK = 64;

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

// ---------------------------------------------------------------------------------------------
// Decomposition

struct Descent {
    long steps;
    double violation;  // of the optimality conditions, in units of the residual
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

inline Descent decompose(const Problem& p, double* beta, double* r, double tol, long max_steps) {
    const Index n = p.n;
    std::vector<double> q(n), up(n), down(n);
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
    double di = 0.0, dj = 0.0, violation = 0.0;
    for (long step = 0;; ++step) {
        const double *Ki = p.K + i * n, *Kj = p.K + j * n;
        if (p.balanced) {
            double largest, smallest;
            balanced_pass(n, Ki, Kj, di, dj, r, up.data(), down.data(), &largest, &smallest, &i);
            violation = std::max(largest - smallest, 0.0);
            if (violation <= tol || step == max_steps) return {step, violation};
            Ki = p.K + i * n;
            j = balanced_partner(n, Ki, q.data(), q[i], tiny, r[i], r, down.data());
            if (j < 0) return {step, violation};
            const double curvature = std::max(q[i] + q[j] - 2.0 * Ki[j], tiny);
            const double room_i = p.upper[i] - beta[i], room_j = beta[j] - p.lower[j];
            const double s = std::min((r[i] - r[j]) / curvature, std::min(room_i, room_j));
            beta[i] = s >= room_i ? p.upper[i] : beta[i] + s;
            beta[j] = s >= room_j ? p.lower[j] : beta[j] - s;
            di = s, dj = -s;
        } else {
            free_pass(n, Ki, Kj, di, dj, r, up.data(), down.data(), q.data(), &violation, &i);
            if (violation <= tol || step == max_steps) return {step, violation};
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
        refresh(i), refresh(j);
    }
}

// ---------------------------------------------------------------------------------------------
// Block pivoting

struct Lapack {
    void (*potrf)(char*, int*, double*, int*, int*);
    void (*potrs)(char*, int*, int*, double*, int*, double*, int*, int*);
    void (*pstrf)(char*, int*, double*, int*, int*, int*, double*, double*, int*);
};

// K_FF + diag(ridge) + lift 11', factored. The lift changes nothing where the sum is fixed, and
// lets a kernel be singular in the direction of the ones.
class FreeBlock {
  public:
    FreeBlock(const Problem& p, const Lapack& lapack) : p_(p), lapack_(lapack) {}

    // Factors the block of the free coordinates; those that depend on the others are taken out of
    // `free` and put into `dependent`.
    void factor(std::vector<Index>& free, std::vector<Index>& dependent) {
        dependent.clear();
        lift_ = 0.0;
        if (p_.balanced && !free.empty()) {
            for (const Index k : free) lift_ += p_.K[k * p_.n + k] + p_.ridge[k];
            lift_ = lift_ > 0.0 ? lift_ / static_cast<double>(free.size()) : 1.0;
        }
        if (try_factor(free)) return;
        // Rank-revealing: which columns are combinations of the others?
        int m = static_cast<int>(free.size()), rank = 0, info = 0;
        std::vector<int> order(m);
        std::vector<double> work(2 * static_cast<std::size_t>(m));
        for (double stop = threshold(m); rank < m; stop *= 100.0) {
            gather(free);
            lapack_.pstrf(&uplo_, &m, A_.data(), &m, order.data(), &rank, &stop, work.data(), &info);
            std::vector<Index> kept;
            for (int i = 0; i < rank; ++i) kept.push_back(free[order[i] - 1]);
            std::sort(kept.begin(), kept.end());
            if (rank == m ? !try_factor(kept, false) : !try_factor(kept)) {
                rank = 0;
                continue;
            }
            for (int i = rank; i < m; ++i) dependent.push_back(free[order[i] - 1]);
            free = kept;
            return;
        }
    }

    void solve(std::vector<double>& rhs, int columns) {
        int m = size_, info = 0;
        if (m > 0) lapack_.potrs(&uplo_, &m, &columns, A_.data(), &m, rhs.data(), &m, &info);
    }

    double lift() const { return lift_; }

  private:
    double threshold(int m) const { return 4.0 * 2.2e-16 * m * scale_; }

    void gather(const std::vector<Index>& free) {
        const std::size_t m = free.size();
        A_.resize(m * m);
        scale_ = 0.0;
        for (std::size_t j = 0; j < m; ++j) {
            const double* row = p_.K + free[j] * p_.n;
            double* column = A_.data() + j * m;
            for (std::size_t i = j; i < m; ++i) column[i] = row[free[i]] + lift_;
            column[j] += p_.ridge[free[j]];
            scale_ = std::max(scale_, column[j]);
        }
    }

    bool try_factor(const std::vector<Index>& free, bool judge = true) {
        gather(free);
        int m = size_ = static_cast<int>(free.size()), info = 0;
        if (m == 0) return true;
        lapack_.potrf(&uplo_, &m, A_.data(), &m, &info);
        if (info != 0) return false;
        if (!judge) return true;
        double smallest = HUGE_NUMBER;
        for (std::size_t j = 0; j < free.size(); ++j) {
            const double l = A_[j * free.size() + j];
            smallest = std::min(smallest, l * l);
        }
        return smallest > threshold(m);
    }

    const Problem& p_;
    const Lapack& lapack_;
    char uplo_ = 'L';
    int size_ = 0;
    double lift_ = 0.0, scale_ = 0.0;
    std::vector<double> A_;
};

enum class Ending { EXACT = 0, CYCLING = 1, NO_FREE = 2 };

struct Pivoting {
    int rounds;
    Ending ending;
    double offset;
};

// In: states, and beta for the coordinates that may have to be parked.
// Out: states, beta, r; exact when the ending says so.
inline Pivoting pivot(const Problem& p, const Lapack& lapack, std::int8_t* state, double* beta,
                      double* r, double tol, int max_rounds, int patience) {
    const Index n = p.n;
    std::vector<double> base(p.target, p.target + n);  // target less the part of the fixed
    std::vector<double> held(beta, beta + n);          // where a coordinate would be parked
    std::vector<Index> rows, free, dependent;
    std::vector<double> steps, ones, x, scores;
    FreeBlock block(p, lapack);
    double largest = 0.0, churn = 0.0;  // churn: what has gone into base and out again

    const auto fix = [&](Index k, std::int8_t s, double value) {
        state[k] = s;
        beta[k] = value;
        if (value != 0.0) rows.push_back(k), steps.push_back(value);
    };
    const auto release = [&](Index k) {
        state[k] = FREE;
        held[k] = beta[k];
        if (beta[k] != 0.0) rows.push_back(k), steps.push_back(-beta[k]);
        churn += p.K[k * n + k] * beta[k] * beta[k];
        beta[k] = 0.0;
    };
    const auto update_base = [&] {
        subtract_rows(p.K, n, rows.data(), steps.data(), static_cast<Index>(rows.size()), base.data());
        for (std::size_t i = 0; i < rows.size(); ++i) base[rows[i]] -= p.ridge[rows[i]] * steps[i];
        rows.clear(), steps.clear();
    };

    for (Index k = 0; k < n; ++k) {
        largest = std::max(largest, p.K[k * n + k]);
        held[k] = std::min(std::max(held[k], p.lower[k]), p.upper[k]);
        if (state[k] == PARKED) state[k] = FREE;
        if (state[k] == FREE)
            beta[k] = 0.0;
        else
            fix(k, state[k], state[k] == AT_LOWER ? p.lower[k] : state[k] == AT_UPPER ? p.upper[k] : 0.0);
    }

    Index fewest = n + 1;
    int waited = 0;
    double offset = 0.0;
    for (int round = 1; round <= max_rounds; ++round) {
        free.clear();
        for (Index k = 0; k < n; ++k)
            if (state[k] == FREE) free.push_back(k);
        block.factor(free, dependent);
        for (const Index k : dependent) fix(k, PARKED, held[k]);
        update_base();
        const Index m = static_cast<Index>(free.size());
        double fixed_sum = 0.0, fixed_size = 0.0, fixed_weight = 0.0;
        for (Index k = 0; k < n; ++k) {
            fixed_sum += beta[k], fixed_size += std::fabs(beta[k]);
            fixed_weight += p.K[k * n + k] * beta[k] * beta[k];
        }
        std::copy(base.begin(), base.end(), r);
        if (m == 0 && p.balanced) return {round, Ending::NO_FREE, 0.0};

        // Solve; refine where the residual on the free set shows that it is needed.
        double sum_left = p.total - fixed_sum, noise = tol, error = 0.0, weight = 0.0;
        offset = 0.0;
        x.assign(p.balanced ? 2 * m : m, 1.0);
        for (Index i = 0; i < m; ++i) x[i] = base[free[i]];
        for (int sweep = 0; sweep < 3; ++sweep) {
            block.solve(x, p.balanced && sweep == 0 ? 2 : 1);
            if (p.balanced) {
                if (sweep == 0) ones.assign(x.begin() + m, x.begin() + 2 * m);
                double sum_ones = 0.0, sum_x = 0.0;
                for (Index i = 0; i < m; ++i) sum_ones += ones[i], sum_x += x[i];
                const double shift = (sum_x - sum_left) / sum_ones;
                for (Index i = 0; i < m; ++i) x[i] -= shift * ones[i];
                offset += shift + block.lift() * sum_left;
            }
            subtract_rows(p.K, n, free.data(), x.data(), m, r);
            double sum = fixed_sum, size = fixed_size;
            weight = fixed_weight;
            for (Index i = 0; i < m; ++i) {
                const Index k = free[i];
                r[k] -= p.ridge[k] * x[i];
                beta[k] += x[i];
                weight += p.K[k * n + k] * beta[k] * beta[k];
                sum += beta[k], size += std::fabs(beta[k]);
            }
            error = 0.0;
            for (const Index k : free) error = std::max(error, std::fabs(r[k] - offset));
            // as asked, or the rounding error of evaluating the residual: |K_ij|^2 <= K_ii K_jj, and
            // independent errors add in squares
            noise = std::max(tol, 8.0 * 2.2e-16 * std::sqrt(largest * weight));
            // at small C the sum is a difference of numbers far larger than beta: it counts too
            sum_left = p.total - sum;
            const bool summed = !p.balanced || std::fabs(sum_left) <= 1e-15 * size;
            if (error <= 0.1 * noise && summed) break;
            x.resize(m);
            for (Index i = 0; i < m; ++i) x[i] = r[free[i]] - offset;
        }

        // Which coordinates are on the wrong side?
        const auto wrong = [&](Index k) -> bool {
            const double slack = r[k] - offset;
            switch (state[k]) {
                case FREE: return beta[k] < p.lower[k] || beta[k] > p.upper[k];
                case AT_LOWER: return slack > noise;
                case AT_UPPER: return slack < -noise;
                case PARKED: return std::fabs(slack) > 4.0 * noise;
                default: return false;
            }
        };
        Index infeasible = 0;
        for (Index k = 0; k < n; ++k) infeasible += wrong(k);
        if (infeasible == 0 && churn > 4.0 * weight) {
            // Values much larger than these have passed through base and left their round-off.
            churn = 0.0;
            base.assign(p.target, p.target + n);
            for (Index k = 0; k < n; ++k) {
                if (state[k] == FREE)
                    beta[k] = 0.0;
                else
                    fix(k, state[k], beta[k]);
            }
            continue;
        }
        if (infeasible == 0)
            return {round, error <= 4.0 * noise ? Ending::EXACT : Ending::CYCLING, offset};
        if (infeasible < fewest)
            fewest = infeasible, waited = 0;
        else if (++waited > patience)
            return {round, Ending::CYCLING, offset};

        // Of the bounded ones only the worst are released: a crowd of newcomers overshoots.
        scores.clear();
        for (Index k = 0; k < n; ++k)
            if ((state[k] == AT_LOWER || state[k] == AT_UPPER) && wrong(k))
                scores.push_back(std::fabs(r[k] - offset));
        double bar = 0.0;
        const std::size_t most = static_cast<std::size_t>(std::max<Index>(8, m / 4));
        if (scores.size() > most) {
            std::nth_element(scores.begin(), scores.begin() + most, scores.end(), std::greater<>());
            bar = scores[most];
        }

        for (Index k = 0; k < n; ++k) {
            if (state[k] == ABSENT) continue;
            const bool bad = wrong(k);
            if (state[k] == FREE) {
                if (bad) {
                    const bool low = beta[k] < p.lower[k];
                    fix(k, low ? AT_LOWER : AT_UPPER, low ? p.lower[k] : p.upper[k]);
                } else {
                    held[k] = beta[k];
                    beta[k] = 0.0;
                }
            } else if (state[k] == PARKED) {
                // What no other coordinate can make up for is wanted further out, or further in.
                const bool low = r[k] < offset;
                const double bound = low ? p.lower[k] : p.upper[k];
                release(k);
                if (bad && std::fabs(bound) < HUGE_NUMBER / 10) fix(k, low ? AT_LOWER : AT_UPPER, bound);
            } else if (bad && std::fabs(r[k] - offset) >= bar) {
                release(k);
            }
        }
    }
    return {max_rounds, Ending::CYCLING, offset};
}

// ---------------------------------------------------------------------------------------------
// One look at every entry of a Gram matrix.

struct Look {
    int fault;  // 0 none, 1 not symmetric, 2 a 1 x 1 or 2 x 2 minor is negative, 3 not finite
    Index i, j;
};

constexpr Index TILE = 64;

// By its bits: the compiler may assume finite arithmetic.
inline bool finite(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    constexpr std::uint64_t exponent = 0x7ff0000000000000;
    return (bits & exponent) != exponent;
}

// What is wrong with an entry u and its mirror image v; root: of the diagonal, lifted by slack.
inline int judge(double u, double v, double root_i, double root_j, double slack, double tol) {
    if (!(finite(u) && finite(v))) return 3;
    if (std::fabs(u - v) > std::max(slack, tol * std::fabs(u))) return 1;
    return std::fabs(u) > root_i * root_j ? 2 : 0;
}

// Whether all is well with the tile of rows a.. and columns b.. and its mirror image.
SVMSELECT_CLONES inline bool sound(const double* K, Index n, const double* root, Index a, Index b,
                                   Index rows, Index columns, double slack, double tol) {
    double mirror[TILE * TILE];
    for (Index c = 0; c < columns; ++c)
        for (Index r = 0; r < rows; ++r) mirror[r * TILE + c] = K[(b + c) * n + a + r];
    std::int64_t faults = 0;
    for (Index r = 0; r < rows; ++r) {
        const double* row = K + (a + r) * n + b;
        for (Index c = 0; c < columns; ++c) {
            const double u = row[c], v = mirror[r * TILE + c];
            const bool skew = std::fabs(u - v) > std::max(slack, tol * std::fabs(u));
            const bool large = std::fabs(u) > root[a + r] * root[b + c];
            faults |= !finite(u) | !finite(v) | skew | large;
        }
    }
    return faults == 0;
}

inline Look inspect(const double* K, Index n, double tol) {
    double largest = 0.0;
    for (Index k = 0; k < n; ++k) {
        if (!finite(K[k * n + k])) return {3, k, k};
        largest = std::max(largest, std::fabs(K[k * n + k]));
    }
    const double slack = tol * largest;
    std::vector<double> root(n);
    for (Index k = 0; k < n; ++k) {
        if (K[k * n + k] < -slack) return {2, k, k};
        root[k] = std::sqrt(K[k * n + k] + slack);
    }
    for (Index a = 0; a < n; a += TILE)
        for (Index b = 0; b <= a; b += TILE) {
            const Index rows = std::min(TILE, n - a), columns = std::min(TILE, n - b);
            if (sound(K, n, root.data(), a, b, rows, columns, slack, tol)) continue;
            for (Index i = a; i < a + rows; ++i)
                for (Index j = b; j < std::min(b + columns, i + 1); ++j) {
                    const int fault = judge(K[i * n + j], K[j * n + i], root[i], root[j], slack, tol);
                    if (fault != 0) return {fault, i, j};
                }
        }
    return {0, 0, 0};
}

}  // namespace svmselect
