// One look at every entry of a Gram matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "box_qp.hpp"

namespace svmselect {

struct Look {
    int fault;  // 0 none, 1 not symmetric, 2 a 1 x 1 or 2 x 2 minor is negative, 3 not finite
    Index i, j;
};

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

// Two rows in one pass: along[r] = row_r . x, across += weight_r row_r; the largest excess of an
// entry over what a 2 x 2 minor allows.
SVMSELECT_CLONES inline double pass_rows(const double* __restrict p, const double* __restrict q,
                                         const double* weight, const double* reach, Index n,
                                         const double* __restrict x, const double* __restrict root,
                                         double* along, double* __restrict across) {
    constexpr Index LANES = 32;
    double first[LANES] = {}, second[LANES] = {}, excess[LANES];
    const double a = weight[0], b = weight[1], c = reach[0], d = reach[1];
    std::fill(excess, excess + LANES, -HUGE_NUMBER);
    Index start = 0;
    for (; start + LANES <= n; start += LANES)
        for (Index lane = 0; lane < LANES; ++lane) {
            const Index j = start + lane;
            across[j] += a * p[j] + b * q[j];
            first[lane] += p[j] * x[j];
            second[lane] += q[j] * x[j];
            const double u = std::fabs(p[j]) - c * root[j], v = std::fabs(q[j]) - d * root[j];
            const double w = u > v ? u : v;
            excess[lane] = w > excess[lane] ? w : excess[lane];
        }
    for (Index j = start; j < n; ++j) {
        across[j] += a * p[j] + b * q[j];
        first[0] += p[j] * x[j];
        second[0] += q[j] * x[j];
        excess[0] = std::max({excess[0], std::fabs(p[j]) - c * root[j], std::fabs(q[j]) - d * root[j]});
    }
    along[0] = along[1] = 0.0;
    for (Index lane = 0; lane < LANES; ++lane) along[0] += first[lane], along[1] += second[lane];
    return *std::max_element(excess, excess + LANES);
}

// K x against K'x for a scattered x, and every 2 x 2 minor, reading K once in the order it lies. What
// is not finite shows in K x.
// An entry out of symmetry by `slack` does not escape; a crowd of smaller ones may raise the alarm.
inline bool sound(const double* K, Index n, const List<double>& root, double slack) {
    List<double> x(n), along(n + 1), across(n, 0.0);
    for (Index j = 0; j < n; ++j) {
        const double turn = 0.6180339887498949 * static_cast<double>(j + 1);
        x[j] = 0.5 + (turn - std::floor(turn));
    }
    for (Index i = 0; i < n; i += 2) {
        const Index k = std::min(i + 1, n - 1);  // an odd one comes twice, the second time idle
        const double weight[2] = {x[i], i + 1 < n ? x[k] : 0.0}, reach[2] = {root[i], root[k]};
        const double excess = pass_rows(K + i * n, K + k * n, weight, reach, n, x.data(), root.data(),
                                        &along[i], across.data());
        if (excess > 0.0 || !finite(along[i]) || !finite(along[i + 1])) return false;
    }
    for (Index k = 0; k < n; ++k)
        if (std::fabs(along[k] - across[k]) > 0.1 * slack) return false;
    return true;
}

inline Look inspect(const double* K, Index n, double tol) {
    double largest = 0.0;
    for (Index k = 0; k < n; ++k) {
        if (!finite(K[k * n + k])) return {3, k, k};
        largest = std::max(largest, std::fabs(K[k * n + k]));
    }
    const double slack = tol * largest;
    List<double> root(n);
    for (Index k = 0; k < n; ++k) {
        if (K[k * n + k] < -slack) return {2, k, k};
        root[k] = std::sqrt(K[k * n + k] + slack);
    }
    if (sound(K, n, root, slack)) return {0, 0, 0};
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j) {
            const int fault = judge(K[i * n + j], K[j * n + i], root[i], root[j], slack, tol);
            if (fault != 0) return {fault, i, j};
        }
    return {0, 0, 0};
}

}  // namespace svmselect
