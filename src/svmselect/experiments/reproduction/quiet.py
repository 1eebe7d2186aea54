"""A box's edge is no news in a published experiment."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out the warning that a result lies on the edge of the search box.

    Hundreds of trials in boxes that papers leave open would each give it.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the result lies", category=UserWarning)
        yield
