"""The pages of docs/papers: `papers.py` writes them anew, from docs/papers/results.

`papers.py page PAPER` writes one.

`papers.py keep PAPER FOLDER` first takes over the trials that `svmselect reproduce` left in FOLDER.
`papers.py more PAPER CELLS TRIALS SECONDS [DATA]` first goes on with the kept trials: of cells
whose names match CELLS ("heart/.*"), up to TRIALS each, beginning none after SECONDS.
"""

import sys
from pathlib import Path

from svmselect.experiments import available
from svmselect.experiments.reproduction.journal import TrialFile
from svmselect.experiments.reproduction.kept import keep, kept_result
from svmselect.experiments.reproduction.more import more

PAPERS = Path(__file__).parents[1] / "docs" / "papers"
PICTURES_ONLY = ("X", "y", "curve", "points", "gradients")


def page(name: str) -> str:
    """A paper's page: numbers from the kept results, and our reading of them."""
    result = kept_result(available()[name], PAPERS / "results")
    return result.markdown((PAPERS / "readings" / f"{name}.md").read_text())


def main(arguments: list[str]) -> None:
    """Keep trials if asked to, then write the pages."""
    if arguments[:1] == ["more"]:
        name, cells, trials, seconds = arguments[1:5]
        data = Path(arguments[5]) if len(arguments) > 5 else None
        path = PAPERS / "results" / f"{name}.csv.gz"
        done, left = more(
            available()[name], path, cells, int(trials), float(seconds), data, PICTURES_ONLY
        )
        print(f"{done} trials done, {left} to do")
    elif arguments[:1] == ["keep"]:
        _, name, folder = arguments
        file = TrialFile(Path(folder) / "trials.jsonl", name, [], resume=True)
        keep(file.known.values(), PAPERS / "results" / f"{name}.csv.gz", PICTURES_ONLY)
    for name in arguments[1:2] or available():
        if (PAPERS / "results" / f"{name}.csv.gz").exists():
            (PAPERS / f"{name}.md").write_text(page(name))


if __name__ == "__main__":
    main(sys.argv[1:])
