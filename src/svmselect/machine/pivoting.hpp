// Block principal pivoting on the active sets of the program in box_qp.hpp (Judice & Pires 1994).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "box_qp.hpp"
#include "lapack.hpp"

namespace svmselect {

// K_FF + diag(ridge) + lift 11', factored. The lift changes nothing where the sum is fixed, and
// lets a kernel be singular in the direction of the ones.
class FreeBlock {
  public:
    FreeBlock(const Problem& p, const Lapack& lapack) : p_(p), lapack_(lapack) {}

    // Factors the block of the free coordinates; those that depend on the others are taken out of
    // `free` and put into `dependent`. False where there are such and time is not to be spent on them.
    bool factor(List<Index>& free, List<Index>& dependent, bool hasty) {
        dependent.clear();
        lift_ = 0.0;
        if (p_.balanced && !free.empty()) {
            for (const Index k : free) lift_ += p_.K[k * p_.n + k] + p_.ridge[k];
            lift_ = lift_ > 0.0 ? lift_ / static_cast<double>(free.size()) : 1.0;
        }
        if (try_factor(free)) return true;
        if (hasty) return false;
        // Rank-revealing: which columns are combinations of the others?
        int m = static_cast<int>(free.size()), rank = 0, info = 0;
        List<int> order(m);
        List<double> work(2 * m);
        // From `scale` on the first pivot alone stands clear, so this ends unless an entry is infinite.
        double stop = threshold(m);
        for (int attempt = 0; attempt < ATTEMPTS; ++attempt, stop *= 100.0) {
            gather(free);
            lapack_.pstrf(&uplo_, &m, A_.data(), &m, order.data(), &rank, &stop, work.data(), &info);
            List<Index> kept;
            for (int i = 0; i < rank; ++i) kept.push_back(free[order[i] - 1]);
            std::sort(kept.begin(), kept.end());
            if (rank == m ? !try_factor(kept, false) : !try_factor(kept)) continue;
            for (int i = rank; i < m; ++i) dependent.push_back(free[order[i] - 1]);
            free = kept;
            return true;
        }
        dependent.swap(free);
        return try_factor(free);
    }

    void solve(List<double>& rhs, int columns) {
        int m = size_, info = 0;
        if (m > 0) lapack_.potrs(&uplo_, &m, &columns, A_.data(), &m, rhs.data(), &m, &info);
    }

    double lift() const { return lift_; }

  private:
    static constexpr int ATTEMPTS = 12;  // a factor of 100 each: from round-off to beyond the scale

    double threshold(int m) const { return 4.0 * 2.2e-16 * m * scale_; }

    void gather(const List<Index>& free) {
        const Index m = free.size();
        A_.resize(m * m);
        scale_ = 0.0;
        for (Index j = 0; j < m; ++j) {
            const double* row = p_.K + free[j] * p_.n;
            double* column = A_.data() + j * m;
            for (Index i = j; i < m; ++i) column[i] = row[free[i]] + lift_;
            column[j] += p_.ridge[free[j]];
            scale_ = std::max(scale_, column[j]);
        }
    }

    bool try_factor(const List<Index>& free, bool judge = true) {
        gather(free);
        int m = size_ = static_cast<int>(free.size()), info = 0;
        if (m == 0) return true;
        lapack_.potrf(&uplo_, &m, A_.data(), &m, &info);
        if (info != 0) return false;
        if (!judge) return true;
        double smallest = HUGE_NUMBER;
        for (Index j = 0; j < m; ++j) {
            const double l = A_[j * m + j];
            smallest = std::min(smallest, l * l);
        }
        return smallest > threshold(m);
    }

    const Problem& p_;
    const Lapack& lapack_;
    char uplo_ = 'L';
    int size_ = 0;
    double lift_ = 0.0, scale_ = 0.0;
    List<double> A_;
};

enum class Ending { EXACT = 0, CYCLING = 1, NO_FREE = 2 };

struct Pivoting {
    int rounds;
    Ending ending;
    double offset;
};

// In: states, and beta for the coordinates that may have to be parked; r, if its residual is known.
// Out: states, beta, r; exact when the ending says so. With a patience of HASTY it also ends where
// coordinates depend on others, which takes a slower factorisation to sort out.
constexpr int HASTY = 1;

inline Pivoting pivot(const Problem& p, const Lapack& lapack, std::int8_t* state, double* beta,
                      double* r, bool known, double tol, int max_rounds, int patience,
                      Watch& watch) {
    const Index n = p.n;
    List<double> base(p.target, p.target + n);  // target less the part of the fixed
    List<double> held(beta, beta + n);          // where a coordinate would be parked
    List<Index> rows, free, dependent;
    List<double> steps, ones, x, scores;
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
        subtract_rows(p.K, n, rows.data(), steps.data(), rows.size(), base.data());
        for (Index i = 0; i < rows.size(); ++i) base[rows[i]] -= p.ridge[rows[i]] * steps[i];
        rows.clear(), steps.clear();
    };

    if (known) base.assign(r, r + n);
    for (Index k = 0; k < n; ++k) {
        largest = std::max(largest, p.K[k * n + k]);
        held[k] = std::min(std::max(held[k], p.lower[k]), p.upper[k]);
        if (state[k] == PARKED) state[k] = FREE;
        const double before = known ? beta[k] : 0.0;
        beta[k] = state[k] == AT_LOWER ? p.lower[k] : state[k] == AT_UPPER ? p.upper[k] : 0.0;
        if (beta[k] != before) rows.push_back(k), steps.push_back(beta[k] - before);
        if (beta[k] != before) churn += p.K[k * n + k] * before * before;
    }

    Index fewest = n + 1;
    int waited = 0;
    double offset = 0.0;
    for (int round = 1; round <= max_rounds; ++round) {
        watch.look();
        free.clear();
        for (Index k = 0; k < n; ++k)
            if (state[k] == FREE) free.push_back(k);
        if (!block.factor(free, dependent, patience <= HASTY)) return {round, Ending::CYCLING, offset};
        for (const Index k : dependent) fix(k, PARKED, held[k]);
        update_base();
        const Index m = free.size();
        double fixed_sum = 0.0, fixed_size = 0.0, fixed_weight = 0.0;
        for (Index k = 0; k < n; ++k) {
            fixed_sum += beta[k], fixed_size += std::fabs(beta[k]);
            fixed_weight += p.K[k * n + k] * beta[k] * beta[k];
        }
        std::copy(base.begin(), base.end(), r);
        if (m == 0 && p.balanced) return {round, Ending::NO_FREE, 0.0};

        // Solve; refine where the residual on the free set shows that it is needed.
        double sum_left = p.total - fixed_sum, noise = tol, error = 0.0, weight = 0.0;
        // The mean is left to the offset: alpha may be far smaller than 1 / K.
        offset = 0.0;
        for (Index i = 0; i < m && p.balanced; ++i) offset += base[free[i]] / static_cast<double>(m);
        x.assign(p.balanced ? 2 * m : m, 1.0);
        for (Index i = 0; i < m; ++i) x[i] = base[free[i]] - offset;
        for (int sweep = 0; sweep < 3; ++sweep) {
            block.solve(x, p.balanced && sweep == 0 ? 2 : 1);
            if (p.balanced) {
                if (sweep == 0) ones.assign(x.data() + m, x.data() + 2 * m);
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
        const Index most = std::max<Index>(8, m / 4);
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

}  // namespace svmselect
