"""The site of all documents: `sphinx-build -W docs OUT`. It needs no network, and neither do its pages."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_site"))

import mesonet
import mesonet.pandas
import mesonet.xarray  # noqa: F401  (as autodoc finds them)

project = "mesonet"
author = copyright = "The mesonet developers"
version = release = mesonet.__version__
exclude_patterns = ["recipes/images/**", "_site/**"]
extensions = [
    "sphinx.ext.autodoc", "sphinx.ext.viewcode", "myst_nb",
    "commands", "endpoints", "references", "repository", "ufuncs",
]  # fmt: skip
html_theme = "furo"
html_title = f"mesonet {release}"
html_static_path = []
html_copy_source = False
myst_heading_anchors = 4
# The notebooks run whenever the site is built, and a failure is one of the site.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": False}
