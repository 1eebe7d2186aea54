// The losses as the compiled machines know them: losses/*.py, formula by formula.
#pragma once

#include <algorithm>
#include <cmath>

namespace svmselect {

// log(1 + e^v)
inline double softplus(double v) {
    return std::max(v, 0.0) + std::log1p(std::exp(-std::fabs(v)));
}

// 1 / (1 + e^-v)
inline double expit(double v) {
    const double e = std::exp(-std::fabs(v));
    return (v < 0.0 ? e : 1.0) / (1.0 + e);
}

// z = y f; cost = C w > 0 throughout.
struct HingeLoss {
    static constexpr bool CURVED = false, REACHES_BOUND = true;
    static double value(double z) { return std::max(1.0 - z, 0.0); }
    static double slope(double z) { return z < 1.0 ? 1.0 : 0.0; }
    static double bound(double cost) { return cost; }
    static double ridge(double, double) { return 0.0; }
    static double gap(double z, double alpha, double cost) {
        return cost * value(z) - alpha * (1.0 - z);
    }
    static double residual(double z, double alpha, double cost) {
        if (alpha <= 0.0) return std::max(1.0 - z, 0.0);
        return alpha >= cost ? std::max(z - 1.0, 0.0) : std::fabs(1.0 - z);
    }
};

struct SquaredHingeLoss {
    static constexpr bool CURVED = true, REACHES_BOUND = false;
    static double value(double z) { return 0.5 * slope(z) * slope(z); }
    static double slope(double z) { return std::max(1.0 - z, 0.0); }
    static double bound(double) { return 1e300; }
    static double ridge(double cost, double) { return 1.0 / cost; }
    static double gap(double z, double alpha, double cost) {
        const double off = cost * slope(z) - alpha;
        return off * off / (2.0 * cost) + alpha * std::max(z - 1.0, 0.0);
    }
    static double residual(double z, double alpha, double cost) {
        return std::fabs(alpha / cost - slope(z));
    }
};

struct LogisticLoss {
    static constexpr bool CURVED = true, REACHES_BOUND = false;
    static double value(double z) { return softplus(-z); }
    static double slope(double z) { return expit(-z); }
    static double curvature(double z) { return expit(z) * expit(-z); }
    static double ridge(double cost, double alpha) {
        return 1.0 / std::max(alpha * (cost - alpha) / cost, 1e-250);
    }
    static double gap(double z, double alpha, double cost) {
        const double p = std::min(std::max(alpha / cost, 0.0), 1.0);
        const double log_q = -softplus(z), log_1q = -softplus(-z);
        const double inner = p > 0.0 ? p * (std::log(p) - log_q) : 0.0;
        const double outer = p < 1.0 ? (1.0 - p) * (std::log1p(-p) - log_1q) : 0.0;
        return cost * std::max(inner + outer, 0.0) + std::fabs(alpha - cost * p) * std::fabs(z);
    }
    static double residual(double z, double alpha, double cost) {
        return std::fabs(alpha / cost - slope(z));
    }
};

}  // namespace svmselect
