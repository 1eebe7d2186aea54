"""Sphinx: formulas as MathML, which browsers draw themselves: no script, no fonts, no network.

Of Sphinx's own, mathjax loads a script from elsewhere and imgmath needs LaTeX.
"""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

# Without a mathematical font a raised prime is raised twice, and "log p" has no gap.
_PRIME = re.compile(r"<msup>(<mi>[^<]*</mi>)<mi>(&#x0203[2-4];)</mi></msup>")
_FUNCTION = re.compile(r"<mi>(log|ln|det)</mi>(?=<m(i|frac|sub|sup|rac))")


def formula(latex: str, display: str = "inline") -> str:
    """A formula as a browser draws it."""
    made = convert(latex.strip(), display=display)
    made = _PRIME.sub(r'<mrow>\1<mo lspace="0" rspace="0">\2</mo></mrow>', made)
    return _FUNCTION.sub(r'<mi>\1</mi><mspace width="0.17em"/>', made)


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """A formula in a line of text."""
    translator.body.append(f'<span class="math">{formula(node.astext())}</span>')
    raise nodes.SkipNode


def display(translator: HTML5Translator, node: nodes.math_block) -> None:
    """A formula on a line of its own."""
    translator.body.append(f'<div class="math">{formula(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
