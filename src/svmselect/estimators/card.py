"""A fitted model as a card in a notebook, above scikit-learn's own picture of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmselect.estimators.words import chosen_loss, input_names, weighed_alike
from svmselect.selection.card import card, choice_rows, error_rows, remarks, search_row


def of_model(model: Any) -> str:
    """The card of a fitted model; nothing of one that is not."""
    selection = vars(model).get("selection_")
    if selection is None:
        return ""
    classes = ", ".join(map(str, model.classes_.tolist()[:6]))
    more = ", ..." if len(model.classes_) > 6 else ""
    fitted = (
        f"{selection.rows} rows, {model.n_features_in_} inputs, {len(model.classes_)} classes "
        f"({classes}{more})"
    )
    rows = [("fitted to", fitted)]
    if loss := chosen_loss(model):
        rows.append(("loss", loss))
    rows += choice_rows(model.C_, model.kernel_)
    if model.companions_:
        rows.append(("averaged with", f"{len(model.companions_)} more of other losses or kernels"))
    rows += error_rows(selection.error)
    shares = np.asarray(model.feature_importances_)
    if len(shares) > 1 and not weighed_alike(model):
        names, order = input_names(model), np.argsort(-shares, kind="stable")[:3]
        rows.append(("top inputs", ", ".join(f"{names[a]} {shares[a]:.0%}" for a in order)))
    elif len(shares) > 1:
        rows.append(("inputs", "all are weighed alike"))
    rows.append(search_row(selection))
    page = str(vars(model).get("report_") or "")
    return card(type(model).__name__, rows, remarks(selection), page)
