"""Building an ONNX graph of float64 tensors, node by node; tensors are known by their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.types import Array

OPSET, OPSET_ML, IR = 18, 3, 8
"""What ONNX Runtime 1.18 and all later ones read."""


def package() -> Any:
    """The package onnx, an extra."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            f"to_onnx needs the package onnx ({error}): pip install 'svmselect[onnx]'"
        ) from None
    return onnx


@dataclass
class Graph:
    """Nodes and constants so far; ``taken`` are names of inputs and outputs, which none has."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    _count: int = 0

    def add(self, op: str, *inputs: str | Array | float | list[int], **attributes: Any) -> str:
        """Add a node; numbers and arrays become constants, lists of int integer ones.

        The name of its one output.
        """
        name = self._name(op)
        self.extend(op, [self._known(one) for one in inputs], [name], **attributes)
        return name

    def extend(self, op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        """Add a node with outputs of these names."""
        domain = "ai.onnx.ml" if op == "LabelEncoder" else ""
        node = package().helper.make_node(op, inputs, outputs, domain=domain, **attributes)
        self.nodes.append(node)

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant tensor; texts are objects."""
        name = self._name("constant")
        self.constants.append(package().numpy_helper.from_array(np.asarray(values), name))
        return name

    def part(self, x: str, start: int, stop: int, axis: int) -> str:
        """A slice of a tensor along one axis."""
        return self.add("Slice", x, [start], [stop], [axis])

    def model(self, inputs: list[Any], outputs: list[Any], **described: str) -> Any:
        """The finished model."""
        onnx = package()
        helper = onnx.helper
        graph = helper.make_graph(self.nodes, "svmselect", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", OPSET_ML)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR, producer_name="svmselect"
        )
        helper.set_model_props(model, described)
        onnx.checker.check_model(model)
        return model

    def _known(self, one: str | Array | float | list[int]) -> str:
        if isinstance(one, str):
            return one
        if isinstance(one, list):
            return self.constant(np.array(one, dtype=np.int64))
        return self.constant(np.asarray(one, dtype=np.float64))

    def _name(self, stem: str) -> str:
        self._count += 1
        name = f"{stem}_{self._count}"
        return self._name(stem) if name in self.taken else name
