"""SVG elements from Python, every text and attribute escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from svmselect.types import Array


def element(tag: str, *children: str, **attributes: str | float | None) -> Markup:
    """An element; ``class_`` is class, and underscores are hyphens. None leaves one out.

    Children are escaped unless they are elements themselves.
    """
    shown = Markup().join(
        Markup(' {}="{}"').format(name.rstrip("_").replace("_", "-"), _value(value))
        for name, value in attributes.items()
        if value is not None
    )
    inside = Markup().join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), shown, inside)


def line(
    points: Sequence[tuple[float, float]] | Array, class_: str, closed: bool = False
) -> Markup:
    """A path through points."""
    return element("path", d=path(points, closed), class_=class_)


def path(points: Iterable[Sequence[float]] | Array, closed: bool = False) -> str:
    """The path data of a polygon or a line, to a tenth of a unit."""
    text = "L".join(f"{_short(x)},{_short(y)}" for x, y in points)
    return f"M{text}{'Z' if closed else ''}"


def dot(x: float, y: float, r: float, class_: str, tip: str = "") -> Markup:
    """A circle; ``tip`` is what it says when pointed at."""
    inside = (element("title", tip),) if tip else ()
    return element("circle", *inside, cx=x, cy=y, r=r, class_=class_)


def text(x: float, y: float, words: str, class_: str = "", anchor: str | None = None) -> Markup:
    """Words at a place."""
    return element("text", words, x=x, y=y, class_=class_ or None, text_anchor=anchor)


def group(*children: str, class_: str | None = None) -> Markup:
    """Elements together."""
    return element("g", *children, class_=class_)


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else _short(value)


def _short(value: float) -> str:
    return (
        f"{value:.1f}".removesuffix(".0").replace("-0", "0", 1)
        if -0.05 < value < 0
        else (f"{value:.1f}".removesuffix(".0"))
    )
