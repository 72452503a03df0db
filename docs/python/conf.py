"""The site of the Python package: `sphinx-build -W -c docs/python docs OUT`. It needs no network."""

import mesonet
import mesonet.pandas
import mesonet.xarray  # noqa: F401  (as autodoc finds them)
import numpy as np
from sphinx.ext import autodoc

project = "mesonet"
author = copyright = "The mesonet developers"
version = release = mesonet.__version__
root_doc = "python/index"
include_patterns = ["python/**", "recipes/**", "engines/**", "performance.md", "scale.md", "operate/archive-queries.md", "operate/engines.md"]
exclude_patterns = ["recipes/images/**"]
extensions = ["sphinx.ext.autodoc", "sphinx.ext.viewcode", "myst_parser"]
html_theme = "alabaster"
html_theme_options = {"description": "Surface weather in Python", "page_width": "1080px"}
html_static_path = []
myst_heading_anchors = 3
# These leave the site for the repository.
suppress_warnings = ["myst.xref_missing"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": False}


class UfuncDocumenter(autodoc.FunctionDocumenter):
    """A NumPy ufunc is documented as the function that it is to users."""

    objtype = "ufunc"
    directivetype = "function"
    priority = autodoc.FunctionDocumenter.priority + 10

    @classmethod
    def can_document_member(cls, member, membername, isattr, parent):
        return isinstance(member, (np.ufunc, mesonet.UnitFunction))

    def format_args(self, **options):
        names = {1: "(x, /, **ufunc)", 2: "(x1, x2, /, **ufunc)"}
        return names.get(self.object.nin, "(*x, **ufunc)")


def setup(app):
    app.add_autodocumenter(UfuncDocumenter)
