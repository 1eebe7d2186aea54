"""The site builds without a warning, hangs together, and needs no network."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from docs.browsing import seen_in_browser, served
from public_names import PUBLIC, exported
from svmselect import criteria, kernels, search

ROOT = Path(__file__).parents[2]
MADE = ("criteria", "kernels", "searches", "gallery", "figures", "extra", "__pycache__")
GENERATED = ROOT / "docs" / "reference" / "generated"

pytestmark = pytest.mark.slow


@dataclass
class Seen(HTMLParser):
    """What a page links to, loads and defines."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    blind: list[str] = field(default_factory=list)
    formulas: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if "id" in has:
            self.ids.add(has["id"])
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
        if tag in ("script", "img", "iframe", "source") and "src" in has:
            self.loads.append(has["src"])
        if tag == "link" and "stylesheet" in has.get("rel", ""):
            self.loads.append(has["href"])
        if tag == "img" and "alt" not in has:
            self.blind.append(has["src"])
        self.formulas += tag == "math"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    clone = tmp_path_factory.mktemp("clone")
    top = ROOT / "docs"
    shutil.copytree(
        top,
        clone / "docs",
        ignore=lambda folder, names: [
            n for n in names if (Path(folder) == top and n in MADE) or Path(folder, n) == GENERATED
        ],
    )
    shutil.copytree(ROOT / "examples", clone / "examples")
    for name in ("README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, clone)
    out = clone / "site"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", str(clone / "doctrees"), str(clone / "docs"), str(out)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": ""},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Seen]:
    read = {}
    for path in site.rglob("*.html"):
        seen = Seen()
        seen.feed(path.read_text())
        read[path] = seen
    return read


def test_every_criterion_kernel_and_search_has_a_page(site: Path) -> None:
    for folder, names in (
        ("criteria", criteria.available()),
        ("kernels", kernels.available()),
        ("searches", search.available()),
    ):
        for name in names:
            assert (site / folder / f"{name}.html").exists(), name


def test_every_public_name_has_a_place(site: Path) -> None:
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    known = {name for kind in inventory.data.values() for name in kind}
    for package in PUBLIC:
        for name, value in exported(package).items():
            if inspect.isclass(value) or inspect.isfunction(value):
                places = {f"{package}.{name}", f"{value.__module__}.{value.__qualname__}"}
                assert places & known, f"{package}.{name}"


def test_signatures_have_types(site: Path) -> None:
    text = (site / "reference" / "generated" / "svmselect.machine.solve.html").read_text()
    signature = re.sub(r"<[^>]+>", "", text[text.index("<dt class") : text.index("</dt>")])
    assert "fit_intercept: bool = True" in signature
    assert "weights: ArrayLike | None = None" in signature


def test_the_gallery_shows_pictures_outputs_and_code(site: Path, pages: dict[Path, Seen]) -> None:
    index = (site / "gallery" / "index.html").read_text()
    for script in sorted((ROOT / "examples").glob("*.py")):
        path = site / "gallery" / f"{script.stem}.html"
        title = script.read_text().splitlines()[1]
        text = path.read_text()
        assert title.replace("'", "&#39;") in text.replace("’", "&#39;")
        assert f'href="{script.stem}.html"' in index
        assert "sphx-glr-script-out" in text
        drawn = [load for load in pages[path].loads if "sphx_glr" in load]
        assert bool(drawn) == ("matplotlib" in script.read_text())


def test_links_resolve(pages: dict[Path, Seen]) -> None:
    broken = []
    for path, seen in pages.items():
        for link in [*seen.links, *seen.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = target in pages and parts.fragment in {"", *pages[target].ids}
            if not (known if target.suffix == ".html" else target.exists()):
                broken.append(f"{path.name}: {link}")
    assert not broken


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Seen]) -> None:
    assert not [load for seen in pages.values() for load in seen.loads if urlsplit(load).netloc]


def test_every_page_can_be_reached(site: Path, pages: dict[Path, Seen]) -> None:
    found, ahead = set(), [site / "index.html"]
    while ahead:
        path = ahead.pop()
        if path in found or path not in pages:
            continue
        found.add(path)
        ahead += [(path.parent / urlsplit(link).path).resolve() for link in pages[path].links]
    assert set(pages) - found <= {site / "search.html"}


@pytest.mark.browser
def test_the_search_finds(site: Path) -> None:
    with served(site) as at:
        for word, page in (("gacv", "criteria/gacv.html"), ("trace", "reference/generated/")):
            found = seen_in_browser(f"{at}/search.html?q={word}")
            results = found[found.index('id="search-results"') :]
            assert re.search(rf'<a href="{page}[^"]*"', results), word


def test_what_is_new_can_be_reached(pages: dict[Path, Seen], site: Path) -> None:
    assert "whats_new.html" in pages[site / "index.html"].links
    assert "unreleased" in (site / "whats_new.html").read_text()


def test_pictures_have_words_and_formulas_are_drawn(site: Path, pages: dict[Path, Seen]) -> None:
    assert not [name for seen in pages.values() for name in seen.blind]
    assert all(pages[site / "criteria" / f"{n}.html"].formulas for n in criteria.available())


def test_the_gallery_begins_with_a_tour_that_shows_the_card(site: Path) -> None:
    index = (site / "gallery" / "index.html").read_text()
    assert min(index.index(f"{s.stem}.html") for s in (ROOT / "examples").glob("*.py")) == (
        index.index("a_tour.html")
    )
    text = (site / "gallery" / "a_tour.html").read_text()
    assert "top inputs" in text or "all are weighed alike" in text


def test_outputs_stand_below_the_code(site: Path) -> None:
    text = (site / "guide" / "start.html").read_text()
    assert "Expected error of new rows" in text
    assert "StandardScaler" in text
