"""The package as a whole: lazy names, the stub, what importing costs, and one version."""

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import svmselect

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "svmselect"
RECIPE = ROOT / "packaging" / "conda" / "recipe.yaml"
HEAVY = ["sklearn", "pandas", "torch", "matplotlib", "scipy.optimize"]


def loaded_by(statement: str) -> set[str]:
    """The modules loaded after running the statement in a fresh interpreter."""
    code = f"{statement}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", svmselect.__all__)
def test_every_public_name_loads(name: str) -> None:
    assert getattr(svmselect, name) is not None
    assert name in dir(svmselect)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = svmselect.no_such_name


def test_public_names_are_loaded_when_used() -> None:
    assert "svmselect.kernels" not in loaded_by("import svmselect")
    assert "svmselect.kernels" in loaded_by("from svmselect import kernels")


@pytest.mark.parametrize(
    "statement", ["import svmselect", "from svmselect import kernels, machine"]
)
def test_import_loads_nothing_heavy(statement: str) -> None:
    assert not loaded_by(statement) & set(HEAVY)


def test_stub_matches_the_lazy_table() -> None:
    stub = ast.parse((SOURCE / "__init__.pyi").read_text())
    imported = {}
    listed = None
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                assert alias.asname == alias.name, "a stub re-exports with `import x as x`"
                is_module = node.module == "svmselect"
                imported[alias.name] = f"svmselect.{alias.name}" if is_module else node.module
        elif isinstance(node, ast.Assign):
            listed = ast.literal_eval(node.value)
    assert imported == svmselect._LAZY
    assert listed is not None
    assert sorted(listed) == sorted(svmselect.__all__)


def test_package_is_marked_as_typed() -> None:
    assert (SOURCE / "py.typed").exists()


def test_extension_is_built() -> None:
    pytest.importorskip("svmselect.machine._native")


def test_one_version_everywhere() -> None:
    assert importlib.metadata.version("svmselect") == svmselect.__version__
    assert f"\nversion: {svmselect.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## [{svmselect.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f'\n  version: "{svmselect.__version__}"\n' in RECIPE.read_text()


def test_the_recipe_needs_what_the_package_needs() -> None:
    run = RECIPE.read_text().split("  run:\n")[1].split("\n\n")[0]
    lines = [line.removeprefix("    - ").replace("-base ", " ") for line in run.splitlines()]
    found = {line.replace(" ", "") for line in lines} - {"python"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert found == set(project["dependencies"])


def test_workflows_name_actions_by_their_content() -> None:
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert [one.stem for one in workflows] == ["docs", "release", "tests", "wheels"]
    for text in (one.read_text() for one in workflows):
        used = re.findall(r"uses: (\S+)", text)
        assert all(re.search(r"@[0-9a-f]{40}$", one) or one.startswith("./") for one in used)
        assert "\npermissions: {}\n" in text  # each job says what it needs
        assert text.count("persist-credentials: false") == text.count("actions/checkout@")


def test_the_hook_for_types_has_what_the_package_imports() -> None:
    """pre-commit installs it in an environment of its own, beside what mypy need not find."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    unseen = {one.partition(".")[0] for one in project["tool"]["mypy"]["overrides"][0]["module"]}
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    installed = set(re.findall(r'- "([\w-]+)>=', hooks.split("id: mypy")[1]))
    imported = set()
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add((node.module or "").partition(".")[0])
    by_hand = {"IPython", "svmselect"}  # ignored at its import; found by path
    assert imported - sys.stdlib_module_names - by_hand - unseen <= installed


def test_every_requirement_has_a_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    for requirement in [*project["dependencies"], *(one for extra in extras for one in extra)]:
        assert ">=" in requirement or requirement.startswith("svmselect["), requirement


def test_what_the_tests_of_a_wheel_import_is_installed_for_them() -> None:
    """cibuildwheel copies `test-sources` and installs `test-requires` beside the wheel."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheels = pyproject["tool"]["cibuildwheel"]
    requirements = pyproject["project"]["dependencies"] + wheels["test-requires"]
    names = {re.split(r"[<>=]", one)[0] for one in requirements}
    there = names | {"sklearn", "svmselect", "machine", "conftest"} | sys.stdlib_module_names
    ignored = re.findall(r"--ignore (\S+)", wheels["test-command"])
    assert all((ROOT / one).exists() for one in ignored + wheels["test-sources"])
    tests = {one.relative_to(ROOT).as_posix() for one in (ROOT / "tests" / "machine").glob("*.py")}
    assert "test_exact.py" in {Path(one).name for one in tests}
    for file in sorted(tests - set(ignored)):
        for node in ast.walk(ast.parse((ROOT / file).read_text())):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            else:
                modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {one.partition(".")[0] for one in modules} <= there, file
