"""How long importing takes, as a ratio to `import numpy, scipy.linalg`; the target is 1.5."""

import statistics
import subprocess
import sys
import time

REPEATS = 15
BASELINE = "import numpy, scipy.linalg"
STATEMENTS = [BASELINE, "import svmselect", "from svmselect import kernels, machine"]


def seconds(statement: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def main() -> None:
    startup = statistics.median(seconds("pass") for _ in range(REPEATS))
    times: dict[str, list[float]] = {statement: [] for statement in STATEMENTS}
    for statement in STATEMENTS:
        seconds(statement)  # fill the file cache
    for _ in range(REPEATS):  # in turn, so that all meet the same machine
        for statement in STATEMENTS:
            times[statement].append(seconds(statement) - startup)
    baseline = statistics.median(times[BASELINE])
    print(f"{'statement':40} {'ms':>6} {'ratio':>6}   (median of {REPEATS}, start-up taken off)")
    for statement in STATEMENTS:
        median = statistics.median(times[statement])
        print(f"{statement:40} {1000 * median:6.0f} {median / baseline:6.2f}")


if __name__ == "__main__":
    main()
