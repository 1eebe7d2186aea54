// A machine to be trained on some of the rows of a Gram matrix, and the record of how that ended:
// solution.py compiled. What is not exact beyond doubt is not `done`, and left to Python.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "list.hpp"
#include "loss.hpp"

namespace svmselect {

constexpr double EPS = 2.220446049250313e-16;

// Rows of a matrix K; null for `rows` stands for all. Machines over the same rows are a group.
struct Group {
    const double* K;
    Index stride;
    const std::int64_t* rows;
    Index n;
    const double* y;

    Index at(Index i) const { return rows == nullptr ? i : static_cast<Index>(rows[i]); }
    const double* row(Index i) const { return K + at(i) * stride; }
};

// A machine trained on the same rows, at other hyperparameters or with other weights.
struct Start {
    const double *beta, *decision, *weights;
    const std::int64_t *free, *bound;
    Index n_free, n_bound;
    double C, intercept;
};

struct Setting {
    double C;
    bool intercept;
};

// What Solution holds. `order` has the free points, then those at their bound.
struct Answer {
    double *alpha, *beta, *decision;
    std::int64_t* order;
    Index n_free, n_bound, ends[2];
    double intercept, objective, gap, kkt, rounding;
    bool done;

    Start as_start(const double* weights, double C) const {
        return {beta, decision, weights, order, order + n_free, n_free, n_bound, C, intercept};
    }
};

// The rows that a machine is trained on, with a copy of their block of K. Where they are most of the
// matrix it is taken as it is, and the others have no cost: that takes less time than copying.
class Block {
  public:
    Block(const Group& group, const double* weights, double C) : group_(group) {
        Index present = 0;
        for (Index i = 0; i < group.n; ++i) present += weights[i] > 0.0;
        const bool whole = group.rows == nullptr && 4 * present >= 3 * group.n;
        for (Index i = 0; i < group.n; ++i) {
            if (whole || weights[i] > 0.0)
                in.push_back(i), y.push_back(group.y[i]), cost.push_back(C * weights[i]);
            else
                out.push_back(i);
        }
        if (whole) {
            K = group.K;
            return;
        }
        const Index n = in.size();
        List<Index> columns;
        for (const Index i : in) columns.push_back(group.at(i));
        copy_.resize(n * n);
        double* to = copy_.data();
        for (Index i = 0; i < n; ++i) {
            const double* from = group.row(in[i]);
            for (Index j = 0; j < n; ++j) *to++ = from[columns[j]];
        }
        K = copy_.data();
    }

    Index n() const { return in.size(); }

    // Values of the training rows, from and to values of all rows of the group.
    List<double> gather(const double* values) const {
        List<double> found(n());
        for (Index i = 0; i < n(); ++i) found[i] = values[in[i]];
        return found;
    }

    void scatter(const List<double>& values, double* to) const {
        std::fill(to, to + group_.n, 0.0);
        for (Index i = 0; i < n(); ++i) to[in[i]] = values[i];
    }

    // K beta + b at the rows that are held out.
    void predict(const List<double>& beta, double b, double* decision) const {
        if (out.empty()) return;
        List<Index> columns;
        List<double> used;
        for (Index i = 0; i < n(); ++i)
            if (beta[i] != 0.0) columns.push_back(group_.at(in[i])), used.push_back(beta[i]);
        for (const Index k : out) {
            const double* row = group_.row(k);
            double sums[4] = {0.0, 0.0, 0.0, 0.0};
            Index j = 0;
            for (; j + 3 < used.size(); j += 4)
                for (Index l = 0; l < 4; ++l) sums[l] += used[j + l] * row[columns[j + l]];
            for (; j < used.size(); ++j) sums[0] += used[j] * row[columns[j]];
            decision[k] = (sums[0] + sums[1]) + (sums[2] + sums[3]) + b;
        }
    }

    List<Index> in, out;  // among the rows of the group
    List<double> y, cost;  // of those in
    const double* K;

  private:
    const Group& group_;
    List<double> copy_;
};

// Objective, gap and residuals of a machine; whether it is exact by them.
template <typename Loss>
bool describe(const Block& block, const List<double>& beta, double b, const List<double>& decision,
              bool intercept, Answer& a) {
    const Index n = block.n();
    double norm = 0.0, total = 0.0, absolute = 0.0, spread = 0.0, largest = 0.0, losses = 0.0;
    for (Index i = 0; i < n; ++i) {
        const double size = std::sqrt(std::max(block.K[i * n + i], 0.0));
        norm += beta[i] * (decision[i] - b), total += beta[i];
        absolute += std::fabs(beta[i]), spread += size * std::fabs(beta[i]);
        largest = std::max(largest, size);
        if (block.cost[i] > 0.0) losses += block.cost[i] * Loss::value(block.y[i] * decision[i]);
    }
    // |K_ij| <= (K_ii K_jj)^1/2 bounds the rounding error of one decision value, `spread`; it enters
    // the norm through beta and the losses through C w wherever the loss is not flat
    spread = EPS * (1.0 + largest * spread);
    double steep = 0.0, gap = 0.0, kkt = 0.0;
    for (Index i = 0; i < n; ++i) {
        const double z = block.y[i] * decision[i], alpha = block.y[i] * beta[i], cost = block.cost[i];
        if (cost == 0.0) continue;
        if (alpha > 0.0 || Loss::slope(z - spread) > 0.0) steep += cost;
        gap += Loss::gap(z, alpha, cost);
        kkt = std::max(kkt, Loss::residual(z, alpha, cost));
    }
    a.objective = 0.5 * norm + losses;
    const double unit = std::max(std::fabs(a.objective), 1e-300);
    a.rounding = (spread * (0.5 * absolute + steep) + EPS * losses) / unit;
    a.gap = std::fabs(gap - (intercept ? b * total : 0.0)) / unit;
    a.kkt = kkt, a.intercept = b;
    const auto limit = [](double error) { return std::min(std::max(1e-9, 100.0 * error), 1e-3); };
    // where rounding is larger, Python evaluates all this in twice the precision
    return a.rounding <= 1e-5 && a.gap <= limit(a.rounding) && a.kkt <= limit(spread);
}

}  // namespace svmselect
