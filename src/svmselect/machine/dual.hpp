// A machine of either hinge, by its dual: _train_dual of train.py compiled.
#pragma once

#include "course.hpp"
#include "machine.hpp"

namespace svmselect {

constexpr double FAINT = 1e-3;

// Active sets to start from, of the rows trained on; what the start did not see is judged by its
// margin. False where it is too far away.
template <typename Loss>
bool sets_of(const Start& start, const Group& group, const double* weights, const Block& block,
             double stretch, List<std::int8_t>& states) {
    Index exchanged = 0;
    for (Index i = 0; i < group.n; ++i) exchanged += weights[i] != start.weights[i];
    const bool near = 0.5 <= stretch && stretch <= 2.0;
    if (!near || static_cast<double>(exchanged) > 0.02 * static_cast<double>(group.n) + 1.0)
        return false;
    const auto side = [&](Index i) {
        return !Loss::REACHES_BOUND ? FREE : group.y[i] > 0.0 ? AT_UPPER : AT_LOWER;
    };
    List<std::int8_t> all(group.n);
    for (Index i = 0; i < group.n; ++i) all[i] = group.y[i] > 0.0 ? AT_LOWER : AT_UPPER;
    for (Index i = 0; i < start.n_bound; ++i) all[start.bound[i]] = side(start.bound[i]);
    for (Index i = 0; i < start.n_free; ++i) all[start.free[i]] = FREE;
    for (Index i = 0; i < group.n; ++i)
        if (start.weights[i] == 0.0 && weights[i] > 0.0 && group.y[i] * start.decision[i] < 1.0)
            all[i] = side(i);
    for (Index i = 0; i < group.n; ++i)
        if (weights[i] == 0.0) all[i] = ABSENT;
    states.resize(block.n());
    for (Index i = 0; i < block.n(); ++i) states[i] = all[block.in[i]];
    return true;
}

template <typename Loss>
void train_dual(const Group& group, const double* weights, const Start* start, const Setting& setting,
                const Lapack& lapack, Watch& watch, Answer& a) {
    const Block block(group, weights, setting.C);
    const Index n = block.n();
    List<double> ridge(n), lower(n), upper(n);
    for (Index i = 0; i < n; ++i) {
        if (block.cost[i] == 0.0) continue;
        const double bound = Loss::bound(block.cost[i]);
        ridge[i] = Loss::ridge(block.cost[i], block.cost[i]);
        lower[i] = block.y[i] < 0.0 ? -bound : 0.0, upper[i] = block.y[i] > 0.0 ? bound : 0.0;
    }
    const Problem p{block.K,      n,           ridge.data(),      block.y.data(),
                    lower.data(), upper.data(), setting.intercept, 0.0};
    BoxSolver solver(p, lapack, watch);
    List<std::int8_t> sets;
    double stretch = 1.0;
    bool warm = false;
    const List<double> begin = start != nullptr ? block.gather(start->beta) : List<double>(n);
    if (start != nullptr) {
        stretch = setting.C / start->C;
        warm = sets_of<Loss>(*start, group, weights, block, stretch, sets);
    }
    a.done = solver.solve(warm ? sets.data() : nullptr, begin.data(), stretch);
    if (!a.done) return;

    List<double>&beta = solver.beta, &residual = solver.residual;
    double b = solver.offset;
    a.n_free = a.n_bound = 0;
    for (Index i = 0; i < n; ++i)
        if (solver.states[i] == FREE) a.order[a.n_free++] = block.in[i];
    // a free one may have ended on its bound: it is named once
    for (Index i = 0; i < n; ++i)
        if (solver.states[i] != FREE && block.cost[i] > 0.0 &&
            beta[i] == (block.y[i] > 0.0 ? upper[i] : lower[i]))
            a.order[a.n_free + a.n_bound++] = block.in[i];
    a.ends[0] = solver.ends[0] < 0 ? -1 : block.in[solver.ends[0]];
    a.ends[1] = solver.ends[1] < 0 ? -1 : block.in[solver.ends[1]];

    // the residual is y - (K + ridge) beta
    List<double> decision(n);
    const auto decide = [&] {
        for (Index i = 0; i < n; ++i) decision[i] = block.y[i] - residual[i] - ridge[i] * beta[i] + b;
    };
    if (!Loss::CURVED && a.n_bound == 0) {
        // A hard margin: at large C a margin of 1 - 1e-16 costs more than the whole norm, so the
        // free margins are rounded up to one.
        residual.assign(block.y.data(), block.y.data() + n);  // nor may it carry what larger values left
        subtract(block.K, n, ridge.data(), beta.data(), residual.data());
        decide();
        double largest = 0.0, weight = 0.0, lacking = 0.0;
        for (Index i = 0; i < n; ++i) {
            const double square = std::max(block.K[i * n + i], 0.0);
            largest = std::max(largest, square), weight += square * beta[i] * beta[i];
            if (solver.states[i] == FREE) lacking = std::max(lacking, 1.0 - block.y[i] * decision[i]);
        }
        const double noise = 4e-16 * (1.0 + std::sqrt(largest * weight));
        const double up = 1.0 + std::min(noise, 1e-10) + 2.0 * std::min(lacking, 1e-10);
        for (Index i = 0; i < n; ++i) {
            beta[i] = std::min(std::max(beta[i] * up, lower[i]), upper[i]);
            decision[i] *= up;
        }
        b *= up;
    } else {
        decide();
    }
    if (!setting.intercept) {
        // far from all it was trained on a machine says next to nothing: not as y less almost y
        for (Index i = 0; i < n; ++i)
            if (block.cost[i] == 0.0 && std::fabs(decision[i]) < FAINT) {
                decision[i] = 0.0;
                for (Index j = 0; j < n; ++j) decision[i] += block.K[i * n + j] * beta[j];
            }
    }
    a.done = describe<Loss>(block, beta, b, decision, setting.intercept, a);
    block.scatter(beta, a.beta);
    block.scatter(decision, a.decision);
    for (Index i = 0; i < group.n; ++i) a.alpha[i] = group.y[i] * a.beta[i];
    block.predict(beta, b, a.decision);
}

}  // namespace svmselect
