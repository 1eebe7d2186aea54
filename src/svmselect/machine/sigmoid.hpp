// The sigmoid of held-out decisions by Newton's method: probability/sigmoid.py compiled, for decisions
// of two classes that overlap. What it does not settle is left to that file.
#pragma once

#include <algorithm>
#include <cmath>

#include "list.hpp"
#include "loss.hpp"

namespace svmselect {

struct Sigmoid {
    double slope, offset, value, gap;
    bool done;
};

// Maximises sum_i w_i (t_i log p_i + (1 - t_i) log(1 - p_i)) / sum w, p = expit(a u + c), over a in
// [-bound, bound] and c, where u is f less its mean, over its standard deviation.
class SigmoidFit {
  public:
    SigmoidFit(const double* f, const double* t, const double* weights, Index n, double bound)
        : n_(n), bound_(bound), t_(t), u_(f, f + n), share_(weights, weights + n), v_(n), new_(n), d_(n) {
        double total = 0.0, mean = 0.0;
        for (const double w : share_) total += w;
        for (Index i = 0; i < n; ++i) share_[i] /= total, mean += share_[i] * f[i];
        double furthest = TINY, largest = 0.0, square = 0.0;
        for (Index i = 0; i < n; ++i) {
            largest = std::max(largest, std::fabs(f[i])), u_[i] -= mean;
            furthest = std::max(furthest, std::fabs(u_[i]));
        }
        for (Index i = 0; i < n; ++i) square += share_[i] * (u_[i] / furthest) * (u_[i] / furthest);
        mean_ = mean, scale_ = furthest * std::sqrt(square);
        varies_ = scale_ > std::max(FLAT * largest, TINY);
        for (Index i = 0; i < n && varies_; ++i) u_[i] /= scale_;
    }

    // `gradient` receives the derivative of the value by each f.
    Sigmoid fit(bool one_sided, double* gradient) {
        Sigmoid found{};
        if (!varies_ || apart() || !newton()) return found;
        found.gap = gap();
        if (!(found.gap <= TOLERANCE)) return found;
        if (one_sided && a_ < 0.0) a_ = 0.0, c_ = std::log(rate_ / (1.0 - rate_));
        double pulled = 0.0, turned = 0.0;
        for (Index i = 0; i < n_; ++i) {
            v_[i] = a_ * u_[i] + c_;
            gradient[i] = share_[i] * surplus(i) * a_;
            pulled += gradient[i], turned += gradient[i] * u_[i];
        }
        // through mean and scale, which matters only where |a| is at its bound
        for (Index i = 0; i < n_; ++i)
            gradient[i] = (gradient[i] - share_[i] * (pulled + u_[i] * turned)) / scale_;
        found.value = -loss(v_);
        found.slope = -a_ / scale_, found.offset = a_ * mean_ / scale_ - c_;
        found.done = true;
        return found;
    }

  private:
    static constexpr double FLAT = 1e-12, TINY = 1e-290, SMALL = 1e-2, NO_CURVATURE = 1e-250;
    static constexpr double TOLERANCE = 1e-6;
    static constexpr int STEPS = 30;

    double surplus(Index i) const {  // t - p, without cancellation
        return t_[i] * expit(-v_[i]) - (1.0 - t_[i]) * expit(v_[i]);
    }

    double loss(const List<double>& v) const {
        double sum = 0.0;
        for (Index i = 0; i < n_; ++i) {
            // -log expit(v) is softplus(-v) = softplus(v) - v
            const double up = softplus(-v[i]);
            sum += share_[i] * (t_[i] * up + (1.0 - t_[i]) * (up + v[i]));
        }
        return sum;
    }

    // Whether hard targets do not overlap in u: there is no maximum but at the bound.
    bool apart() const {
        double up_low = 1e300, up_high = -1e300, down_low = 1e300, down_high = -1e300, most = 0.0, least = 1.0;
        for (Index i = 0; i < n_; ++i) {
            double &low = t_[i] > 0.5 ? up_low : down_low, &high = t_[i] > 0.5 ? up_high : down_high;
            low = std::min(low, u_[i]), high = std::max(high, u_[i]);
            most = std::max(most, t_[i]), least = std::min(least, t_[i]);
        }
        return most == 1.0 && least == 0.0 && (up_low >= down_high || up_high <= down_low);
    }

    // What two normal classes of one width would have.
    void guess() {
        double up = 0.0, down = 0.0;
        rate_ = 0.0;
        for (Index i = 0; i < n_; ++i) {
            rate_ += share_[i] * t_[i];
            up += share_[i] * t_[i] * u_[i], down += share_[i] * (1.0 - t_[i]) * u_[i];
        }
        up /= rate_, down /= 1.0 - rate_;
        const double apart = up - down, within = 1.0 - rate_ * (1.0 - rate_) * apart * apart;
        a_ = apart / std::max(within, std::max(0.1 * apart * apart, 1e-3));
        c_ = std::log(rate_ / (1.0 - rate_)) - 0.5 * a_ * (up + down);
    }

    bool newton() {
        guess();
        for (Index i = 0; i < n_; ++i) v_[i] = a_ * u_[i] + c_;
        double value = loss(v_);
        for (int step = 0; step < STEPS; ++step) {
            double mass = 0.0, middle = 0.0, pull = 0.0, spread = 0.0, turn = 0.0;
            for (Index i = 0; i < n_; ++i) {
                const double q = expit(v_[i]);
                d_[i] = share_[i] * q * (1.0 - q);
                mass += d_[i], middle += d_[i] * u_[i];
            }
            if (!(mass > NO_CURVATURE)) return false;
            middle /= mass;
            // centred where the curvature is, the Hessian is diagonal
            for (Index i = 0; i < n_; ++i) {
                const double away = u_[i] - middle, r = share_[i] * surplus(i);
                spread += d_[i] * away * away, turn += r * away, pull += r;
            }
            if (!(spread > NO_CURVATURE)) return false;
            const double d_a = turn / spread, d_c = pull / mass - d_a * middle;
            double most = 0.0;
            for (Index i = 0; i < n_; ++i) {
                d_[i] = d_a * u_[i] + d_c;
                most = std::max(most, std::fabs(d_[i]));
            }
            // a step of log(1 + m)/m of Newton's always leads uphill, m what it moves v by at most
            const double sure = most > 0.0 ? std::log1p(most) / most : 1.0;
            double length = 1.0;
            if (most > SMALL) {
                for (;;) {
                    for (Index i = 0; i < n_; ++i) new_[i] = v_[i] + length * d_[i];
                    const double after = loss(new_);
                    if (after < value) {
                        value = after;
                        break;
                    }
                    if (length == sure) return false;
                    length = std::max(0.25 * length, sure);
                }
            }
            a_ += length * d_a, c_ += length * d_c;
            for (Index i = 0; i < n_; ++i) v_[i] += length * d_[i];
            if (std::fabs(a_) > bound_) return false;
            if (most <= SMALL * SMALL * SMALL * SMALL) return true;
            if (most <= SMALL) value = loss(v_);  // quadratic convergence from here on
        }
        return false;
    }

    // A bound on what another (a, c) could gain, by duality.
    double gap() {
        double e_0 = 0.0, e_1 = 0.0, furthest = 0.0, least = 1.0;
        for (Index i = 0; i < n_; ++i) {
            v_[i] = a_ * u_[i] + c_;
            const double e = -share_[i] * surplus(i);
            e_0 += e, e_1 += e * u_[i];
            furthest = std::max(furthest, std::fabs(u_[i])), least = std::min(least, share_[i]);
        }
        const double reach = bound_ * furthest + 50.0 - std::log(least);
        return bound_ * std::fabs(e_1) + a_ * e_1 + reach * std::fabs(e_0) + c_ * e_0;
    }

    Index n_;
    double bound_;
    const double* t_;
    List<double> u_, share_, v_, new_, d_;
    double mean_ = 0.0, scale_ = 0.0, a_ = 0.0, c_ = 0.0, rate_ = 0.0;
    bool varies_ = false;
};

}  // namespace svmselect
