"""The sdist and the wheel, and installing them with and without a compiler, in fresh venvs."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
SOLVE = """
import warnings
import numpy as np
from svmselect.kernels import RBF
from svmselect.machine import solve

X = np.random.default_rng(0).normal(size=(40, 2))
y = np.where(X[:, 0] > 0, 1.0, -1.0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for C in (1.0, 2.0):
        solution = solve(RBF(1.0)(X), y, C)
assert np.mean(np.sign(solution.decision) == y) > 0.9
print(len(caught), *(warning.message for warning in caught))
"""


def run(*command: str | Path, **environment: str) -> str:
    """Run a command outside the repository's settings; fail with its output."""
    inherited = {k: v for k, v in os.environ.items() if k != "SVMSELECT_REQUIRE_NATIVE"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env={**inherited, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def fresh_python(folder: Path) -> Path:
    """The interpreter of a new, empty virtual environment."""
    run(sys.executable, "-m", "venv", folder)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel made from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, SVMSELECT_REQUIRE_NATIVE="1")
    return folder


def test_sdist_has_the_sources_and_no_leftovers(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"CMakeLists.txt", "LICENSE", "README.md", "src/svmselect/machine/box_qp.hpp"}
    assert wanted <= names
    assert not [name for name in names if name.startswith((".venv", "build/", "dist/"))]
    assert not [name for name in names if name.endswith((".so", ".pyc"))]


def test_wheel_has_the_extension_and_no_sources(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"svmselect/py.typed", "svmselect/__init__.pyi"} <= set(names)
    assert any(name.startswith("svmselect/machine/_native.") for name in names)
    assert not [name for name in names if name.endswith((".cpp", ".hpp"))]
    assert all(name.startswith(("svmselect/", "svmselect-")) for name in names)


def test_wheel_is_small_and_its_tag_is_that_of_the_extension(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.stat().st_size < 2 * 2**20
    stable = sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED")
    own = f"cp{sys.version_info.major}{sys.version_info.minor}"
    python, abi = wheel.stem.split("-")[2:4]
    assert (python, abi.rstrip("t")) == (("cp312", "abi3") if stable else (own, own))
    files = [Path(name).name for name in zipfile.ZipFile(wheel).namelist()]
    (extension,) = (name for name in files if name.startswith("_native."))
    assert (".abi3." in extension) == stable


def test_wheel_installs_with_its_dependencies(built: Path, tmp_path: Path) -> None:
    """Where there is no compiler, nor anything else."""
    python = fresh_python(tmp_path)
    (wheel,) = built.glob("*.whl")
    run(python, "-m", "pip", "install", "--quiet", wheel, PATH=str(python.parent))
    run(python, "-m", "pip", "check")
    assert "torch" not in run(python, "-m", "pip", "list")
    assert run(python, "-I", "-c", SOLVE).strip() == "0"


def test_installing_without_a_compiler_falls_back_to_numpy(built: Path, tmp_path: Path) -> None:
    python = fresh_python(tmp_path)
    (sdist,) = built.glob("*.tar.gz")
    install = [python, "-m", "pip", "install", "--quiet"]
    run(*install, "numpy", "scipy")
    run(*install, "--no-deps", sdist, CC="/bin/false", CXX="/bin/false")
    probe = "import importlib.util as u; print(u.find_spec('svmselect.machine._native'))"
    assert run(python, "-I", "-c", probe).strip() == "None"
    count, _, message = run(python, "-I", "-c", SOLVE).strip().partition(" ")
    assert count == "1", message
    assert "NumPy" in message
