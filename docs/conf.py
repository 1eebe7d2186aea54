"""How Sphinx builds the site: `make docs`, then open build/docs/index.html."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from svmselect import __version__

(Path(__file__).parent / "extra" / "reports").mkdir(parents=True, exist_ok=True)

project = "svmselect"
author = "the svmselect developers"
copyright = f"{author}. BSD-3-Clause"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "docstrings",
    "mathml",
    "pages",
    "readme",
    "run_code",
]
exclude_patterns = ["bodies"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
toc_object_entries = False

html_theme = "furo"
html_title = "svmselect"
html_static_path = ["_static"]
html_extra_path = ["extra"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
copybutton_selector = "div:not(.output) > div.highlight > pre"
copybutton_prompt_text = "$ "
