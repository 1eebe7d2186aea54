"""Elements, scales and ticks: escaped, in range, round."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmselect.report.frame import Axis, Frame, linear_ticks, log_ticks
from svmselect.report.svg import dot, element, group, line, path, text

# what XML allows at all
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"))


@given(WORDS, WORDS)
def test_any_text_comes_back_from_elements_and_attributes(words: str, value: str) -> None:
    made = group(element("text", words, aria_label=value), class_="a")
    read = ET.fromstring(str(made))
    assert (read[0].text or "") == words
    assert read[0].attrib["aria-label"] == value
    assert read.attrib["class"] == "a"
    assert len(read) == 1


def test_a_dot_tells_its_words() -> None:
    read = ET.fromstring(str(dot(1.25, 2.0, 3.0, "pt", "</title><script>")))
    assert read[0].tag == "title"
    assert read[0].text == "</title><script>"
    assert read.attrib == {"cx": "1.2", "cy": "2", "r": "3", "class": "pt"}
    assert len(ET.fromstring(str(dot(1.0, 2.0, 3.0, "pt")))) == 0


def test_paths_and_text() -> None:
    assert path([(0.0, 1.04), (-0.01, 2.0)]) == "M0,1L0,2"
    assert path(np.array([[0.0, 1.0], [10.5, -3.0]]), closed=True) == "M0,1L10.5,-3Z"
    assert 'd="M0,1L2,3"' in line([(0.0, 1.0), (2.0, 3.0)], "curve")
    assert "text-anchor" not in text(0, 0, "a")
    assert 'text-anchor="end"' in text(0, 0, "a", anchor="end")


@given(
    st.floats(-1e6, 1e6, allow_subnormal=False),
    st.floats(1e-6, 1e6, allow_subnormal=False),
    st.integers(3, 8),
)
def test_ticks_are_round_inside_and_few(low: float, span: float, most: int) -> None:
    high = low + span
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        return
    ticks = linear_ticks(low, high, most)
    assert 1 <= len(ticks) <= most + 1
    places = np.array([place for place, _ in ticks])
    slack = 1e-6 * span
    assert (places >= low - slack).all()
    assert (places <= high + slack).all()


@given(st.floats(-20, 20), st.floats(0.05, 40), st.integers(3, 8))
def test_ticks_of_logarithms_are_inside_and_few(low: float, span: float, most: int) -> None:
    ticks = log_ticks(low, low + span, most)
    assert 1 <= len(ticks) <= most + 1
    places = np.array([place for place, _ in ticks])
    assert (places >= low - 1e-6).all()
    assert (places <= low + span + 1e-6).all()
    if span > 3.0:  # room for two decades: their multiples by 1, 2, 3, 5
        leading = np.array([float(f"{np.exp(place):.6e}"[:8]) for place in places])
        nearest = np.abs(leading[:, None] - [1, 2, 3, 5, 10]).min(axis=1)
        assert nearest.max() < 1e-4


def test_tick_labels() -> None:
    assert [name for _, name in linear_ticks(-0.4, 0.1, 5)] == [
        "−0.4", "−0.3", "−0.2", "−0.1", "0.0", "0.1",
    ]  # fmt: skip
    assert [name for _, name in log_ticks(np.log(0.05), np.log(200), 5)] == [
        "0.1", "1", "10", "100",
    ]  # fmt: skip


def test_a_frame_maps_its_corners() -> None:
    frame = Frame(Axis.of(0, 10, "x"), Axis.of(-1, 1, "y"))
    assert (frame.at_x(0), frame.at_x(10)) == (frame.left, frame.width - frame.right)
    assert (frame.at_y(1), frame.at_y(-1)) == (frame.top, frame.height - frame.bottom)
    assert frame.inside(5, 0)
    assert not frame.inside(11, 0)
    read = ET.fromstring(str(frame.svg("<&>", frame.grid(), frame.axes())))
    assert read.attrib["aria-label"] == "<&>"


@pytest.mark.parametrize("value", [0.0, 3.0, -2e-9])
def test_an_axis_of_one_value_has_room(value: float) -> None:
    axis = Axis.of(value, value, "x")
    assert axis.low < value < axis.high
