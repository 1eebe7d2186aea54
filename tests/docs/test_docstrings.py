"""Docstrings reach Sphinx as plain text, with their code and formulas."""

from docstrings import plain


def test_markup_is_taken_literally_outside_code() -> None:
    assert plain(["|s| is max_i, a * b, ``code_`` and `x`"]) == [
        r"\|s\| is max\_i, a \* b, ``code_`` and \`x\`"
    ]


def test_a_formula_on_lines_of_its_own_is_a_literal_block() -> None:
    assert plain(["With t,", "", "    a_1 |b|", "", "    c_2", "", "and x_i."]) == [
        "With t,", "", "::", "", "    a_1 |b|", "", "    c_2", "", r"and x\_i.",
    ]  # fmt: skip


def test_parameters_become_a_list() -> None:
    lines = ["Meaning.", "kernel, search : a name_,", "    or an object.", "prior : none.", "Then."]
    assert plain(lines) == [
        "Meaning.", "", r"* **kernel, search**: a name\_,", "  or an object.", "* **prior**: none.",
        "", "Then.",
    ]  # fmt: skip
