"""The sites of several versions side by side."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.browsing import seen_in_browser, served

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "publish_docs.py"


def publish(folder: Path, ref: str, page: str = "") -> Path:
    """Publish a site of one page."""
    site, pages = folder / "site", folder / "pages"
    for one in (site / "guide", site / "_static", pages):
        one.mkdir(parents=True, exist_ok=True)
    for name in ("index.html", "guide/start.html"):
        root = "../" * name.count("/") or "./"
        (site / name).write_text(page.replace("ROOT", root) or f"of {ref}")
    shutil.copy(ROOT / "docs" / "_static" / "versions.js", site / "_static")
    command = [sys.executable, str(TOOL), str(site), str(pages), ref]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return pages


def test_each_version_has_its_folder_and_the_newest_release_comes_first(tmp_path: Path) -> None:
    publish(tmp_path, "main")
    assert 'url=dev/"' in (tmp_path / "pages" / "index.html").read_text()
    for tag in ("v0.9.0", "v0.10.0", "v0.9.1"):
        pages = publish(tmp_path, tag)
    assert json.loads((pages / "versions.json").read_text()) == ["0.10", "0.9", "dev"]
    assert (pages / "0.9" / "guide" / "start.html").read_text() == "of v0.9.1"
    assert (pages / "dev" / "index.html").read_text() == "of main"
    assert 'url=0.10/"' in (pages / "index.html").read_text()


def test_other_branches_are_not_published(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(TOOL), "a", str(tmp_path), "fix/1"])
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.browser
def test_a_page_lists_the_versions(tmp_path: Path) -> None:
    page = '<html data-content_root="ROOT"><script src="ROOT_static/versions.js"></script><body>'
    page += (ROOT / "docs" / "_templates" / "sidebar" / "versions.html").read_text()
    for ref in ("v0.1.0", "main"):
        pages = publish(tmp_path, ref, page)
    with served(pages) as at:
        found = seen_in_browser(f"{at}/dev/guide/start.html")
        assert re.findall(r'<option value="([^"]+)"', found) == ["0.1", "dev"]
        assert re.search(r'<div class="sidebar-versions">', found)  # no longer hidden
    with served(pages / "dev") as at:  # by itself
        assert "<option" not in seen_in_browser(f"{at}/index.html")
