// A machine of a smooth loss, by Newton's method on the primal: newton.py compiled, but for what is
// nearly singular, which is left to that file.
//
// A step solves (K + D) beta + b 1 = f + y slope/curvature with D = 1/(C w curvature). It needs the
// decision values f alone, so a start gives those, at the rows it did not see too. Near the optimum
// the curvature hardly changes, and steps with the last factor ("chords") gain a digit or more for a
// small part of the price; the last of them is judged on K itself.
#pragma once

#include <algorithm>
#include <cmath>

#include "box_qp.hpp"
#include "lapack.hpp"
#include "machine.hpp"
#include "watch.hpp"

namespace svmselect {

template <typename Loss>
class Newton {
  public:
    Newton(const Block& block, bool border, const Lapack& lapack, Watch& watch)
        : beta(block.n()), f(block.n()), block_(block), border_(border), lapack_(lapack), watch_(watch) {
        for (Index i = 0; i < block.n(); ++i) {
            if (block.cost[i] > 0.0) at_.push_back(i);
            largest_ = std::max(largest_, diagonal(i));
        }
    }

    // Whether it converged, from these decision values (null: zero).
    bool solve(const double* start) {
        const double at_zero = objective();
        if (start != nullptr) {
            std::copy(start, start + block_.n(), f.begin());
            if (!find_target()) return false;
            accept(1.0);
            if (objective() > at_zero) {
                std::fill(beta.begin(), beta.end(), 0.0), std::fill(f.begin(), f.end(), 0.0), b = 0.0;
            } else if (chords()) {
                return true;
            }
        }
        double value = objective();
        for (int step = 0, stalled = 0; step < STEPS && stalled < 2; ++step) {
            if (!find_target()) return false;
            const double length = line_search();
            accept(length);
            if (length == 1.0 && chords()) return true;
            const double before = value;
            value = objective();
            stalled = value >= before - 1e-14 * std::fabs(before) ? stalled + 1 : 0;
        }
        return false;
    }

    List<double> beta, f;  // f also at rows without a cost
    double b = 0.0;

  private:
    static constexpr int STEPS = 100;
    static constexpr double GAIN = 0.3, ROUNDING = 1e-15;

    double diagonal(Index i) const { return block_.K[i * block_.n() + i]; }
    double slope(Index i) const {
        return block_.y[i] * block_.cost[i] * Loss::slope(block_.y[i] * f[i]);
    }

    double objective() const {
        double value = 0.0;
        for (const Index i : at_)
            value += 0.5 * beta[i] * (f[i] - b) + block_.cost[i] * Loss::value(block_.y[i] * f[i]);
        return value;
    }

    // K + D of the rows with a cost, factored; false where it is singular to working precision.
    bool factor() {
        watch_.look();
        const Index m = at_.size(), n = block_.n();
        ridge_.resize(m), A_.resize(m * m);
        lift_ = 0.0;
        for (Index i = 0; i < m && border_; ++i) lift_ += diagonal(at_[i]) / static_cast<double>(m);
        if (border_ && lift_ == 0.0) lift_ = 1.0;
        for (Index i = 0; i < m; ++i) {
            const Index k = at_[i];
            const double W = block_.cost[k] * Loss::curvature(block_.y[k] * f[k]);
            if (!(W > 1e-200)) return false;
            ridge_[i] = 1.0 / W;
            const double* row = block_.K + k * n;
            double* to = A_.data() + i * m;
            for (Index j = 0; j <= i; ++j) to[j] = row[at_[j]] + lift_;
            to[i] += ridge_[i];
        }
        char upper = 'U';  // by columns
        int size = static_cast<int>(m), info = 0;
        lapack_.potrf(&upper, &size, A_.data(), &size, &info);
        if (info != 0) return false;
        ones_.assign(m, 1.0);
        if (border_) back(ones_);
        sum_ones_ = 0.0;
        for (const double v : ones_) sum_ones_ += v;
        return true;
    }

    void back(List<double>& x) {
        char upper = 'U';
        int size = static_cast<int>(at_.size()), one = 1, info = 0;
        lapack_.potrs(&upper, &size, &one, A_.data(), &size, x.data(), &size, &info);
    }

    // (K + D) x + shift 1 = x, with sum(x) = total where there is a border; the shift.
    double bordered(List<double>& x, double total) {
        back(x);
        if (!border_) return 0.0;
        double sum = 0.0;
        for (const double v : x) sum += v;
        const double shift = (sum - total) / sum_ones_;
        for (Index i = 0; i < x.size(); ++i) x[i] -= shift * ones_[i];
        return shift + lift_ * total;
    }

    // Where the quadratic model at f has its minimum.
    bool find_target() {
        if (!factor()) return false;
        const Index m = at_.size();
        target_.resize(m), f_target_.resize(m);
        for (Index i = 0; i < m; ++i) f_target_[i] = target_[i] = f[at_[i]] + ridge_[i] * slope(at_[i]);
        b_target_ = bordered(target_, 0.0);
        for (Index i = 0; i < m; ++i) f_target_[i] -= ridge_[i] * target_[i];
        return true;
    }

    void accept(double length) {
        for (Index i = 0; i < at_.size(); ++i) {
            const Index k = at_[i];
            beta[k] += length * (target_[i] - beta[k]);
            f[k] += length * (f_target_[i] - f[k]);
        }
        b += length * (b_target_ - b);
    }

    // The minimum of the convex objective along the step, within (0, 1]; 1 near the optimum.
    double line_search() const {
        double first = 0.0, second = 0.0;  // of the norm, which is a parabola
        const double d_b = b_target_ - b;
        for (Index i = 0; i < at_.size(); ++i) {
            const Index k = at_[i];
            const double d_beta = target_[i] - beta[k], d_f = f_target_[i] - f[k] - d_b;
            first += 0.5 * (d_beta * (f[k] - b) + beta[k] * d_f), second += d_beta * d_f;
        }
        const auto derivative = [&](double t) {
            double sum = first + t * second;
            for (Index i = 0; i < at_.size(); ++i) {
                const Index k = at_[i];
                const double d_f = f_target_[i] - f[k];
                sum -= block_.cost[k] * block_.y[k] * Loss::slope(block_.y[k] * (f[k] + t * d_f)) * d_f;
            }
            return sum;
        };
        const double at_zero = derivative(0.0);
        if (at_zero >= 0.0 || derivative(1.0) <= 1e-3 * std::fabs(at_zero)) return 1.0;
        double low = 0.0, high = 1.0;
        for (int i = 0; i < 30; ++i) {
            const double middle = 0.5 * (low + high), value = derivative(middle);
            (value < 0.0 ? low : high) = middle;
            if (std::fabs(value) <= 1e-3 * std::fabs(at_zero)) break;
        }
        return 0.5 * (low + high);
    }

    void compute_decision() {
        const Index n = block_.n();
        std::fill(f.begin(), f.end(), 0.0);
        values_.clear();
        for (const Index i : at_) values_.push_back(-beta[i]);
        subtract_rows(block_.K, n, at_.data(), values_.data(), at_.size(), f.data());
        for (double& v : f) v += b;
    }

    bool chords() {
        const Index m = at_.size();
        double error = HUGE_NUMBER;
        for (;;) {
            watch_.look();
            compute_decision();
            rest_.resize(m);
            double most = 0.0, size = 0.0, weight = 0.0, sum = 0.0;
            for (Index i = 0; i < m; ++i) {
                const Index k = at_[i];
                rest_[i] = slope(k) - beta[k];
                most = std::max(most, std::fabs(rest_[i])), size = std::max(size, std::fabs(beta[k]));
                weight += diagonal(k) * beta[k] * beta[k], sum += beta[k];
            }
            // near a hard margin beta is far below C w: its own size counts
            const double before = error;
            error = most / std::max(size, 1e-300);
            // |K_ij|^2 <= K_ii K_jj, and independent rounding errors add in squares
            const double limit = std::min(ROUNDING * (1.0 + std::sqrt(largest_ * weight)), 1e-13);
            if (error <= limit) return true;
            if (!(error <= GAIN * before)) return false;
            for (Index i = 0; i < m; ++i) rest_[i] *= ridge_[i];
            b += bordered(rest_, -sum);
            for (Index i = 0; i < m; ++i) beta[at_[i]] += rest_[i];
        }
    }

    const Block& block_;
    bool border_;
    const Lapack& lapack_;
    Watch& watch_;
    double largest_ = 0.0, lift_ = 0.0, sum_ones_ = 0.0, b_target_ = 0.0;
    List<Index> at_;
    List<double> A_, ridge_, ones_, target_, f_target_, rest_, values_;
};

template <typename Loss>
void train_newton(const Group& group, const double* weights, const Start* start, const Setting& setting,
                  const Lapack& lapack, Watch& watch, Answer& a) {
    const Block block(group, weights, setting.C);
    Newton<Loss> newton(block, setting.intercept, lapack, watch);
    const List<double> begin = start != nullptr ? block.gather(start->decision) : List<double>();
    a.done = newton.solve(start != nullptr ? begin.data() : nullptr);
    if (!a.done) return;
    a.n_free = a.n_bound = 0;
    a.ends[0] = a.ends[1] = -1;
    for (Index i = 0; i < block.n(); ++i)
        if (block.cost[i] > 0.0) a.order[a.n_free++] = block.in[i];
    a.done = describe<Loss>(block, newton.beta, newton.b, newton.f, setting.intercept, a);
    block.scatter(newton.beta, a.beta);
    block.scatter(newton.f, a.decision);
    for (Index i = 0; i < group.n; ++i) a.alpha[i] = group.y[i] * a.beta[i];
    block.predict(newton.beta, newton.b, a.decision);
}

}  // namespace svmselect
