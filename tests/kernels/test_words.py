"""A kernel in a line: short numbers, a vector by its ends, and an end where it is very long."""

from __future__ import annotations

from svmselect.kernels import RBF, Constant, Linear, Polynomial
from svmselect.kernels.words import kernel_words


def test_numbers_are_rounded_and_vectors_told_by_their_ends() -> None:
    kernel = Constant(1.23456) * RBF([0.51234, 12.3456, 3.0]) + Polynomial(2)
    words = kernel_words(kernel)
    assert "Constant(value=1.23)" in words
    assert "[0.512 to 12.3]" in words
    assert "Polynomial(degree=2" in words


def test_columns_of_variables_are_left_out() -> None:
    kernel = 2.0 * RBF([1.0, 2.0], (0, 1, 1)) + RBF(3.0, (0, 0, 1))
    assert kernel_words(kernel) == kernel_words(2.0 * RBF([1.0, 2.0]) + RBF(3.0))


def test_an_exponent_is_part_of_its_number() -> None:
    assert "1.23e-09" in kernel_words(RBF(1.23456e-9))


def test_a_very_long_one_is_cut() -> None:
    kernel = Linear() * RBF(1.5)
    for _ in range(6):
        kernel = kernel + kernel
    assert len(repr(kernel)) > 300
    assert kernel_words(kernel).endswith(" …")
    assert len(kernel_words(kernel)) == 302
