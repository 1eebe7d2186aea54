"""A fitted classifier as an ONNX model: from inputs to probabilities and labels."""

from __future__ import annotations

import os
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.estimators.onnx.graph import Graph, package
from svmselect.estimators.onnx.inputs import matrix
from svmselect.estimators.onnx.judges import probabilities
from svmselect.estimators.scaling import LARGEST, Bend, Scaling
from svmselect.files.whole import write_whole
from svmselect.types import Array


def to_onnx(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the model: inputs ``X`` or one a column, outputs ``label`` and ``probabilities``."""
    write_whole(path, build(model).SerializeToString())


def build(model: Any) -> Any:
    """The ONNX model of a fitted classifier."""
    onnx = package()
    helper, number = onnx.helper, onnx.TensorProto.DOUBLE
    graph = Graph(taken={"label", "probabilities"})
    inputs, X = matrix(graph, model)
    p = _averaged(graph, model, X)
    graph.extend("Identity", [p], ["probabilities"])
    worth = p if model._utilities is None else graph.add("MatMul", p, model._utilities)
    best = graph.add("ArgMax", worth, axis=1, keepdims=0)
    labels, kind = _labels(model.classes_)
    graph.extend("Gather", [graph.constant(labels), best], ["label"], axis=0)
    outputs = [
        helper.make_tensor_value_info("label", kind, [None]),
        helper.make_tensor_value_info("probabilities", number, [None, len(labels)]),
    ]
    return graph.model(
        inputs,
        outputs,
        classes=", ".join(map(str, model.classes_.tolist())),
        kernel=repr(model.kernel_),
    )


def _averaged(graph: Graph, model: Any, X: str) -> str:
    """The probabilities of a model, averaged over its companions, of encoded rows."""
    p = probabilities(graph, model._judge, scaled(graph, model._scaling, X))
    if not model.companions_:
        return p
    said = [p, *(_averaged(graph, companion, X) for companion in model.companions_)]
    shares = [graph.add("Mul", one, w) for one, w in zip(said, model.weights_, strict=True)]
    return reduce(lambda one, other: graph.add("Add", one, other), shares)


def scaled(graph: Graph, scaling: Scaling, X: str) -> str:
    """The rows as the kernel sees them."""
    bent = X if scaling.bend is None else _bent(graph, scaling.bend, X)
    moved = graph.add("Div", graph.add("Sub", bent, scaling.mean), scaling.scale)
    return graph.add("Min", graph.add("Max", moved, -LARGEST), LARGEST)


def _bent(graph: Graph, bend: Bend, X: str) -> str:
    """Yeo and Johnson's function of the columns that are bent."""
    u = graph.add("Div", graph.add("Sub", X, bend.origin), bend.unit)
    within = graph.add("Min", graph.add("Max", u, -LARGEST), LARGEST)
    up = _box_cox(graph, graph.add("Max", within, 0.0), bend.power)
    down = _box_cox(graph, graph.add("Max", graph.add("Neg", within), 0.0), 2.0 - bend.power)
    z = graph.add("Mul", graph.add("Sub", up, down), np.sign(bend.unit))
    return graph.add("Where", graph.constant(bend.bent), z, X)


def _box_cox(graph: Graph, v: str, power: Array) -> str:
    log = graph.add("Log", graph.add("Add", v, 1.0))
    flat = power == 0.0
    some = np.where(flat, 1.0, power)
    grown = graph.add("Exp", graph.add("Mul", log, some))
    bent = graph.add("Div", graph.add("Sub", grown, 1.0), some)
    return graph.add("Min", graph.add("Where", graph.constant(flat), log, bent), LARGEST)


def _labels(classes: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """The labels as a tensor: whole numbers, numbers, booleans or texts."""
    types = package().TensorProto
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64), types.INT64
    if classes.dtype.kind == "f":
        return classes.astype(np.float64), types.DOUBLE
    if classes.dtype.kind == "b":
        return classes.astype(np.bool_), types.BOOL
    return np.array([str(label) for label in classes.tolist()], dtype=object), types.STRING
