"""Whatever a table holds, it is read as it was written."""

import io
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from svmselect.tables import gather, open_source

# texts with everything that could mislead a reader; not blank, and none that means "missing"
WORDS = st.text(alphabet="ab,;|\t\"' .:1é", min_size=1, max_size=6).map(lambda t: f"w{t}w")
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))


@settings(max_examples=50)
@given(
    st.lists(st.tuples(NUMBERS, WORDS, WORDS), min_size=3, max_size=12),
    st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", ".")]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_text_tables(rows, marks: tuple[str, str], encoding: str) -> None:
    frame = pd.DataFrame(rows, columns=["number", "first word", "second, word"])
    separator, decimal = marks
    text = io.StringIO()
    frame.to_csv(text, index=False, sep=separator, decimal=decimal)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "t.csv"
        file.write_bytes(text.getvalue().encode(encoding))
        found = gather(open_source(file)).columns
    assert list(found) == list(frame)
    np.testing.assert_allclose(found["number"], frame["number"])
    for name in ("first word", "second, word"):
        assert found[name].tolist() == frame[name].tolist()
