"""Model files, as bytes, and as members that are packed and sealed again."""

from __future__ import annotations

import io
import json
import warnings
from functools import cache
from zipfile import ZipFile

import numpy as np

import svmselect
from fuzz.members import PACKED, joined, packed
from fuzz.tables import folder
from svmselect import AutoSVC
from svmselect.estimators.model_file import DIGEST
from svmselect.estimators.persist import _sealed

TOKENS = (
    b'"__class__"', b'"__module__"', b'"__loader__"', b'"MethodNode"', b'"OperatorFuncNode"',
    b'"FunctionNode"', b'"PartialNode"', b'"ReduceNode"', b'"CachedNode"', b'"os"', b'"system"',
    b'"builtins"', b'"eval"', b'"__globals__"', b'"numpy"', b'"file"', b'"content"', b'"dict"',
    b"../../x", b"\x93NUMPY", b"'descr': '|O'", b'"protocol": 3', b'"scipy.sparse"', b'"type"',
)  # fmt: skip


@cache
def _model() -> bytes:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    fitted = AutoSVC(criterion="gacv", search="grid", ard="no", random_state=0).fit(X, X[:, 0] > 0)
    path = folder() / "model.skops"
    svmselect.save(fitted, path)
    return path.read_bytes()


def seeds() -> list[bytes]:
    """A file, its members, and its tree written shorter."""
    with ZipFile(io.BytesIO(_model())) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != DIGEST}
    tree = json.loads(members["schema.json"])
    short = members | {"schema.json": json.dumps(tree, separators=(",", ":")).encode()}
    alone = {"schema.json": short["schema.json"]}
    return [_model(), joined(members), joined(short), joined(alone)]


def check(data: bytes) -> None:
    """A model, or one sentence that names the file; nothing beside the file is made."""
    path = folder() / "m.skops"
    path.write_bytes(_sealed(packed(data)) if data.startswith(PACKED) else data)
    before = sorted(folder().iterdir())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scikit-learn, on versions
            svmselect.load(path)
    except ValueError as error:
        assert path.name in str(error), f"no sentence for the user: {str(error)!r}"
        assert "\n" not in str(error), f"no sentence for the user: {str(error)!r}"
    assert sorted(folder().iterdir()) == before
