"""What ``svmselect predict`` does: a piece of the table at a time, so any size will do."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from svmselect.cli.console import Output, count
from svmselect.cli.formulas import escaped
from svmselect.cli.options import Missing
from svmselect.cli.progress import Bar
from svmselect.cli.tested import Tested
from svmselect.files.whole import replacing_text
from svmselect.tables import Encoder, Source, TableModel, open_source
from svmselect.tables.cells import texts
from svmselect.tables.gather import labels_of
from svmselect.tables.inputs import Number
from svmselect.types import ErrorEstimate


def run(
    model: Path,
    data: str,
    target: Path | None,
    keep: tuple[str, ...],
    missing: Missing | None,
    header: bool | None,
    output: Output,
    escape: bool = False,
    coverage: float | None = None,
) -> None:
    """Read, predict and write piece by piece; nothing is written where a row cannot be used.

    ``target`` is "-" or None for standard output. ``escape`` marks texts that a spreadsheet would
    take for formulas; ``coverage`` asks for sets of classes.
    """
    target = None if target is not None and str(target) == "-" else target
    if coverage is not None and not 0.0 < coverage < 1.0:
        raise ValueError(f"--coverage {coverage:g} is no part of the rows; give e.g. 0.9")
    if target is None and output.as_json:
        raise ValueError("--json and the predictions both go to standard output; add -o FILE")
    source = open_source(data, header)
    known = load_table_model(model, source)
    if missing is not None:
        known = _minding(known, missing.learned)
    if coverage is not None:
        known.sets(np.empty((0, len(known.classes))), 1.0 - coverage)  # refused before any work
    known.encoder.match(source.names, source.title, source.sparse)
    kept = [source.column(name) for name in keep]
    counts: Counter[str] = Counter()
    unseen: dict[str, Counter[str]] = {}
    gaps: Counter[str] = Counter()
    sizes: Counter[int] = Counter()
    cell = escaped if escape else str
    rows = wrong = judged = 0
    with Bar(f"predicting {source.title}", None, output) as bar, _opened(target) as file:
        writer = csv.writer(file, lineterminator="\n")
        names = [*kept, "prediction", *(f"probability_{c}" for c in known.classes)]
        names += [] if coverage is None else ["set"]
        writer.writerow([cell(name) for name in names])
        for frame in source.frames():
            table = known.encoder.read(frame, source, rows)
            for name, strange in known.encoder.unseen(table).items():
                unseen.setdefault(name, Counter()).update(strange)
            gaps.update(known.encoder.new_gaps(table))
            known.encoder.check(table, source.title)
            labels, p = known.predict(table, source.title)
            copied = [
                ["" if c is None else cell(c) for c in texts(frame[n].tolist())] for n in kept
            ]
            numbers = [[f"{value:.6g}" for value in row] for row in p.tolist()]
            if coverage is not None:
                sets = known.sets(p, 1.0 - coverage)
                sizes.update(len(one) for one in sets)
                numbers = [[*n, cell(" | ".join(s))] for n, s in zip(numbers, sets, strict=True)]
            for i, label in enumerate(labels.tolist()):
                writer.writerow([*(column[i] for column in copied), cell(str(label)), *numbers[i]])
            counts.update(str(label) for label in labels.tolist())
            if known.target in source.names:
                truth = labels_of(frame[known.target].tolist())
                there = np.array([label is not None for label in truth], dtype=np.bool_)
                wrong += int(np.sum(truth[there] != labels.astype(object)[there]))
                judged += int(there.sum())
            rows += len(frame)
            bar.step(len(frame))
    for name, missing_there in gaps.items():
        output.note(
            f"column {name!r} has {count(missing_there, 'missing value')}, and had none in "
            "training: they count as what is most usual"
        )
    if not rows:
        output.note(f"{source.title} has no rows, so nothing was predicted")
    if sizes:
        output.note(
            f"sets that hold the true class in {coverage:.0%} of new rows: "
            + ", ".join(f"{count(n, 'row')} with {k}" for k, n in sorted(sizes.items()))
        )
    own = bool(source.digest) and known.origin.get("digest") == source.digest
    _tell(output, target, rows, counts, unseen, known, (wrong, judged), own)


def load_table_model(path: Path, source: Source | None = None) -> TableModel:
    """A model that reads tables; one saved from Python gets the columns by name or position."""
    from svmselect.estimators.persist import load

    if not path.exists():
        raise ValueError(f"there is no file {path}; svmselect fit writes one, model.skops")
    if path.is_dir():
        inside = path / "model.skops"
        if not inside.exists():
            raise ValueError(f"{path} is a folder without a model.skops; give the model file")
        path = inside
    found = load(path)
    if isinstance(found, TableModel):
        return found
    width = getattr(found, "n_features_in_", None)
    if width is None or getattr(found, "predict_proba", None) is None:
        raise ValueError(f"{path} holds a {type(found).__name__}, which is no fitted classifier")
    learned = vars(found).get("encoder_")
    if isinstance(learned, Encoder):
        return TableModel(learned, found, "\0no target", {})
    names = getattr(found, "feature_names_in_", None)
    if names is None:
        if source is None or len(source.names) != width:
            raise ValueError(
                f"{path} was saved from Python without column names and takes {width} columns; "
                "give a table of exactly these, or fit on a data frame"
            )
        names = source.names
    inputs = tuple(Number(str(name), 0.0) for name in names)
    return TableModel(Encoder(inputs), found, "\0no target", {})


def _minding(known: TableModel, missing: str) -> TableModel:
    """The model with another way to deal with gaps."""
    told = copy(known.estimator)
    if isinstance(vars(told).get("encoder_"), Encoder):
        told.encoder_ = replace(told.encoder_, missing=missing)
    return replace(known, encoder=replace(known.encoder, missing=missing), estimator=told)


@contextmanager
def _opened(target: Path | None) -> Iterator[IO[str]]:
    """Standard output, or a file that appears only when it is complete."""
    if target is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing_text(target) as file:
        yield file


def _tell(
    output: Output,
    target: Path | None,
    rows: int,
    counts: Counter[str],
    unseen: dict[str, Counter[str]],
    model: TableModel,
    judged: tuple[int, int],
    own: bool,
) -> None:
    """A summary, on standard error where the predictions are on standard output.

    ``own`` says that the file is the one the model was made of.
    """
    for name, strange in unseen.items():
        shown = ", ".join(repr(text) for text, _ in strange.most_common(3))
        output.note(
            f"column {name!r} has {count(strange.total(), 'value')} that the model has not seen "
            f"({shown}): they count as rare ones, or as none of its categories"
        )
    wrong, n = judged
    tested = Tested.seen(ErrorEstimate(wrong / n, n), count(n, "row")) if n else None
    fields: dict[str, Any] = {
        "rows": rows,
        "predictions": dict(counts),
        "output": None if target is None else str(target),
        "error": None if tested is None else tested.fields,
        "unseen": {name: dict(strange) for name, strange in unseen.items()},
        "fitted_to": own,
    }
    output.result(fields)
    shares = ", ".join(f"{label} {n:,}" for label, n in sorted(counts.items()))
    said = f"{count(rows, 'row')}: {shares}" if rows else "no rows"
    if target is None:
        output.note(said)
    else:
        output.say(f"{said}; written to {target}")
    if own:
        output.note(
            f"{model.origin['data']} is the file that the model was fitted to: of rows that it "
            "knows it is wrong less often than of new ones, for which fit tells the expected error"
        )
    if tested is not None:
        output.note(f"the file has {model.target!r} too: error {tested.words}")
