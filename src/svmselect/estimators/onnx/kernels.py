"""Kernels as nodes: their values between a batch of rows and the vectors of a machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from svmselect.estimators.onnx.graph import Graph, package
from svmselect.kernels import (
    RBF,
    Constant,
    GeneralGaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    Sum,
)
from svmselect.types import Array


def kernel_values(graph: Graph, kernel: Kernel, X: str, vectors: Array) -> str:
    """k(x_i, vectors_j) of the tensor X, (rows, vectors); of a constant kernel (1, vectors)."""
    if isinstance(kernel, Sum | Product):
        op = "Add" if isinstance(kernel, Sum) else "Mul"
        parts = [kernel_values(graph, part, X, vectors) for part in kernel.parts]
        return reduce(lambda one, other: graph.add(op, one, other), parts)
    make = _MAKERS.get(type(kernel))
    if make is None:
        raise ValueError(
            f"{type(kernel).__name__} has no form as an ONNX graph yet; svmselect/estimators/onnx/"
            "kernels.py is where it goes"
        )
    return make(graph, kernel, X, vectors)


def _constant(graph: Graph, kernel: Any, _: str, vectors: Array) -> str:
    return graph.constant(np.full((1, len(vectors)), kernel.value))


def _linear(graph: Graph, kernel: Any, X: str, vectors: Array) -> str:
    return graph.add("MatMul", X, kernel.scale * vectors.T)


def _polynomial(graph: Graph, kernel: Any, X: str, vectors: Array) -> str:
    base = graph.add("Add", graph.add("MatMul", X, kernel.scale * vectors.T), kernel.coef0)
    return graph.add("Pow", base, float(kernel.degree))


def _rbf(graph: Graph, kernel: Any, X: str, vectors: Array) -> str:
    return graph.add("Exp", graph.add("Mul", _squares(graph, kernel, X, vectors), -0.5))


def _general_gaussian(graph: Graph, kernel: Any, X: str, vectors: Array) -> str:
    s = _weighted_squares(graph, np.ones(()), *_mapped(graph, kernel, X, vectors))
    return graph.add("Exp", graph.add("Mul", s, -0.5))


def _mapped(graph: Graph, kernel: Any, X: str, vectors: Array) -> tuple[str, Array]:
    """Rows times a root of the kernel's matrix, in which it is a Gaussian of scale one."""
    d = vectors.shape[1]
    M = kernel.matrix if kernel.inputs > 1 else kernel.matrix * np.eye(d)
    root = np.linalg.cholesky(M)
    return graph.add("MatMul", X, root), vectors @ root


def _matern(graph: Graph, kernel: Any, X: str, vectors: Array) -> str:
    # of order 1/2 it has a kink at distance 0, where products of rows lose half the digits
    distances = _squares if kernel.nu > 0.5 else _exact_squares
    s = graph.add("Mul", distances(graph, kernel, X, vectors), 2.0 * kernel.nu)
    t = graph.add("Sqrt", s)
    decay = graph.add("Exp", graph.add("Neg", t))
    if kernel.nu == 0.5:
        return decay
    factor = graph.add("Add", t, 1.0)
    if kernel.nu == 2.5:
        factor = graph.add("Add", factor, graph.add("Mul", s, 1.0 / 3.0))
    return graph.add("Mul", factor, decay)


def _squares(graph: Graph, kernel: Any, X: str, vectors: Array) -> str:
    """Squared distances, scaled, by one product of matrices.

    The scales are in the constants: ONNX Runtime turns a number that multiplies a product of
    matrices, or one of its factors, into an attribute of single precision.
    """
    return _weighted_squares(graph, kernel.by_column() ** -2.0, X, vectors)


def _weighted_squares(graph: Graph, weights: Array, X: str, vectors: Array) -> str:
    weights = np.broadcast_to(weights, vectors.shape[1:])
    centre = vectors.mean(axis=0)
    B = vectors - centre
    A = graph.add("Sub", X, centre)
    a2 = graph.add("MatMul", graph.add("Mul", A, A), weights[:, None])
    sums = graph.add("Add", a2, ((B * B) @ weights)[None, :])
    product = graph.add("MatMul", A, -2.0 * (B * weights).T)
    return graph.add("Max", graph.add("Add", sums, product), 0.0)


def _exact_squares(graph: Graph, kernel: Any, X: str, vectors: Array) -> str:
    """Squared distances, scaled, from differences."""
    return over_inputs(graph, kernel, X, vectors, lambda body, d: body.add("Mul", d, d))


def over_inputs(
    graph: Graph, kernel: Any, X: str, vectors: Array, term: Callable[[Graph, str], str]
) -> str:
    """Sum a term of the scaled differences over the inputs, one input at a time.

    A loop of the graph, so that neither it nor the memory it takes grows with the inputs.
    """
    helper, number = package().helper, package().TensorProto.DOUBLE
    length_scale = kernel.by_column()
    A = graph.add("Transpose", graph.add("Div", X, length_scale), perm=[1, 0])
    B = graph.constant(np.ascontiguousarray((vectors / length_scale).T))
    rows = graph.add("Slice", graph.add("Shape", X), [0], [1])
    shape = graph.add("Concat", rows, [len(vectors)], axis=0)
    zeros = graph.add("Expand", np.zeros((1, 1)), shape)
    body = Graph()
    column = body.add("Unsqueeze", "a", [1])
    difference = body.add("Sub", column, body.add("Unsqueeze", "b", [0]))
    body.extend("Add", ["sum", term(body, difference)], ["more"])
    values = [("sum", [None, None]), ("a", [None]), ("b", [None])]
    loop = helper.make_graph(
        body.nodes,
        "over_inputs",
        [helper.make_tensor_value_info(name, number, dims) for name, dims in values],
        [helper.make_tensor_value_info("more", number, [None, None])],
        body.constants,
    )
    return graph.add("Scan", zeros, A, B, body=loop, num_scan_inputs=2)


def _laplacian(graph: Graph, kernel: Any, X: str, vectors: Array) -> str:
    s = over_inputs(graph, kernel, X, vectors, lambda body, d: body.add("Abs", d))
    return graph.add("Exp", graph.add("Neg", s))


_MAKERS: dict[type[Kernel], Callable[[Graph, Any, str, Array], str]] = {
    Constant: _constant,
    GeneralGaussian: _general_gaussian,
    Laplacian: _laplacian,
    Linear: _linear,
    Matern: _matern,
    Polynomial: _polynomial,
    RBF: _rbf,
}
