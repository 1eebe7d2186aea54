"""What came of a fit, for people and for programs."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from svmselect.cli.console import Output, duration, number, percent
from svmselect.cli.prepare import Prepared
from svmselect.cli.tested import Tested, cross_validated
from svmselect.estimators.words import chosen_loss
from svmselect.kernels.words import kernel_form, kernel_words
from svmselect.tables import TableModel


@dataclass(frozen=True, eq=False)
class FitSummary:
    """A fitted model, what it was fitted to, and where it is written."""

    model: Any
    prepared: Prepared
    folder: Path
    page: bool
    onnx: bool
    tested: Tested | None
    notes: tuple[str, ...]
    interrupted: bool
    grid: Any = None

    @property
    def table_model(self) -> TableModel:
        """What the model file holds."""
        from svmselect import __version__

        origin = {
            "data": self.prepared.source.title,
            "rows": self.model.selection_.rows,
            "digest": self.prepared.source.digest,
            "svmselect": __version__,
        }
        return TableModel(self.model.encoder_, self.model, self.prepared.target, origin)

    @property
    def predict(self) -> str:
        """The command that predicts the rows of another file."""
        model = shlex.quote(str(self.folder / _FILES["model"]))
        return f"svmselect predict {model} NEW_FILE -o predictions.csv"

    @property
    def guessing(self) -> tuple[str, float]:
        """The most frequent class, and the error of always saying so."""
        name, n = max(self.prepared.classes.items(), key=lambda item: item[1])
        return name, 1.0 - n / len(self.prepared.y)

    @property
    def relevance(self) -> dict[str, float]:
        """What each input counts, most first."""
        found: dict[str, float] = self.model.encoder_.relevance(self.model.feature_importances_)
        return found

    @property
    def columns(self) -> tuple[tuple[str, str, str], ...]:
        """What became of each column of the table: name, kind, words."""
        inputs = self.model.encoder_.inputs
        used = {one.name: (one.name, one.kind, one.words) for one in inputs}
        left = {
            one.name: (one.name, "not used", f"left out: {one.reason}")
            for one in self.prepared.left
        }
        both = used | left
        return tuple(both[name] for name in self.prepared.source.names if name in both)

    def tell(self, output: Output, seconds: float) -> None:
        """A short table, or one JSON object."""
        model, selection = self.model, self.model.selection_
        expected = cross_validated(model)
        files: dict[str, str | None] = {n: str(self.folder / f) for n, f in _FILES.items()}
        if not self.page:
            files["report"] = None
        if not self.onnx:
            files["onnx"] = None
        output.result(
            {
                "data": self.prepared.source.title,
                "target": self.prepared.target,
                "rows": selection.rows,
                "classes": self.prepared.classes,
                "C": model.C_,
                "kernel": repr(model.kernel_),
                "parameters": model.best_params_,
                "criterion": selection.criterion,
                "value": model.best_score_,
                "evaluations": selection.evaluations,
                "error": expected.fields,
                "test": None if self.tested is None else self.tested.fields,
                "guessing": self.guessing[1],
                "grid": None if self.grid is None else asdict(self.grid),
                "relevance": self.relevance,
                "columns": {name: told for name, _, told in self.columns},
                "support_vectors": int(model.n_support_.sum()),
                "seconds": seconds,
                "interrupted": self.interrupted,
                "notes": [*self.notes, *selection.notes],
                **files,
            }
        )
        rows = [("chosen", chosen_words(model))]
        by = f"{selection.criterion} {number(model.best_score_)}"
        rows.append(("by", f"{by}, {selection.evaluations} evaluations"))
        if self.tested is not None:
            rows.append(("test error", self.tested.words))
        rows.append(("expected error", expected.words))
        rows.append(("by guessing", f"{percent(self.guessing[1])} (always {self.guessing[0]!r})"))
        if self.grid is not None:
            rows.append(("plain grid", self._rival()))
        rows.append(("inputs", self._inputs()))
        search = duration(selection.seconds)
        rows.append(("time", f"{search} to choose and train, {duration(seconds)} in all"))
        judged = expected if self.tested is None else self.tested
        if judged.error > 0.9 * self.guessing[1]:
            rows.append(("note", "hardly better than guessing: these inputs tell little of it"))
        rows += [("note", m) for m in selection.notes if m.kind != "callback"]
        output.say("")
        output.pairs(rows)
        output.say("")
        if self.interrupted:
            output.say("Interrupted: this is the best found so far.")
        out = self.folder
        output.say(f"Written: {out / 'model.skops'}, {out / 'trace.jsonl'}")
        if self.onnx:
            output.say(f"For runtimes without Python: {out / 'model.onnx'}")
        if self.page:
            output.say(f"Open this page: {out / 'report.html'}")
        output.say(f"Then: {self.predict}")

    def _rival(self) -> str:
        """The plain grid's result in a line."""
        error, on = self.grid.held_out_error, "on the test rows"
        if error is None:
            error, on = self.grid.fold_error, "in 5 folds"
        told = f"{percent(error)} {on}, {self.grid.chosen}"
        return f"{told}, {self.grid.evaluations} evaluations, {duration(self.grid.seconds)}"

    def _inputs(self) -> str:
        ranked = list(self.relevance.items())
        if not isinstance(self.model.length_scale_, np.ndarray):
            return "all are weighed alike" if len(ranked) > 1 else ranked[0][0]
        shown = [f"{name} {share:.0%}" for name, share in ranked[:5] if share >= 0.005]
        return ", ".join(shown) + (", ..." if len(ranked) > len(shown) else "")


_FILES = {
    "model": "model.skops",
    "trace": "trace.jsonl",
    "report": "report.html",
    "onnx": "model.onnx",
}


def chosen_words(model: Any) -> str:
    """C and the kernel, in a line."""
    if isinstance(model.kernel_, tuple):
        return "C and a kernel for each pair of classes"
    length = model.length_scale_
    text = f"C = {number(model.C_)}"
    if loss := chosen_loss(model):
        text += f", {loss} loss"
    if len(list(model.kernel_.leaves())) == 1:
        form = f"{kernel_form(model.kernel_)} kernel"
        if isinstance(length, float):
            return f"{text}, {form}, one length scale {number(length)}"
        if isinstance(length, np.ndarray):
            low, high = number(length.min()), number(length.max())
            return f"{text}, {form}, a length scale per input, {low} to {high}"
    return f"{text}, {kernel_words(model.kernel_)}"
