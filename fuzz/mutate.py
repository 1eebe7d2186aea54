"""New inputs from old ones: bits, bytes, pieces taken out, doubled, swapped, spliced, or put in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_NUMBERS = (
    b"0", b"-1", b"1e999", b"-1e999", b"nan", b"1e-400", b"4294967296", b"9223372036854775808",
    b"0.1", b"-0.0", b"9" * 400,
)  # fmt: skip
_BYTES = (
    b"\x00", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\n", b"\r",
    b'"', b"'", b"\\", b" ", b"\t", b"{", b"}", b"[", b"]", b",", b";", b":", b"%", b"#",
    b"\xef\xbb\xbf", b"\xc3", b"\xe2\x80\xa8",
)  # fmt: skip
_LONGEST = 50_000


def mutated(
    data: bytes, rng: np.random.Generator, others: Sequence[bytes], tokens: Sequence[bytes]
) -> bytes:
    """One to eight changes, few of them mostly."""
    made = bytearray(data)
    for _ in range(1 + min(7, int(rng.geometric(0.5)) - 1)):
        _change(made, rng, others, tokens)
    return bytes(made[:_LONGEST])


def _change(
    made: bytearray, rng: np.random.Generator, others: Sequence[bytes], tokens: Sequence[bytes]
) -> None:
    at = int(rng.integers(0, len(made) + 1))
    end = min(len(made), at + int(rng.geometric(0.1)))
    match int(rng.integers(0, 9)):
        case 0 if at < len(made):
            made[at] ^= 1 << int(rng.integers(0, 8))
        case 1 if at < len(made):
            made[at] = int(rng.integers(0, 256))
        case 2:
            del made[at:end]
        case 3:
            made[at:at] = made[at:end] * int(rng.integers(1, 20))
        case 4:
            del made[at:]
        case 5:
            other = others[int(rng.integers(0, len(others)))]
            cut = int(rng.integers(0, len(other) + 1))
            made[at : min(len(made), at + len(other) - cut)] = other[cut:]
        case 6:
            start = int(rng.integers(0, len(made) + 1))
            piece = bytes(made[start : start + end - at])
            made[at:end] = piece
        case _:
            known = (*_NUMBERS, *_BYTES, *tokens, *tokens)
            piece = known[int(rng.integers(0, len(known)))]
            made[at : at if rng.random() < 0.5 else end] = piece
