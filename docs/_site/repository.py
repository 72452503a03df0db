"""Links of documents to files of the repository, which are not part of the site.

On a page of the repository such a link opens the file. On the site it opens the file where the package
says that its repository is. A link to a file that does not exist is an error.
"""

import os
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

ROOT = Path(__file__).parents[2]
LOGGER = logging.getLogger(__name__)


def repository():
    """The address of the repository."""
    urls = dict(line.split(", ", 1) for line in metadata.metadata("mesonet").get_all("Project-URL"))
    return urls["Repository"].rstrip("/")


class RepositoryLinks(SphinxPostTransform):
    """Before the links of MyST are resolved, which knows the documents only."""

    default_priority = 5

    def run(self):
        for node in list(self.document.findall(nodes.Element)):
            target = node.get("reftarget")
            if node.tagname != "pending_xref" or node.get("reftype") != "myst" or not target:
                continue
            parts = urlsplit(target)
            if parts.scheme or not parts.path:
                continue
            # MyST names a document from the root of the site, without its ending.
            document = Path(self.env.doc2path(self.env.docname))
            folder = ROOT / "docs" if node.get("refdomain") == "doc" else document.parent
            path = Path(os.path.normpath(folder / parts.path))
            path = next((one for one in (path, Path(f"{path}.md"), Path(f"{path}.rst")) if one.exists()), path)
            if path.suffix in (".md", ".rst") and path.is_relative_to(ROOT / "docs") or not path.is_relative_to(ROOT):
                continue
            if not path.exists():
                LOGGER.warning("there is no file %s", path.relative_to(ROOT), location=node)
                continue
            kind = "tree" if path.is_dir() else "blob"
            address = f"{repository()}/{kind}/main/{path.relative_to(ROOT).as_posix()}"
            link = nodes.reference("", "", *node.children, refuri=address, internal=False)
            node.replace_self(link)


def setup(app):
    app.add_post_transform(RepositoryLinks)
    return {"parallel_read_safe": True}
