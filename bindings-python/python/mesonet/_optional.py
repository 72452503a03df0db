"""Packages that only some functions need."""

import importlib
from typing import Any


def need(module: str, what: str, package: str | None = None) -> Any:
    """Imports a module of another package. The error says what needs it and how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        install = package or module.partition(".")[0]
        raise ImportError(f"{what} needs {module}: pip install {install!r}", name=module) from error
