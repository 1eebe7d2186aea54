"""Figures have words for those who do not see them."""

import sys

from figures import open_figures, words


def test_figures_are_described_and_closed() -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    _, ax = pyplot.subplots()
    ax.set(title="A\nline", xlabel="here", ylabel="there")
    assert [words(figure) for figure in open_figures()] == ["A line; there against here"]
    assert sys.modules["matplotlib.pyplot"].get_fignums() == []
