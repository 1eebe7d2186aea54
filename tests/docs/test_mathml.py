"""Formulas become MathML."""

import pytest

pytestmark = pytest.mark.slow  # needs Sphinx, as what builds the site


def test_formulas() -> None:
    from mathml import formula

    assert formula("x").startswith("<math")
    assert 'display="block"' in formula("x", "block")
    assert "<mi>log</mi><mspace" in formula(r"\log p")
    assert "<msup>" not in formula(r"\ell'(z)")
    assert "<msup>" in formula("x^2")
