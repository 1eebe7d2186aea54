"""Model files made to hurt, and a disk that is full: what is refused, and that nothing is run."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import svmselect
from svmselect.estimators.model_file import DIGEST, LOADED
from svmselect.estimators.persist import _sealed
from svmselect.files import unpacked


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file that save has written."""
    file = tmp_path_factory.mktemp("models") / "model.skops"
    svmselect.save(StandardScaler().fit(np.arange(6.0).reshape(3, 2)), file)
    return file.read_bytes()


def members(content: bytes) -> dict[str, bytes]:
    with ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != DIGEST}


def packed(held: dict[str, bytes], method: int = ZIP_DEFLATED) -> bytes:
    """An archive of these members, with the digest that a forger would put in."""
    made = io.BytesIO()
    with ZipFile(made, "w", method) as archive:
        for name, content in held.items():
            archive.writestr(name, content)
    return _sealed(made.getvalue())


def of_tree(tree: dict[str, Any], **more: bytes) -> bytes:
    return packed({"schema.json": json.dumps({"protocol": 2, **tree}).encode(), **more})


def refused(tmp_path: Path, content: bytes, words: str) -> str:
    file = tmp_path / "m.skops"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=words) as told:
        svmselect.load(file)
    assert "\n" not in str(told.value)
    assert str(file) in str(told.value)
    return str(told.value)


# crafted trees

RAN: list[str] = []


def note(*arguments: object) -> None:
    """What an attack would run."""
    RAN.append("ran")


def node(kind: str, cls: str, module: str, **more: Any) -> dict[str, Any]:
    return {"__class__": cls, "__module__": module, "__loader__": kind, **more}


def words(text: str) -> dict[str, Any]:
    return node("JsonNode", "str", "builtins", content=json.dumps(text), is_json=True)


def listed(kind: str, *items: dict[str, Any]) -> dict[str, Any]:
    name = "tuple" if kind == "TupleNode" else "list"
    return node(kind, name, "builtins", content=list(items))


ENCODER = ("Encoder", "svmselect.tables.encoder")  # a type that load() trusts
EMPTY = node(
    "ObjectNode", *ENCODER,
    content=node("DictNode", "dict", "builtins", content={}, key_types=listed("ListNode")),
)  # fmt: skip


def method(obj: dict[str, Any], name: str) -> dict[str, Any]:
    """The attribute ``name`` of an object, under the name of a type that is trusted."""
    return node("MethodNode", *ENCODER, content={"obj": obj, "func": name})


MINE = node("TypeNode", "note", __name__)
ATTACKS = {
    "methods to globals": method(method(EMPTY, "__init__"), "__globals__"),
    "a method": method(EMPTY, "fit"),
    "globals of a function": method(
        node("FunctionNode", "expit", "scipy.special._ufuncs", content="expit"), "__class__"
    ),
    "an operator": node(
        "OperatorFuncNode", "call", "operator", attrs=listed("TupleNode", MINE),
    ),
    "an operator in disguise": node(
        "OperatorFuncNode", "call", "sklearn.preprocessing._data",
        attrs=listed("TupleNode", MINE),
    ),
    "a function": node("FunctionNode", "system", "os", content={}),
    "a type": node("TypeNode", "Popen", "subprocess"),
    "a constructor": node(
        "ConstructorFromReduceNode", "Popen", "subprocess",
        content=listed("TupleNode", words("true")),
    ),
    "a generator": node(
        "RandomGeneratorNode", "Generator", "numpy.random._generator",
        content={"bit_generator": {"bit_generator": "../os.system", "state": {}}},
    ),
    "a node of another package": node("QuantileForestNode", "X", "quantile_forest", attrs={}),
    "a node of no package": node("NoNode", "X", "builtins"),
    "a node that is no word": node(["ListNode"], "X", "builtins"),  # type: ignore[arg-type]
    "what was not loaded before": {
        **node("CachedNode", "X", "builtins"), "__id__": 7,
    },
    "an unknown operation in a list": listed("ListNode", words("a"), method(EMPTY, "fit")),
}  # fmt: skip


@pytest.mark.parametrize("tree", ATTACKS.values(), ids=ATTACKS.keys())
def test_crafted_files_are_refused_and_run_nothing(tmp_path: Path, tree: dict[str, Any]) -> None:
    RAN.clear()
    refused(tmp_path, of_tree(tree), "not trusted|no model file|another version")
    assert not RAN


def test_what_a_model_is_made_of_is_loaded(tmp_path: Path, model: bytes) -> None:
    (tmp_path / "m").write_bytes(model)
    assert isinstance(svmselect.load(tmp_path / "m"), StandardScaler)
    assert not {"MethodNode", "OperatorFuncNode"} & LOADED


@pytest.mark.parametrize("depth", [300, 1500, 50_000])
def test_a_tree_too_deep_is_refused(tmp_path: Path, depth: int) -> None:
    text = '{"protocol": 2, "__class__": "list", "__module__": "builtins", "__loader__": '
    text += '"ListNode", "content": [' * 1
    inner = '{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": ['
    schema = text + inner * depth + "]}" * depth + "]}"
    refused(tmp_path, packed({"schema.json": schema.encode()}), "no model file|another version")


# archives


def test_a_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, model: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacked, "FLOOR", 2**20)
    bomb = packed({**members(model), "zeros.bin": b"\0" * (50 * 2**20)})
    said = refused(tmp_path, bomb, "unpacks to more than .*MiB")
    assert "SVMSELECT_MAX_UNPACKED=" in said
    monkeypatch.setenv(unpacked.VARIABLE, "1G")
    assert svmselect.load(tmp_path / "m.skops") is not None
    monkeypatch.setenv(unpacked.VARIABLE, "lots")
    refused_by = pytest.raises(ValueError, match="SVMSELECT_MAX_UNPACKED is 'lots'")
    with refused_by:
        svmselect.load(tmp_path / "m.skops")


def test_one_array_named_by_many_nodes_is_a_bomb_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacked, "FLOOR", 2**20)
    array = io.BytesIO()
    np.save(array, np.zeros(100_000))
    one = node("NdArrayNode", "ndarray", "numpy", type="numpy", file="a.npy")
    content = of_tree(listed("ListNode", *[one] * 1000), **{"a.npy": array.getvalue()})
    refused(tmp_path, content, "unpacks to more than")


def flagged(content: bytes, bits: int = 0, compression: int | None = None) -> bytes:
    """The archive with flags, or another way of packing, in every directory entry."""
    made = bytearray(content)
    for signature, flags, kind in ((b"PK\1\2", 8, 10), (b"PK\3\4", 6, 8)):
        at = made.find(signature)
        while at >= 0:
            struct.pack_into("<H", made, at + flags, made[at + flags] | bits)
            if compression is not None:
                struct.pack_into("<H", made, at + kind, compression)
            at = made.find(signature, at + 4)
    return bytes(made)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: flagged(c, bits=0x1), "is encrypted"),
        (lambda c: flagged(c, bits=0x41), "is encrypted"),
        (lambda c: flagged(c, bits=0x20), "packed in a way"),
        (lambda c: flagged(c, compression=99), "packed in a way"),
        (lambda c: flagged(c, compression=1), "packed in a way"),
        (lambda c: packed(members(c), ZIP_BZIP2), "packed in a way"),
    ],
)
def test_archives_of_other_kinds(
    tmp_path: Path, model: bytes, change: Callable[[bytes], bytes], words: str
) -> None:
    refused(tmp_path, change(model), words)


def test_two_members_of_one_name(tmp_path: Path, model: bytes) -> None:
    twice = io.BytesIO(model)
    with pytest.warns(UserWarning, match="Duplicate"), ZipFile(twice, "a") as archive:
        archive.writestr("schema.json", "{}")
    refused(tmp_path, twice.getvalue(), "two members of one name")


# arrays


def header(text: str) -> bytes:
    """A file of NumPy with this header and no numbers."""
    raw = text.encode("latin1") + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(raw)) + raw


def descr(dtype: str, shape: str) -> str:
    return f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}"


@pytest.mark.parametrize(
    "array",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x09\0",
        b"\x93NUMPY\1\0\xff\xff{",
        header("{"),
        header("(" * 500),
        header("{'descr': "),
        header("nonsense"),
        header("[]"),
        header(descr("'<f8'", "(1000000000000,)")),
        header(descr("'<f8'", "(-1,)")),
        header(descr("'<f8'", "(1.5,)")),
        header(descr("'<f8'", "'a'")),
        header(descr("'|O'", "(0,)")),
        header(descr("'<U0'", "(1000000000000,)")),
        header(descr("'no type'", "(1,)")),
        header(descr("{'a': 1}", "(1,)")),
        header(descr("'<f8'", "(1,)" + "+(1,)" * 3000)),
        header(descr("'<f8'", "()")) + b"\0" * 7,
    ],
)
def test_headers_of_arrays(tmp_path: Path, array: bytes) -> None:
    one = node("NdArrayNode", "ndarray", "numpy", type="numpy", file="a.npy")
    refused(tmp_path, of_tree(one, **{"a.npy": array}), "array without a proper header|announces")


def test_an_archive_in_the_archive_is_looked_at_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacked, "FLOOR", 2**16)
    monkeypatch.setattr(unpacked, "RATIO", 3)
    inner = io.BytesIO()
    with ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", b"\0" * 2**20)
    one = node("SparseMatrixNode", "csr_matrix", "scipy.sparse", type="scipy", file="a.npz")
    refused(tmp_path, of_tree(one, **{"a.npz": inner.getvalue()}), "unpacks to more than")


# damage


@pytest.mark.parametrize("seed", [0, 1])
def test_no_damage_to_a_model_is_a_defect(tmp_path: Path, model: bytes, seed: int) -> None:
    from tables.test_damaged import mutants

    file, told, read = tmp_path / "m.skops", list[str](), 0
    for made in mutants(model, seed, 300):
        file.write_bytes(made)
        try:
            svmselect.load(file)
            read += 1
        except ValueError as error:
            told.append(str(error))
    assert all(str(file) in said and "\n" not in said for said in told)
    assert read < 60  # where times and comments are, which the digest leaves out


@pytest.mark.parametrize("seed", [0, 1])
def test_no_damage_behind_a_forged_digest_is_a_defect(
    tmp_path: Path, model: bytes, seed: int
) -> None:
    from tables.test_damaged import mutants

    file, told, held = tmp_path / "m.skops", list[str](), members(model)
    for name, content in held.items():
        for made in mutants(content, seed, 100):
            file.write_bytes(packed({**held, name: made}))
            try:
                svmselect.load(file)
            except ValueError as error:
                told.append(str(error))
    assert all(str(file) in said for said in told)
    assert len(told) > 100
