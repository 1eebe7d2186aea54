// The course of a quadratic program over a box, from a start to its exact end: box_qp.py compiled,
// but for its last resorts. What it cannot settle it leaves to that file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "box_qp.hpp"
#include "pivoting.hpp"
#include "settling.hpp"

namespace svmselect {

class BoxSolver {
  public:
    BoxSolver(const Problem& p, const Lapack& lapack, Watch& watch)
        : beta(p.n), residual(p.n), states(p.n), p_(p), lapack_(lapack), watch_(watch) {
        for (Index k = 0; k < p.n; ++k) {
            scale_ = std::max(scale_, std::fabs(p.target[k]));
            largest_ = std::max(largest_, diagonal(k));
        }
        if (scale_ == 0.0) scale_ = 1.0;
    }

    // Whether it ended exactly. `sets` (may be null) and `start` are those of a neighbouring problem;
    // `stretch` is by what the box has grown since.
    bool solve(const std::int8_t* sets, const double* start, double stretch) {
        const Index n = p_.n;
        std::copy(start, start + n, beta.begin());
        if (sets != nullptr) {
            for (Index k = 0; k < n; ++k) {
                beta[k] = sets[k] == AT_LOWER   ? p_.lower[k]
                          : sets[k] == AT_UPPER ? p_.upper[k]
                                                : clip(k, stretch * beta[k]);
                if (std::fabs(beta[k]) >= INFINITE) beta[k] = 0.0;
            }
            begin();
            if (nearly_right(sets)) {
                if (pivot(SHORT_PATIENCE) || finish(ROUNDS)) return true;
            }
        } else {
            for (Index k = 0; k < n; ++k) beta[k] = clip(k, beta[k]);
            begin();
        }
        long steps = n, left = std::max<long>(50000, n * n / 16);
        int rounds = ROUNDS;
        for (double tol = FIRST_TOLERANCE; left > 0 && tol >= LAST_TOLERANCE && !odd_; tol *= 0.1) {
            const Descent d = decompose(p_, beta.data(), residual.data(), tol * scale_,
                                        std::min(left, steps), watch_);
            churn_ += d.churn;
            left -= std::max<long>(d.steps, 1);
            // factorisations are quick; what settles the sets where they go in circles is not
            if (pivot(SHORT_PATIENCE) || finish(rounds)) return true;
            rounds = std::min(4 * rounds, 100000), steps *= 4;  // once more, from further down
        }
        return false;
    }

    List<double> beta, residual;
    List<std::int8_t> states;
    double offset = 0.0;
    Index ends[2] = {-1, -1};  // what limits the offset where nothing is free

  private:
    static constexpr double FIRST_TOLERANCE = 1e-1, LAST_TOLERANCE = 1e-13;
    static constexpr double PIVOT_TOLERANCE = 1e-12, INFINITE = 1e299, FEW = 0.05;
    static constexpr int ROUNDS = 200, PIVOT_ROUNDS = 40, PATIENCE = 3, SHORT_PATIENCE = HASTY;

    double diagonal(Index k) const { return p_.K[k * p_.n + k]; }
    double clip(Index k, double v) const { return std::min(std::max(v, p_.lower[k]), p_.upper[k]); }

    double size() const {
        double sum = 0.0;
        for (const double b : beta) sum += std::fabs(b);
        return sum;
    }

    double total() const {
        double sum = 0.0;
        for (const double b : beta) sum += b;
        return sum;
    }

    // The feasible point next to beta, and its residual.
    void begin() {
        const double missing = p_.balanced ? p_.total - total() : 0.0;
        if (std::fabs(missing) > 1e-15 * size()) make_feasible(missing);
        compute_residual();
        churn_ = 0.0;
    }

    void compute_residual() {
        std::copy(p_.target, p_.target + p_.n, residual.begin());
        subtract(p_.K, p_.n, p_.ridge, beta.data(), residual.data());
    }

    // Those inside share what is missing; what they cannot take goes to one after the other.
    void make_feasible(double missing) {
        const double most = std::fabs(missing), sign = missing > 0.0 ? 1.0 : -1.0;
        List<double> room(p_.n), share(p_.n);
        double shared = 0.0;
        for (Index k = 0; k < p_.n; ++k) {
            room[k] = missing > 0.0 ? p_.upper[k] - beta[k] : beta[k] - p_.lower[k];
            if (p_.lower[k] < beta[k] && beta[k] < p_.upper[k]) share[k] = std::min(room[k], most);
            shared += share[k];
        }
        const double part = shared > 0.0 ? std::min(1.0, most / shared) : 0.0;
        double rest = most - part * shared;
        for (Index k = 0; k < p_.n; ++k) {
            const double own = part * share[k];
            const double more = std::min(std::max(rest, 0.0), std::min(room[k] - own, most));
            rest -= more;
            beta[k] = clip(k, beta[k] + sign * (own + more));
        }
    }

    bool nearly_right(const std::int8_t* sets) const {
        Index free = 0, leave = 0;
        double pull = 0.0;
        for (Index k = 0; k < p_.n; ++k)
            if (sets[k] == FREE) ++free, pull += residual[k];
        if (free == 0) return true;
        pull = p_.balanced ? pull / static_cast<double>(free) : 0.0;
        const double slack = 1e-3 * scale_;
        for (Index k = 0; k < p_.n; ++k)
            leave += (sets[k] == AT_LOWER && residual[k] - pull > slack) ||
                     (sets[k] == AT_UPPER && residual[k] - pull < -slack);
        return static_cast<double>(leave) <= FEW * static_cast<double>(free);
    }

    bool finish(int rounds) {
        if (odd_) return false;
        const Settling s = settle(p_, lapack_, beta.data(), residual.data(),
                                  PIVOT_TOLERANCE * scale_, rounds, watch_);
        churn_ += s.churn;
        return pivot(PATIENCE);
    }

    // Try for the exact answer from here; false, and nothing changed, where that fails.
    bool pivot(int patience) {
        double weight = 0.0;
        for (Index k = 0; k < p_.n; ++k) {
            weight += diagonal(k) * beta[k] * beta[k];
            states[k] = p_.lower[k] == p_.upper[k] ? ABSENT
                        : beta[k] <= p_.lower[k] ? AT_LOWER
                        : beta[k] >= p_.upper[k] ? AT_UPPER
                                                 : FREE;
        }
        const bool known = churn_ <= 4.0 * weight;
        const List<double> old_beta = beta, old_residual = residual;
        const double tol = PIVOT_TOLERANCE * scale_;
        const Pivoting d = svmselect::pivot(p_, lapack_, states.data(), beta.data(), residual.data(),
                                            known, tol, PIVOT_ROUNDS, patience, watch_);
        offset = d.offset;
        bool done = d.ending == Ending::EXACT;
        if (d.ending == Ending::NO_FREE) {
            done = without_free(tol);
        } else if (done) {
            for (const std::int8_t s : states) odd_ = odd_ || s == PARKED;
            if (at_corner() && without_free_at_corner(tol)) return true;
            done = !odd_;
        }
        if (!done) beta = old_beta, residual = old_residual;
        return done;
    }

    // Whether all free coordinates are at a bound, up to rounding: none is free then. With equal
    // bounds this is common, for with one coordinate left the sum decides, and gives 0 or C.
    bool at_corner() const {
        if (!p_.balanced) return false;
        const double rounding = 1e-14 * (size() + std::fabs(p_.total));
        Index free = 0;
        for (Index k = 0; k < p_.n; ++k) {
            if (states[k] != FREE && states[k] != PARKED) continue;
            const bool low = beta[k] - p_.lower[k] <= rounding, high = p_.upper[k] - beta[k] <= rounding;
            if (++free > 4 || !(low || high)) return false;
        }
        return true;
    }

    bool without_free_at_corner(double tol) {
        const List<double> exact_beta = beta, exact_residual = residual;
        const List<std::int8_t> exact_states = states;
        const double rounding = 1e-14 * (size() + std::fabs(p_.total)), exact_offset = offset;
        for (Index k = 0; k < p_.n; ++k) {
            if (states[k] != FREE && states[k] != PARKED) continue;
            const bool low = beta[k] - p_.lower[k] <= rounding;
            states[k] = low ? AT_LOWER : AT_UPPER;
            beta[k] = low ? p_.lower[k] : p_.upper[k];
        }
        compute_residual();
        if (without_free(tol)) return true;
        beta = exact_beta, residual = exact_residual, states = exact_states, offset = exact_offset;
        return false;
    }

    // Everything at a bound: optimal if the sum is right and an offset fits between them.
    bool without_free(double tol) {
        const double rounding = 1e-14 * (size() + std::fabs(p_.total));
        if (std::fabs(total() - p_.total) > rounding) return false;
        // r <= offset at the lower bound, r >= offset at the upper; either may be empty, not both
        double floor = -HUGE_NUMBER, ceiling = HUGE_NUMBER, weight = 0.0;
        Index low = -1, high = -1;
        for (Index k = 0; k < p_.n; ++k) {
            weight += diagonal(k) * beta[k] * beta[k];
            if (states[k] == AT_LOWER && residual[k] > floor) floor = residual[k], low = k;
            if (states[k] == AT_UPPER && residual[k] < ceiling) ceiling = residual[k], high = k;
        }
        if (low < 0) floor = ceiling, low = high;
        if (high < 0) ceiling = floor, high = low;
        const double noise = 8.0 * 2.2e-16 * std::sqrt(largest_ * weight);
        if (floor - ceiling > std::max(tol, noise)) return false;
        offset = 0.5 * (floor + ceiling);
        ends[0] = low, ends[1] = high;
        return true;
    }

    const Problem& p_;
    const Lapack& lapack_;
    Watch& watch_;
    double scale_ = 0.0, largest_ = 0.0, churn_ = 0.0;
    bool odd_ = false;  // coordinates that depend on the others: more to decide than is done here
};

}  // namespace svmselect
