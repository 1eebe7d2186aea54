"""The published numbers of a paper: a CSV file beside its module."""

from __future__ import annotations

import csv
from importlib.resources import files


def read_published(name: str) -> list[dict[str, str]]:
    """The rows of ``svmselect/experiments/<name>``; an empty cell is an empty string."""
    text = (files("svmselect.experiments") / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
