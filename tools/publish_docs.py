"""Put a built site among the sites of other versions: `publish_docs.py SITE PAGES REF`.

PAGES has a folder for each version: "dev" for the branch main, "0.1" for the tags v0.1.0, v0.1.1
and so on. It gets `versions.json`, from which the pages draw their list of versions, and a first
page that leads to the newest release.
"""

import json
import re
import shutil
import sys
from pathlib import Path

DEV = "dev"
REDIRECT = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={0}/">
<title>svmselect</title>
<a href="{0}/">svmselect {0}</a>
"""


def folder_of(ref: str) -> str:
    """The folder of a branch or tag."""
    found = re.fullmatch(r"v(\d+\.\d+)\..+", ref)
    if ref != "main" and found is None:
        raise SystemExit(f"{ref} is neither main nor a tag as v1.2.3")
    return DEV if found is None else found.group(1)


def versions(pages: Path) -> list[str]:
    """Those that are there, the newest release first, "dev" last."""
    releases = [one.name for one in pages.iterdir() if re.fullmatch(r"\d+\.\d+", one.name)]
    releases.sort(key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    return [*releases, *([DEV] if (pages / DEV).is_dir() else [])]


def publish(site: Path, pages: Path, ref: str) -> None:
    """Replace the folder of this version, and write what leads to all of them."""
    target = pages / folder_of(ref)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(site, target)
    known = versions(pages)
    (pages / "versions.json").write_text(json.dumps(known) + "\n")
    (pages / "index.html").write_text(REDIRECT.format(known[0]))
    (pages / ".nojekyll").touch()  # folders that begin with an underscore are served too


if __name__ == "__main__":
    publish(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
