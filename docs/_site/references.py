"""The directive `reference`: a link to a reference that another program makes, where the site has it.

Its argument is the address in the site, its content the text of the link. `docs/build` makes the references and puts
them beside the pages; a site that is built without them has no such link.
"""

from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class Reference(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self):
        address = self.arguments[0]
        if not any((Path(folder) / address).exists() for folder in self.config.html_extra_path):
            return []
        up = "../" * self.env.docname.count("/")
        text = " ".join(self.content)
        return [nodes.paragraph("", "", nodes.reference("", text, refuri=up + address))]


def setup(app):
    app.add_directive("reference", Reference)
    return {"parallel_read_safe": True}
