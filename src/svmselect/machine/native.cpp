// The Python face of the headers beside it. Arrays are checked by nanobind (type, contiguity) and here
// (lengths); the interpreter lock is released while the loops run.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <mutex>
#include <stdexcept>
#include <string>

#include "box_qp.hpp"
#include "dual.hpp"
#include "inspect.hpp"
#include "jacobian.hpp"
#include "lapack.hpp"
#include "machine.hpp"
#include "newton.hpp"
#include "pivoting.hpp"
#include "settling.hpp"
#include "team.hpp"
#include "watch.hpp"

namespace nb = nanobind;
using namespace svmselect;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NumberTable = nb::ndarray<std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using States = nb::ndarray<std::int8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

namespace {

Lapack lapack{nullptr, nullptr, nullptr, nullptr};
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

// What raises when the time is over; kept for as long as the process lives.
PyObject* clock_look = nullptr;

// Whether a signal's handler has raised (Ctrl-C) or the time is over, with the interpreter locked for
// as long as that takes; in threads that are not Python's nothing ever has.
bool signalled() {
    nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) return true;
    if (clock_look == nullptr) return false;
    PyObject* seen = PyObject_CallNoArgs(clock_look);
    Py_XDECREF(seen);
    return seen == nullptr;
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

// One machine of a batch: what it is trained on, from where, and where its record goes.
struct Job {
    Group group;
    const double* weights;
    bool started;
    Start start;
    Index leader;  // the job whose answer it starts from, if it has no start of its own; or -1
    Answer answer;
};

Start read_start(nb::handle given, Index n) {
    const auto parts = nb::cast<nb::tuple>(given);
    const auto vector = [&](int i) {
        const auto found = nb::cast<Vector>(parts[i], false);
        if (static_cast<Index>(found.shape(0)) != n) throw std::invalid_argument("a start of another length");
        return found.data();
    };
    const auto free = nb::cast<Numbers>(parts[3], false), bound = nb::cast<Numbers>(parts[4], false);
    return {vector(0),
            vector(1),
            vector(2),
            free.data(),
            bound.data(),
            static_cast<Index>(free.shape(0)),
            static_cast<Index>(bound.shape(0)),
            nb::cast<double>(parts[5]),
            nb::cast<double>(parts[6])};
}

Group read_rows(const Matrix& K, nb::handle given, const Vector& y) {
    const std::size_t n = y.shape(0);
    Group group{K.data(), static_cast<Index>(K.shape(1)), nullptr, static_cast<Index>(n), y.data()};
    bool fine = K.shape(0) == K.shape(1);
    if (given.is_none()) {
        fine = fine && n == K.shape(0);
    } else {
        const auto rows = nb::cast<Numbers>(given, false);
        fine = fine && rows.shape(0) == n;
        for (std::size_t i = 0; fine && i < n; ++i)
            fine = 0 <= rows.data()[i] && rows.data()[i] < static_cast<std::int64_t>(K.shape(0));
        group.rows = rows.data();
    }
    if (!fine) throw std::invalid_argument("arrays of different lengths");
    return group;
}

// (rows, y, weights, starts, alpha, beta, decision, order), as machine/batch.py gives them. The
// arrays stay alive as long as that tuple does.
void read_group(const Matrix& K, nb::handle given, List<Job>& jobs) {
    const auto parts = nb::cast<nb::tuple>(given);
    const auto y = nb::cast<Vector>(parts[1], false);
    const auto weights = nb::cast<Matrix>(parts[2], false);
    const auto starts = nb::cast<nb::list>(parts[3]);
    const auto alpha = nb::cast<Table>(parts[4], false), beta = nb::cast<Table>(parts[5], false),
               decision = nb::cast<Table>(parts[6], false);
    const auto order = nb::cast<NumberTable>(parts[7], false);
    const std::size_t n = y.shape(0), k = weights.shape(0);
    const auto fits = [&](const auto& table) { return table.shape(0) == k && table.shape(1) == n; };
    if (!(starts.size() == k && fits(weights) && fits(alpha) && fits(beta) && fits(decision) &&
          fits(order)))
        throw std::invalid_argument("arrays of different lengths");
    const Group group = read_rows(K, parts[0], y);
    const Index first = jobs.size();
    for (std::size_t i = 0; i < k; ++i) {
        Job job{group, weights.data() + i * n, !starts[i].is_none(), {}, -1, {}};
        if (job.started)
            job.start = read_start(starts[i], group.n);
        else if (i > 0)
            job.leader = first;
        job.answer.alpha = alpha.data() + i * n, job.answer.beta = beta.data() + i * n;
        job.answer.decision = decision.data() + i * n, job.answer.order = order.data() + i * n;
        jobs.push_back(job);
    }
}

using Train = void (*)(const Group&, const double*, const Start*, const Setting&, const Lapack&, Watch&,
                       Answer&);

Train training_of(const std::string& loss) {
    if (loss == "hinge") return train_dual<HingeLoss>;
    if (loss == "squared_hinge") return train_dual<SquaredHingeLoss>;
    if (loss == "logistic") return train_newton<LogisticLoss>;
    throw std::invalid_argument("no compiled loss of this name");
}

// (matrix, other or None, scale) or (matrix, scaled inputs, variables or None, count), as
// kernels/tangents.py gives them.
Tangent read_tangent(const Matrix& K, nb::handle given) {
    const auto parts = nb::cast<nb::tuple>(given);
    const auto matrix = nb::cast<Matrix>(parts[0], false);
    bool fine = matrix.shape(0) == K.shape(0) && matrix.shape(1) == K.shape(0);
    Tangent t{matrix.data(), nullptr, nullptr, 1.0, 0, nullptr, 1};
    if (parts.size() == 4) {
        const auto scaled = nb::cast<Matrix>(parts[1], false);
        fine = fine && scaled.shape(0) == K.shape(0);
        t.scaled = scaled.data(), t.inputs = static_cast<Index>(scaled.shape(1));
        t.size = nb::cast<Index>(parts[3]);
        if (!parts[2].is_none()) {
            const auto variables = nb::cast<Numbers>(parts[2], false);
            t.variables = variables.data();
            fine = fine && variables.shape(0) == scaled.shape(1);
        }
        for (Index a = 0; fine && a < t.inputs; ++a) {
            const Index at = t.variables == nullptr ? a : static_cast<Index>(t.variables[a]);
            fine = 0 <= at && at < t.size;
        }
    } else {
        t.scale = nb::cast<double>(parts[2]);
        if (!parts[1].is_none()) {
            const auto other = nb::cast<Matrix>(parts[1], false);
            fine = fine && other.shape(0) == K.shape(0) && other.shape(1) == K.shape(0);
            t.other = other.data();
        }
    }
    if (!fine) throw std::invalid_argument("arrays of different lengths");
    return t;
}

// (rows, y, machine, held rows, end, end, table to be filled)
Asked read_asked(const Matrix& K, nb::handle given, Index parameters) {
    const auto parts = nb::cast<nb::tuple>(given);
    const auto y = nb::cast<Vector>(parts[1], false);
    const auto held = nb::cast<Numbers>(parts[3], false);
    const auto table = nb::cast<Table>(parts[6], false);
    if (table.shape(0) != held.shape(0) || table.shape(1) != static_cast<std::size_t>(1 + parameters))
        throw std::invalid_argument("arrays of different lengths");
    const Group group = read_rows(K, parts[0], y);
    return {group,
            read_start(parts[2], group.n),
            held.data(),
            static_cast<Index>(held.shape(0)),
            {nb::cast<Index>(parts[4]), nb::cast<Index>(parts[5])},
            table.data(),
            false};
}

using Ask = bool (*)(const Asked&, const List<Tangent>&, const Setting&, const Lapack&, Watch&);

Ask asking_of(const std::string& loss) {
    if (loss == "hinge") return decision_jacobian<HingeLoss>;
    if (loss == "squared_hinge") return decision_jacobian<SquaredHingeLoss>;
    if (loss == "logistic") return decision_jacobian<LogisticLoss>;
    throw std::invalid_argument("no compiled loss of this name");
}

// First those that others start from, then the others.
void train_all(List<Job>& jobs, Train train, const Setting& setting, Index threads, Watch& watch) {
    for (const bool leading : {true, false}) {
        List<Index> turn;
        for (Index i = 0; i < jobs.size(); ++i)
            if ((jobs[i].leader < 0) == leading) turn.push_back(i);
        side_by_side(turn.size(), threads, watch, [&](Index at, Watch& own) {
            Job& job = jobs[turn[at]];
            if (job.leader >= 0 && jobs[job.leader].answer.done) {
                const Job& leader = jobs[job.leader];
                job.start = leader.answer.as_start(leader.weights, setting.C), job.started = true;
            }
            const Start* start = job.started ? &job.start : nullptr;
            train(job.group, job.weights, start, setting, lapack, own, job.answer);
        });
    }
}

}  // namespace

NB_MODULE(_native, m) {
    m.def(
        "use_lapack",
        [](nb::handle potrf, nb::handle potrs, nb::handle pstrf, nb::handle gemm) {
            std::call_once(taken, [&] {
                lapack.potrf = reinterpret_cast<decltype(lapack.potrf)>(address(potrf));
                lapack.potrs = reinterpret_cast<decltype(lapack.potrs)>(address(potrs));
                lapack.pstrf = reinterpret_cast<decltype(lapack.pstrf)>(address(pstrf));
            lapack.gemm = reinterpret_cast<decltype(lapack.gemm)>(address(gemm));
            });
        },
        "Take the addresses of dpotrf, dpotrs, dpstrf and dgemm from SciPy's capsules.");
    m.def(
        "use_clock", [](nb::object look) { clock_look = look.release().ptr(); },
        "Take the function that long loops call now and then, and that raises to end them.");
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
        "train",
        [](Matrix K, nb::list groups, const char* loss, bool intercept, double C, Index threads) {
            if (lapack.potrf == nullptr) throw std::runtime_error("use_lapack() was not called");
            List<Job> jobs;
            for (nb::handle group : groups) read_group(K, group, jobs);
            const Train train = training_of(loss);
            unlocked([&](Watch& watch) { train_all(jobs, train, {C, intercept}, threads, watch); });
            nb::list found;
            for (Index i = 0; i < jobs.size(); ++i) {
                const Answer& a = jobs[i].answer;
                if (a.done)
                    found.append(nb::make_tuple(a.n_free, a.n_bound, a.ends[0], a.ends[1], a.intercept,
                                                a.objective, a.gap, a.kkt, a.rounding));
                else
                    found.append(nb::none());
            }
            return found;
        },
        "Train machines, into the arrays given; a tuple each, None for what is left to Python.");
    m.def(
        "jacobian",
        [](Matrix K, nb::list tangents, nb::list asked, const char* loss, bool intercept, double C,
           Index threads) {
            if (lapack.potrf == nullptr) throw std::runtime_error("use_lapack() was not called");
            List<Tangent> terms;
            List<Asked> machines;
            Index parameters = 0;
            for (nb::handle tangent : tangents) {
                terms.push_back(read_tangent(K, tangent));
                parameters += terms.back().size;
            }
            for (nb::handle one : asked) machines.push_back(read_asked(K, one, parameters));
            const Ask ask = asking_of(loss);
            unlocked([&](Watch& watch) {
                side_by_side(machines.size(), threads, watch, [&](Index i, Watch& own) {
                    machines[i].done = ask(machines[i], terms, {C, intercept}, lapack, own);
                });
            });
            nb::list found;
            for (Index i = 0; i < machines.size(); ++i) found.append(machines[i].done);
            return found;
        },
        "Fill in d decision/d(log C, parameters) at held-out rows; whether each could be found.");
    m.def(
        "inspect",
        [](Matrix K, double tol) {
            same_length(K);
            const Look look = inspect(K.data(), static_cast<Index>(K.shape(0)), tol);
            return nb::make_tuple(look.fault, look.i, look.j);
        },
        "The first entry that shows K asymmetric or indefinite; (fault, row, column).");
}
