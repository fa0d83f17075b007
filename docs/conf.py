"""How Sphinx builds this folder: ``make docs``."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ipython_pygments_lexers import IPython3Lexer
from sphinx.errors import ExtensionError

import ipytorchseed

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs import tables  # Sphinx executes this file from anywhere

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "ipytorchseed"
author = "The ipytorchseed authors"
project_copyright = author
version = release = ipytorchseed.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build", "conda"]

smartquotes_action = "qe"  # quotes and ellipses: the dashes of `--json` stay two

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

html_theme = "pydata_sphinx_theme"
html_title = "ipytorchseed"
html_static_path = ["_static"]
html_css_files = ["docs.css"]
html_show_sourcelink = False
html_theme_options = {
    "github_url": "https://github.com/ipytorchseed/ipytorchseed",
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {page: [] for page in ("index", "tour", "different")}


def _fill_in(_: Sphinx, __: str, source: list[str]) -> None:
    """Replace each line that names a table with the table."""
    for name, table in tables.TABLES.items():
        line = f"{{{{ {name} }}}}\n"
        if line in source[0]:
            source[0] = source[0].replace(line, table())


def _check_links(app: Sphinx, failure: Exception | None) -> None:
    """Fail if the package links to an anchor that no page has."""
    if failure is None and app.builder.name == "html":
        missing = tables.missing_anchors(Path(app.outdir))
        if missing:
            msg = f"the package links to missing anchors: {', '.join(missing)}"
            raise ExtensionError(msg)


def _document_call(*event: Any) -> None:
    """Document the call of a module that is also a function."""
    *_, value, _, lines = event
    if inspect.ismodule(value) and callable(value):
        lines[:] = inspect.getdoc(type(value).__call__).splitlines()


def setup(app: Sphinx) -> None:
    """Fill in tables, check what the package links to, and colour magics."""
    app.connect("source-read", _fill_in)
    app.connect("autodoc-process-docstring", _document_call, priority=1)  # napoleon's is 500
    app.connect("build-finished", _check_links)
    app.add_lexer("python", IPython3Lexer)
