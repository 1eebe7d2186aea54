"""What decides, as nodes: from standardised rows to the probabilities of the classes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from svmselect.estimators.machines import Machines
from svmselect.estimators.onnx.graph import Graph
from svmselect.estimators.onnx.kernels import kernel_values
from svmselect.estimators.rest import Rest
from svmselect.kernels import Kernel
from svmselect.probability.coupling import SMALLEST
from svmselect.probability.recalibration import Recalibration
from svmselect.types import Array


def probabilities(graph: Graph, judge: Any, X: str) -> str:
    """Probabilities of the classes, (rows, classes), of the tensor X."""
    make = _MAKERS.get(type(judge))
    if make is None:
        raise ValueError(
            "an ONNX graph has no averages over a posterior; fit with probability='sigmoid' to "
            "export"
        )
    return make(graph, judge, X)


def _of_machines(graph: Graph, machines: Machines, X: str) -> str:
    f = decisions(graph, machines, X)
    later = graph.add("Sigmoid", graph.add("Mul", f, -machines.slopes))
    earlier = graph.add("Sigmoid", graph.add("Mul", f, machines.slopes))
    p = of_pairs(graph, earlier, later, machines.n_classes)
    made = machines.recalibration
    return p if made is None else recalibrated(graph, p, made)


def recalibrated(graph: Graph, p: str, made: Recalibration) -> str:
    """See ``probability.recalibration``."""
    logs = graph.add("Log", graph.add("Max", p, 1e-300))
    logits = graph.add("Add", graph.add("MatMul", logs, made.matrix.T), made.offsets)
    return graph.add("Softmax", logits, axis=1)


def decisions(graph: Graph, machines: Machines, X: str) -> str:
    """All pairs' decision values, (rows, pairs)."""
    kernels, coefficients = machines.kernels, machines.coefficients
    if len(kernels) == 1:
        f = _expansion(graph, kernels[0], X, machines.vectors, coefficients)
    else:
        columns = []
        for p, kernel in enumerate(kernels):
            used = np.flatnonzero(coefficients[:, p])
            own = machines.vectors[used], coefficients[used, p : p + 1]
            columns.append(_expansion(graph, kernel, X, *own))
        f = graph.add("Concat", *columns, axis=1)
    return _for_each_row(graph, graph.add("Add", f, machines.intercepts), X, machines.intercepts)


def _for_each_row(graph: Graph, f: str, X: str, intercepts: Array) -> str:
    """The same values where X has rows to say them of: a constant kernel knows no rows."""
    rows = graph.add("Slice", graph.add("Shape", X), [0], [1])
    return graph.add("Expand", f, graph.add("Concat", rows, [len(intercepts)], axis=0))


def _of_rest(graph: Graph, rest: Rest, X: str) -> str:
    f = _expansion(graph, rest.kernel, X, rest.vectors, rest.coefficients)
    logits = graph.add("Add", f, rest.intercepts)
    return graph.add("Softmax", _for_each_row(graph, logits, X, rest.intercepts), axis=1)


def _expansion(graph: Graph, kernel: Kernel, X: str, vectors: Array, coefficients: Array) -> str:
    """sum_s k(x, vectors_s) coefficients[s], of two vectors at least.

    A kernel's values with a single vector could be a number beside a product of matrices, for
    which see ``kernels``; and the graph has no tensors that are empty.
    """
    while len(vectors) < 2:
        vectors = np.vstack([vectors, np.zeros((1, vectors.shape[1]))])
        coefficients = np.vstack([coefficients, np.zeros((1, coefficients.shape[1]))])
    return graph.add("MatMul", kernel_values(graph, kernel, X, vectors), coefficients)


def of_pairs(graph: Graph, earlier: str, later: str, k: int) -> str:
    """Class probabilities from those of pairs: see ``probability.coupling``."""
    if k == 2:
        return graph.add("Concat", earlier, later, axis=1)
    pairs = k * (k - 1) // 2
    # flow[:, i, j], the probability of class j against class i; its diagonal is not looked at
    place = np.zeros((k, k), dtype=np.int64)
    for p, (i, j) in enumerate(combinations(range(k), 2)):
        place[i, j], place[j, i] = pairs + p, p
    both = graph.add("Concat", earlier, later, axis=1)
    clipped = graph.add("Min", graph.add("Max", both, SMALLEST), 1.0 - SMALLEST)
    flow = graph.add("Gather", clipped, graph.constant(place), axis=1)
    visits = []
    for m in range(k - 1, 0, -1):
        out = graph.part(graph.part(flow, m, m + 1, 1), 0, m, 2)
        mass = graph.add("ReduceSum", out, [2], keepdims=1)
        into = graph.add("Div", graph.part(graph.part(flow, 0, m, 1), m, m + 1, 2), mass)
        visits.append(graph.add("Squeeze", into, [2]))
        kept = graph.part(graph.part(flow, 0, m, 1), 0, m, 2)
        flow = graph.add("Add", kept, graph.add("MatMul", into, out))
    first = graph.add("Squeeze", flow, [2])  # (rows, 1): any number will do, once it is one
    shares = graph.add("Div", first, first)
    for into in reversed(visits):
        new = graph.add("ReduceSum", graph.add("Mul", shares, into), [1], keepdims=1)
        shares = graph.add("Concat", shares, new, axis=1)
    return graph.add("Div", shares, graph.add("ReduceSum", shares, [1], keepdims=1))


_MAKERS: dict[type, Callable[[Graph, Any, str], str]] = {
    Machines: _of_machines,
    Rest: _of_rest,
}
