// Primal active-set descent for the program in box_qp.hpp: what leads to the optimal sets where
// block pivoting cycles. The objective falls with every step, so it cannot.
//
// A round minimises over the free coordinates, giving up each that meets a bound on the way, and
// then frees those at a bound that want to leave it most. The factor of the free block follows each
// change in O(|F|^2); O(n |F|) a round besides.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>

#include "box_qp.hpp"
#include "pivoting.hpp"

namespace svmselect {

// The lower Cholesky factor of K_FF + diag(ridge) + lift 11', by rows, for a set F that changes.
class MovingFactor {
  public:
    MovingFactor(const Problem& p, double lift) : p_(p), lift_(lift) {}

    const List<Index>& members() const { return members_; }
    Index size() const { return members_.size(); }

    // All at once; false where the block is singular to working precision.
    bool reset(const Lapack& lapack, List<Index> members) {
        members_ = std::move(members);
        int m = static_cast<int>(size()), info = 0;
        width_ = std::max<Index>(2 * m, 64);
        L_.assign(width_ * width_, 0.0);
        if (m == 0) return true;
        for (Index i = 0; i < m; ++i)
            for (Index j = 0; j <= i; ++j) row(i)[j] = entry(members_[i], members_[j]);
        // by columns this is the upper triangle, and its factor U = L'
        char uplo = 'U';
        int stride = static_cast<int>(width_);
        lapack.potrf(&uplo, &m, L_.data(), &stride, &info);
        if (info != 0) return false;
        for (Index i = 0; i < m; ++i)
            if (!clear(row(i)[i] * row(i)[i], members_[i])) return false;
        return true;
    }

    // One more; false, and nothing done, where it depends on the others.
    bool append(Index k) {
        const Index m = size();
        if (m == width_) widen();
        double* last = row(m);
        for (Index j = 0; j < m; ++j) last[j] = entry(k, members_[j]);
        double rest = entry(k, k);
        for (Index j = 0; j < m; ++j) {
            last[j] = (last[j] - dot(row(j), last, j)) / row(j)[j];
            rest -= last[j] * last[j];
        }
        if (!clear(rest, k)) return false;
        last[m] = std::sqrt(rest);
        members_.push_back(k);
        return true;
    }

    // One less: rotations of neighbouring columns make the rows below triangular again.
    void remove(Index at) {
        const Index m = size();
        List<double> cosines, sines;
        for (Index i = at + 1; i < m; ++i) {
            double *from = row(i), *to = row(i - 1);
            for (Index j = at; j + 1 < i; ++j) {
                const double c = cosines[j - at], s = sines[j - at], a = from[j], b = from[j + 1];
                from[j] = c * a + s * b, from[j + 1] = c * b - s * a;
            }
            const double a = from[i - 1], b = from[i], length = std::hypot(a, b);
            cosines.push_back(a / length), sines.push_back(b / length);
            std::copy(from, from + i - 1, to);
            to[i - 1] = length;
        }
        members_.erase(members_.begin() + at);
    }

    // Both columns at once, in place: x = A^-1 x, y = A^-1 y.
    void solve(double* x, double* y) {
        const Index m = size();
        for (Index i = 0; i < m; ++i) {
            x[i] = (x[i] - dot(row(i), x, i)) / row(i)[i];
            y[i] = (y[i] - dot(row(i), y, i)) / row(i)[i];
        }
        for (Index i = m - 1; i >= 0; --i) {
            const double *l = row(i), a = x[i] /= l[i], b = y[i] /= l[i];
            subtract_twice(i, l, a, b, x, y);
        }
    }

    // Of the matrix that is factored.
    double entry(Index i, Index j) const {
        return p_.K[i * p_.n + j] + lift_ + (i == j ? p_.ridge[i] : 0.0);
    }

  private:
    double* row(Index i) { return L_.data() + i * width_; }

    bool clear(double pivot, Index k) const {
        return pivot > 4.0 * 2.2e-16 * static_cast<double>(size() + 1) * entry(k, k);
    }

    void widen() {
        const Index wide = 2 * width_;
        List<double> L(wide * wide);
        for (Index i = 0; i < size(); ++i) std::copy(row(i), row(i) + i + 1, L.data() + i * wide);
        L_.swap(L);
        width_ = wide;
    }

    const Problem& p_;
    double lift_;
    Index width_ = 0;
    List<Index> members_;
    List<double> L_;
};

constexpr int GIVE_UPS = 4;  // coordinates given up for each round that is allowed

struct Settling {
    int rounds;
    bool settled;  // whether no coordinate is left that wants to move
    double churn;  // sum of K_kk step_k^2: what went through the residual
};

class Settler {
  public:
    Settler(const Problem& p, const Lapack& lapack, double* beta, double* r, Watch& watch)
        : p_(p), watch_(watch), beta_(beta), r_(r), factor_(p, lift(p)), free_(p.n, 0) {
        for (Index k = 0; k < p.n; ++k) largest_ = std::max(largest_, p.K[k * p.n + k]);
        List<Index> inside;
        for (Index k = 0; k < p.n; ++k)
            if (p.lower[k] < beta[k] && beta[k] < p.upper[k]) inside.push_back(k);
        if (factor_.reset(lapack, inside)) {
            for (const Index k : inside) free_[k] = 1;
        } else {
            factor_.reset(lapack, {});
            for (const Index k : inside) enter(k);
            apply();
        }
    }

    Settling run(double tol, int max_rounds) {
        bool crowd = true;
        for (int round = 1; round <= max_rounds; ++round) {
            const double travelled = minimise();
            apply();
            if (!find_wanted(std::max(tol, noise()))) return {round, true, churn_};
            // Where rows nearly coincide, most that are freed are given up again, at O(|F|^2) each:
            // descent by pairs is the better guide then.
            if (given_up_ > GIVE_UPS * max_rounds) return {round, false, churn_};
            // A crowd may block its own way; one alone (two, where none is free) always gets on.
            crowd = travelled > 0.0 || round == 1 || !crowd;
            const Index m = factor_.size();
            const Index most = crowd ? std::max<Index>(8, m / 4) : p_.balanced && m == 0 ? 2 : 1;
            const auto end = wanted_.begin() + std::min(most, wanted_.size());
            std::partial_sort(wanted_.begin(), end, wanted_.end(), std::greater<>());
            for (auto it = wanted_.begin(); it != end; ++it)
                if (!free_[it->second]) enter(it->second);
        }
        apply();  // what the last to enter have moved
        return {max_rounds, false, churn_};
    }

  private:
    static double lift(const Problem& p) {
        double sum = 0.0;
        for (Index k = 0; k < p.n && p.balanced; ++k) sum += p.K[k * p.n + k] + p.ridge[k];
        return !p.balanced ? 0.0 : sum > 0.0 ? sum / static_cast<double>(p.n) : 1.0;
    }

    // Rounding error of the residual: |K_ij|^2 <= K_ii K_jj, and independent errors add in squares.
    double noise() const {
        double weight = 0.0;
        for (Index k = 0; k < p_.n; ++k) weight += p_.K[k * p_.n + k] * beta_[k] * beta_[k];
        return 8.0 * 2.2e-16 * std::sqrt(largest_ * weight);
    }

    // beta_k := value; the residual of everything follows in apply().
    void place(Index k, double value) {
        moved_.push_back(k), steps_.push_back(value - beta_[k]);
        beta_[k] = value;
    }

    void apply() {
        // a coordinate may have moved more than once
        order_.resize(moved_.size());
        std::iota(order_.begin(), order_.end(), Index{0});
        std::sort(order_.begin(), order_.end(),
                  [&](Index a, Index b) { return moved_[a] < moved_[b]; });
        rows_.clear(), sums_.clear();
        for (const Index i : order_) {
            if (rows_.empty() || rows_.back() != moved_[i]) rows_.push_back(moved_[i]), sums_.push_back(0.0);
            sums_.back() += steps_[i];
        }
        subtract_rows(p_.K, p_.n, rows_.data(), sums_.data(), rows_.size(), r_);
        for (Index i = 0; i < rows_.size(); ++i) {
            r_[rows_[i]] -= p_.ridge[rows_[i]] * sums_[i];
            churn_ += p_.K[rows_[i] * p_.n + rows_[i]] * sums_[i] * sums_[i];
        }
        moved_.clear(), steps_.clear();
    }

    // (u, shift): A u + shift 1 = u on the free block, with sum(u) = sum where that is fixed.
    double bordered_solve(List<double>& u, double sum) {
        const Index m = factor_.size();
        ones_.assign(m, 1.0);
        factor_.solve(u.data(), ones_.data());
        if (!p_.balanced) return 0.0;
        double sum_u = 0.0, sum_ones = 0.0;
        for (Index i = 0; i < m; ++i) sum_u += u[i], sum_ones += ones_[i];
        const double shift = (sum_u - sum) / sum_ones;
        for (Index i = 0; i < m; ++i) u[i] -= shift * ones_[i];
        return shift;
    }

    // How far along (from 0 to `reach`) until a free coordinate meets a bound; which, or -1.
    Index first_met(const List<double>& x, double* reach) const {
        Index met = -1;
        for (Index i = 0; i < factor_.size(); ++i) {
            const Index k = factor_.members()[i];
            const double room = std::fabs((x[i] > 0.0 ? p_.upper[k] : p_.lower[k]) - beta_[k]);
            if (room < *reach * std::fabs(x[i])) *reach = room / std::fabs(x[i]), met = i;
        }
        return met;
    }

    void travel(const List<double>& x, double reach, Index met) {
        for (Index i = 0; i < factor_.size(); ++i) {
            const Index k = factor_.members()[i];
            const double value = beta_[k] + reach * x[i];
            place(k, i != met ? value : x[i] > 0.0 ? p_.upper[k] : p_.lower[k]);
        }
        if (met >= 0) {
            free_[factor_.members()[met]] = 0;
            factor_.remove(met);
        }
    }

    // To the minimum over the free coordinates, giving up each that meets a bound on the way.
    double minimise() {
        double travelled = 0.0;
        slack_.clear();
        for (const Index k : factor_.members()) slack_.push_back(r_[k]);
        offset_ = 0.0;
        while (factor_.size() > 0) {
            watch_.look();
            // less their mean, which only the offset sees: alpha may be far smaller than 1 / K
            const double mean = p_.balanced ? std::accumulate(slack_.begin(), slack_.end(), 0.0) /
                                                  static_cast<double>(slack_.size())
                                            : 0.0;
            x_.clear();
            for (const double s : slack_) x_.push_back(s - mean);
            offset_ = mean + bordered_solve(x_, 0.0);
            double reach = 1.0;
            const Index met = first_met(x_, &reach);
            for (Index i = 0; i < factor_.size(); ++i) {
                slack_[i] += reach * (offset_ - slack_[i]);
                travelled = std::max(travelled, reach * std::fabs(x_[i]));
            }
            travel(x_, reach, met);
            if (met < 0) break;
            ++given_up_;
            slack_.erase(slack_.begin() + met);
        }
        return travelled;
    }

    // Let k in among the free ones. Where its column depends on theirs it slides along the null
    // direction, downhill, until it or one of them meets a bound, or what curvature there is (the
    // ridge's, for one) turns it back.
    void enter(Index k) {
        watch_.look();
        while (!factor_.append(k)) {
            watch_.look();
            const Index m = factor_.size();
            x_.clear();
            for (const Index j : factor_.members()) x_.push_back(-factor_.entry(k, j));
            bordered_solve(x_, -1.0);
            apply();
            double slope = r_[k];
            for (Index i = 0; i < m; ++i) slope += x_[i] * r_[factor_.members()[i]];
            const double curvature = curvature_along(k);
            const double sign = slope < 0.0 ? -1.0 : 1.0;
            for (double& v : x_) v *= sign;
            const double room = sign > 0.0 ? p_.upper[k] - beta_[k] : beta_[k] - p_.lower[k];
            double reach = curvature > 0.0 ? std::min(std::fabs(slope) / curvature, room) : room;
            const bool turns = reach < room;
            const Index met = first_met(x_, &reach);
            if (reach > HUGE_NUMBER / 10) return;
            travel(x_, reach, met);
            const double bound = sign > 0.0 ? p_.upper[k] : p_.lower[k];
            place(k, met < 0 && !turns ? bound : beta_[k] + sign * reach);
            if (met < 0) return;
        }
        free_[k] = 1;
    }

    // Of the objective where k takes a step of one and the free ones x_; not less than the rounding
    // of such a step, which would exceed the gain of a longer one.
    double curvature_along(Index k) const {
        // rounding may leave a diagonal entry a little below zero
        const auto root = [&](Index i) { return std::sqrt(std::max(p_.K[i * p_.n + i], 0.0)); };
        double total = p_.ridge[k], size = root(k), bend = p_.K[k * p_.n + k];
        for (Index i = 0; i < factor_.size(); ++i) {
            const Index at = factor_.members()[i];
            const double* row = p_.K + at * p_.n;
            double sum = 2.0 * row[k];
            for (Index j = 0; j < factor_.size(); ++j) sum += x_[j] * row[factor_.members()[j]];
            bend += x_[i] * sum;
            size += root(at) * std::fabs(x_[i]);
            total += x_[i] * x_[i] * p_.ridge[at];
        }
        return total + std::max(bend, 2.2e-16 * size * size);
    }

    // Who wants to leave a bound, and how much? False if nobody does.
    bool find_wanted(double tol) {
        const Index n = p_.n;
        if (p_.balanced && factor_.size() == 0) {
            double most = -HUGE_NUMBER, least = HUGE_NUMBER;
            for (Index k = 0; k < n; ++k) {
                if (beta_[k] < p_.upper[k]) most = std::max(most, r_[k]);
                if (beta_[k] > p_.lower[k]) least = std::min(least, r_[k]);
            }
            if (most <= least + tol) return false;
            offset_ = 0.5 * (most + least);
        }
        wanted_.clear();
        for (Index k = 0; k < n; ++k) {
            const double pull = r_[k] - offset_;
            const bool leaves =
                (pull > tol && beta_[k] < p_.upper[k]) || (pull < -tol && beta_[k] > p_.lower[k]);
            if (leaves && !free_[k]) wanted_.emplace_back(std::fabs(pull), k);
        }
        return !wanted_.empty();
    }

    const Problem& p_;
    Watch& watch_;
    double *beta_, *r_;
    MovingFactor factor_;
    List<std::int8_t> free_;  // whether in the factor
    double largest_ = 0.0, churn_ = 0.0, offset_ = 0.0;
    int given_up_ = 0;
    List<Index> moved_, rows_, order_;
    List<double> steps_, sums_, slack_, x_, ones_;
    List<std::pair<double, Index>> wanted_;
};

// In: beta within its bounds and of the right sum, r its residual. Out: both, further down.
inline Settling settle(const Problem& p, const Lapack& lapack, double* beta, double* r, double tol,
                       int max_rounds, Watch& watch) {
    return Settler(p, lapack, beta, r, watch).run(tol, max_rounds);
}

}  // namespace svmselect
