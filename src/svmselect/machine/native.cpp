// The Python face of the headers beside it. Arrays are checked by nanobind (type, contiguity) and here
// (lengths); the interpreter lock is released while the loops run.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <mutex>
#include <stdexcept>

#include "box_qp.hpp"
#include "inspect.hpp"
#include "pivoting.hpp"
#include "settling.hpp"
#include "watch.hpp"

namespace nb = nanobind;
using namespace svmselect;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using States = nb::ndarray<std::int8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

namespace {

Lapack lapack{nullptr, nullptr, nullptr};
std::once_flag taken;  // two threads may both be the first

void* address(nb::handle capsule) {
    return PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
}

template <typename... Vectors>
void same_length(const Matrix& K, const Vectors&... vectors) {
    const std::size_t n = K.shape(0);
    if (K.shape(1) != n || ((vectors.shape(0) != n) || ...))
        throw std::invalid_argument("arrays of different lengths");
}

Problem problem(const Matrix& K, const Vector& ridge, const Vector& target, const Vector& lower,
                const Vector& upper, bool balanced, double total) {
    same_length(K, ridge, target, lower, upper);
    return {K.data(),     static_cast<Index>(K.shape(0)), ridge.data(), target.data(),
            lower.data(), upper.data(),                   balanced,     total};
}

// Whether a signal's handler has raised (Ctrl-C), with the interpreter locked for as long as that
// takes; in threads other than the main one nothing ever has.
bool signalled() {
    nb::gil_scoped_acquire locked;
    return PyErr_CheckSignals() != 0;
}

// Work with the interpreter unlocked, that a signal can end.
template <typename Work>
auto unlocked(const Work& work) {
    Watch watch(signalled);
    try {
        nb::gil_scoped_release released;
        return work(watch);
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
}

}  // namespace

NB_MODULE(_native, m) {
    m.def(
        "use_lapack",
        [](nb::handle potrf, nb::handle potrs, nb::handle pstrf) {
            std::call_once(taken, [&] {
                lapack.potrf = reinterpret_cast<decltype(lapack.potrf)>(address(potrf));
                lapack.potrs = reinterpret_cast<decltype(lapack.potrs)>(address(potrs));
                lapack.pstrf = reinterpret_cast<decltype(lapack.pstrf)>(address(pstrf));
            });
        },
        "Take the addresses of dpotrf, dpotrs and dpstrf from SciPy's capsules.");
    m.def(
        "subtract",
        [](Matrix K, Vector ridge, Vector beta, Output residual) {
            same_length(K, ridge, beta, residual);
            nb::gil_scoped_release released;
            subtract(K.data(), static_cast<Index>(K.shape(0)), ridge.data(), beta.data(),
                     residual.data());
        },
        "residual -= (K + diag(ridge)) beta, reading the rows that count.");
    m.def(
        "decompose",
        [](Matrix K, Vector ridge, Vector target, Vector lower, Vector upper, bool balanced,
           double total, Output beta, Output residual, double tol, long max_steps) {
            const Problem p = problem(K, ridge, target, lower, upper, balanced, total);
            same_length(K, beta, residual);
            const Descent d = unlocked([&](Watch& watch) {
                return decompose(p, beta.data(), residual.data(), tol, max_steps, watch);
            });
            return nb::make_tuple(d.steps, d.violation, d.churn);
        },
        "Working-set descent, in place on beta and residual; (steps, violation, churn).");
    m.def(
        "pivot",
        [](Matrix K, Vector ridge, Vector target, Vector lower, Vector upper, bool balanced,
           double total, States states, Output beta, Output residual, bool known, double tol,
           int max_rounds, int patience) {
            const Problem p = problem(K, ridge, target, lower, upper, balanced, total);
            if (lapack.potrf == nullptr) throw std::runtime_error("use_lapack() was not called");
            same_length(K, states, beta, residual);
            const Pivoting d = unlocked([&](Watch& watch) {
                return pivot(p, lapack, states.data(), beta.data(), residual.data(), known, tol,
                             max_rounds, patience, watch);
            });
            return nb::make_tuple(d.rounds, static_cast<int>(d.ending), d.offset);
        },
        "Block pivoting, in place on states, beta and residual; (rounds, ending, offset).");
    m.def(
        "settle",
        [](Matrix K, Vector ridge, Vector target, Vector lower, Vector upper, bool balanced,
           double total, Output beta, Output residual, double tol, int max_rounds) {
            const Problem p = problem(K, ridge, target, lower, upper, balanced, total);
            if (lapack.potrf == nullptr) throw std::runtime_error("use_lapack() was not called");
            same_length(K, beta, residual);
            const Settling d = unlocked([&](Watch& watch) {
                return settle(p, lapack, beta.data(), residual.data(), tol, max_rounds, watch);
            });
            return nb::make_tuple(d.rounds, d.settled, d.churn);
        },
        "Active-set descent, in place on beta and residual; (rounds, whether settled, churn).");
    m.def(
        "inspect",
        [](Matrix K, double tol) {
            same_length(K);
            const Look look = inspect(K.data(), static_cast<Index>(K.shape(0)), tol);
            return nb::make_tuple(look.fault, look.i, look.j);
        },
        "The first entry that shows K asymmetric or indefinite; (fault, row, column).");
}
