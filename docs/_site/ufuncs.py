"""A NumPy ufunc is documented as the function that it is to users."""

import mesonet
import numpy as np
from sphinx.ext import autodoc


class UfuncDocumenter(autodoc.FunctionDocumenter):
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
    return {"parallel_read_safe": True}
