// How the decision values of held-out rows move with log C and the kernel's parameters: forward.py
// and kernels/tangents.py compiled, a machine at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "box_qp.hpp"
#include "loss.hpp"
#include "machine.hpp"
#include "pivoting.hpp"
#include "watch.hpp"

namespace svmselect {

// dK/dtheta for one or several parameters, over the same rows as K.
// One parameter: scale * matrix * other, entry by entry (`other` null: 1). One length scale an input
// (`scaled` given, of `inputs` columns): matrix_ij (s_ia - s_ja)^2, or matrix_ij |s_ia - s_ja| where
// not `squared`; summed over the inputs that are one variable where `variables` tells which are.
struct Tangent {
    const double *matrix, *other, *scaled;
    double scale;
    Index inputs;
    const std::int64_t* variables;
    Index size;  // how many parameters
    bool squared;

    Index of_input(Index a) const { return variables == nullptr ? a : static_cast<Index>(variables[a]); }
};

// A trained machine, and the rows where it is asked.
struct Asked {
    Group group;
    Start machine;
    const std::int64_t* held;
    Index n_held, ends[2];
    double* jacobian;  // n_held x (1 + parameters)
    bool done;
};

// Coefficients of some rows of a group, to be multiplied with rows of matrices.
class Combination {
  public:
    Combination(const Group& group, const double* beta) : dense_(group.stride) {
        for (Index i = 0; i < group.n; ++i) add(group, i, beta[i]);
    }

    Combination(const Group& group, const double* beta, const std::int64_t* rows, Index m)
        : dense_(group.stride) {
        for (Index i = 0; i < m; ++i) add(group, static_cast<Index>(rows[i]), beta[rows[i]]);
    }

    double times(const double* row) const {
        if (few()) {
            double sum = 0.0;
            for (Index j = 0; j < at.size(); ++j) sum += row[at[j]] * values[j];
            return sum;
        }
        return dot(dense_.data(), row, dense_.size());
    }

    double times(const double* row, const double* other) const {
        if (few()) {
            double sum = 0.0;
            for (Index j = 0; j < at.size(); ++j) sum += row[at[j]] * other[at[j]] * values[j];
            return sum;
        }
        return triple(dense_.data(), row, other, dense_.size());
    }

    List<Index> at;  // columns of the whole matrix
    List<double> values;

  private:
    void add(const Group& group, Index i, double value) {
        if (value == 0.0) return;
        at.push_back(group.at(i)), values.push_back(value);
        dense_[group.at(i)] += value;
    }

    bool few() const { return 8 * at.size() < dense_.size(); }

    SVMSELECT_CLONES static double triple(const double* a, const double* b, const double* c, Index n) {
        double sums[16] = {};
        Index j = 0;
        for (; j + 15 < n; j += 16)
            for (Index l = 0; l < 16; ++l) sums[l] += a[j + l] * b[j + l] * c[j + l];
        for (; j < n; ++j) sums[0] += a[j] * b[j] * c[j];
        double total = 0.0;
        for (const double s : sums) total += s;
        return total;
    }

    List<double> dense_;
};

// (dK/dtheta) beta at the rows listed: columns from `column` on of the table, which has `width`.
inline void along(const Tangent& t, const Group& group, const Combination& beta, const List<Index>& rows,
                  const Lapack& lapack, List<double>& table, Index width, Index column) {
    const Index m = rows.size(), d = t.inputs, used = beta.at.size();
    const auto line = [&](const double* matrix, Index i) { return matrix + group.at(rows[i]) * group.stride; };
    if (t.scaled == nullptr) {
        for (Index i = 0; i < m; ++i)
            table[i * width + column] =
                t.scale * (t.other == nullptr ? beta.times(line(t.matrix, i))
                                              : beta.times(line(t.matrix, i), line(t.other, i)));
        return;
    }
    if (!t.squared) {
        List<double> sums(d);
        for (Index i = 0; i < m; ++i) {
            const double *s = t.scaled + group.at(rows[i]) * d, *row = line(t.matrix, i);
            std::fill(sums.begin(), sums.end(), 0.0);
            for (Index j = 0; j < used; ++j) {
                const double *other = t.scaled + beta.at[j] * d, weight = row[beta.at[j]] * beta.values[j];
                for (Index a = 0; a < d; ++a) sums[a] += weight * std::fabs(s[a] - other[a]);
            }
            for (Index a = 0; a < d; ++a) table[i * width + column + t.of_input(a)] += sums[a];
        }
        return;
    }
    // the square expanded: one product with (beta, beta s, beta s^2)
    const Index wide = 2 * d + 1;
    List<double> M(m * used), B(used * wide), P(m * wide);
    for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < used; ++j) M[i * used + j] = line(t.matrix, i)[beta.at[j]];
    for (Index j = 0; j < used; ++j) {
        const double *s = t.scaled + beta.at[j] * d, b = beta.values[j];
        double* to = B.data() + j * wide;
        to[0] = b;
        for (Index a = 0; a < d; ++a) to[1 + a] = b * s[a], to[1 + d + a] = b * s[a] * s[a];
    }
    lapack.multiply(m, wide, used, M.data(), B.data(), P.data());
    for (Index i = 0; i < m; ++i) {
        const double *s = t.scaled + group.at(rows[i]) * d, *p = P.data() + i * wide;
        double* to = table.data() + i * width + column;
        for (Index a = 0; a < d; ++a) {
            const double moved = s[a] * s[a] * p[0] - 2.0 * s[a] * p[1 + a] + p[1 + d + a];
            to[t.of_input(a)] += moved;
        }
    }
}

// With M the bordered matrix of the free set F, g the columns (dK/dtheta) beta and, for log C,
// (K beta)_B of the bounded ones less, at the free rows, D beta_F,
//     d f_r = g_r - (K_rF, 1) M^-1 (g_F; t),    t = 1'beta_B for log C, else 0.
// False where M is singular to working precision.
template <typename Loss>
bool decision_jacobian(const Asked& q, const List<Tangent>& tangents, const Setting& setting,
                       const Lapack& lapack, Watch& watch) {
    watch.look();
    const Group& group = q.group;
    const Start& s = q.machine;
    Index width = 1;
    for (const Tangent& t : tangents) width += t.size;
    // the free rows, those asked for, and the ends
    List<Index> rows;
    const Index m = s.n_free, held = q.n_held;
    for (Index i = 0; i < m; ++i) rows.push_back(static_cast<Index>(s.free[i]));
    for (Index i = 0; i < held; ++i) rows.push_back(static_cast<Index>(q.held[i]));
    Index n_ends = 0;
    if (m == 0 && setting.intercept)
        for (const Index end : {q.ends[0], q.ends[1]})
            if (end >= 0 && (n_ends == 0 || end != q.ends[0])) rows.push_back(end), ++n_ends;
    List<double> g(rows.size() * width);
    const Combination beta(group, s.beta);
    Index column = 1;
    for (const Tangent& t : tangents) {
        along(t, group, beta, rows, lapack, g, width, column);
        column += t.size;
    }
    double total = 0.0;
    if (Loss::REACHES_BOUND) {
        const Combination bounded(group, s.beta, s.bound, s.n_bound);
        for (const double v : bounded.values) total += v;
        for (Index i = 0; i < rows.size(); ++i) g[i * width] = bounded.times(group.row(rows[i]));
    }
    std::copy(g.begin() + m * width, g.begin() + (m + held) * width, q.jacobian);
    if (m == 0) {
        for (Index e = 0; e < n_ends; ++e)
            for (Index i = 0; i < held; ++i)
                for (Index c = 0; c < width; ++c)
                    q.jacobian[i * width + c] -=
                        g[(m + held + e) * width + c] / static_cast<double>(n_ends);
        return true;
    }

    // factor, with a lift where there is a border, as FreeBlock does
    List<double> A(m * m), x((width + 1) * m), shift(width);
    double lift = 0.0;
    List<Index> columns;
    for (Index i = 0; i < m; ++i) columns.push_back(group.at(rows[i]));
    for (Index i = 0; i < m && setting.intercept; ++i)
        lift += group.row(rows[i])[columns[i]] / static_cast<double>(m);
    if (setting.intercept && lift == 0.0) lift = 1.0;
    for (Index i = 0; i < m; ++i) {
        const double* row = group.row(rows[i]);
        for (Index j = 0; j <= i; ++j) A[i * m + j] = row[columns[j]] + lift;
        const double cost = setting.C * s.weights[rows[i]], b = s.beta[rows[i]];
        const double ridge = Loss::ridge(cost, std::fabs(b));
        A[i * m + i] += ridge;
        if (Loss::CURVED) g[i * width] -= ridge * b;
    }
    char upper = 'U';  // by columns
    int size = static_cast<int>(m), info = 0;
    lapack.potrf(&upper, &size, A.data(), &size, &info);
    if (info != 0) return false;
    for (Index c = 0; c < width; ++c)
        for (Index i = 0; i < m; ++i) x[c * m + i] = g[i * width + c];
    std::fill(x.begin() + width * m, x.end(), 1.0);
    int count = static_cast<int>(width) + setting.intercept;
    lapack.potrs(&upper, &size, &count, A.data(), &size, x.data(), &size, &info);
    if (setting.intercept) {
        const double* ones = x.data() + width * m;
        double sum_ones = 0.0;
        for (Index i = 0; i < m; ++i) sum_ones += ones[i];
        for (Index c = 0; c < width; ++c) {
            const double wanted = c == 0 ? total : 0.0;
            double sum = 0.0;
            for (Index i = 0; i < m; ++i) sum += x[c * m + i];
            const double t = (sum - wanted) / sum_ones;
            for (Index i = 0; i < m; ++i) x[c * m + i] -= t * ones[i];
            shift[c] = t + lift * wanted;
        }
    }
    List<double> K(held * m);
    for (Index i = 0; i < held; ++i) {
        const double* row = group.row(rows[m + i]);
        for (Index j = 0; j < m; ++j) K[i * m + j] = row[columns[j]];
        for (Index c = 0; c < width; ++c) q.jacobian[i * width + c] -= shift[c];
    }
    lapack.subtract_product(held, width, m, K.data(), x.data(), q.jacobian);
    return true;
}

}  // namespace svmselect
