"""How Sphinx builds the site: `make docs`, then open build/docs/index.html."""

import re
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
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "catalogue",
    "mathml",
    "run_code",
]
exclude_patterns = ["bodies", "_templates", "papers/readings", "sg_execution_times.rst"]
templates_path = ["_templates"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
highlight_language = "none"  # formulas stand in literal blocks; code says what it is
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
# the names of our array types, not what they stand for
autodoc_type_aliases = {
    name: name for name in ("Array", "IntArray", "BoolArray", "ArrayLike", "LengthScale", "Seed")
}
maximum_signature_line_length = 88
numpydoc_show_class_members = False  # the templates list methods, from the source
toc_object_entries = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "run_stale_examples": True,  # the package may have changed
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),  # the card of a model
    "default_thumb_file": str(Path(__file__).parent / "_static" / "decision_boundary.png"),
    "image_srcset": ["2x"],
    "notebook_extensions": set(),
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "furo"
html_title = "svmselect"
html_static_path = ["_static"]
html_extra_path = ["extra"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/versions.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_show_sourcelink = False
html_copy_source = False
copybutton_selector = "div:not(.output) > div.highlight > pre"
copybutton_prompt_text = "$ "


def aliases(_app, _what, _name, _value, _options, signature, returns):
    """Show an alias in a union by its name; autodoc shows the object that stands for it."""
    alias = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
    return tuple(text and alias.sub(r"\1", text) for text in (signature, returns))


def setup(app):
    """Register with Sphinx."""
    app.connect("autodoc-process-signature", aliases)
