"""A fitted classifier as an ONNX model: inputs, scaling, machines, probabilities, labels."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.estimators.onnx.graph import Graph, package
from svmselect.estimators.onnx.judges import probabilities
from svmselect.estimators.problem import LARGEST
from svmselect.files.whole import write_whole


def to_onnx(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the model: input ``X``, outputs ``label`` and ``probabilities``."""
    write_whole(path, build(model).SerializeToString())


def build(model: Any) -> Any:
    """The ONNX model of a fitted classifier."""
    onnx = package()
    helper, number = onnx.helper, onnx.TensorProto.DOUBLE
    graph = Graph()
    scaling, judge = model._scaling, model._judge
    scaled = graph.add("Div", graph.add("Sub", "X", scaling.mean), scaling.scale)
    within = graph.add("Min", graph.add("Max", scaled, -LARGEST), LARGEST)
    p = probabilities(graph, judge, within)
    graph.extend("Identity", [p], ["probabilities"])
    worth = p if model._utilities is None else graph.add("MatMul", p, model._utilities)
    best = graph.add("ArgMax", worth, axis=1, keepdims=0)
    labels, kind = _labels(model.classes_)
    graph.extend("Gather", [graph.constant(labels), best], ["label"], axis=0)
    inputs = [helper.make_tensor_value_info("X", number, [None, model.n_features_in_])]
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
