"""ARFF."""

from fuzz.tables import FRAME
from fuzz.tables import check as _check

TOKENS = (
    b"@relation", b"@attribute", b"@data", b"real", b"{yes, no}", b"string", b"date", b"{0 1, 2 3}",
    b"relational", b"?", b"%",
)  # fmt: skip
HEAD = "@relation r\n@attribute size real\n@attribute 'a place' string\n"
HEAD += "@attribute count integer\n@attribute class {yes, no}\n@data\n"


def seeds() -> list[bytes]:
    """Dense and sparse rows."""
    rows = FRAME.to_csv(index=False, header=False)
    sparse = "".join(f"{{0 {i}, 2 {i % 3}, 3 {'yes' if i % 2 else 'no'}}}\n" for i in range(8))
    return [(HEAD + rows).encode(), (HEAD + sparse).encode()]


def check(data: bytes) -> None:
    """Read it."""
    _check(data, "d.arff")
