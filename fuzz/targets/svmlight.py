"""SVMlight and LIBSVM files."""

from fuzz.tables import check as _check

TOKENS = (b"qid:1", b"1:1", b"+1", b"-1", b" # ", b"2147483648:1", b":", b"1e3")


def seeds() -> list[bytes]:
    """Labels that are numbers and names, with comments."""
    numbers = "".join(f"{'+1' if i % 2 else '-1'} 1:{i} 3:0.{i} # row {i}\n" for i in range(20))
    ranked = "".join(f"{i % 3} qid:{i // 4} 2:{i}.5 7:1e-{i}\n" for i in range(20))
    return [numbers.encode(), ranked.encode()]


def check(data: bytes) -> None:
    """Read it."""
    _check(data, "d.svm")
