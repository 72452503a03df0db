"""The directive `commands`: what a program says of its commands. The program of the server is that of
`MESONET_SERVER_BIN`, or the debug build."""

import os
import subprocess
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]


def server():
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return Path(os.environ.get("MESONET_SERVER_BIN", target / "debug" / "mesonet-server"))


def printed_by(*arguments):
    """What the server prints for a command line, without blanks at the ends of lines."""
    try:
        done = subprocess.run([server(), *arguments], capture_output=True, text=True, check=True, timeout=60)
    except FileNotFoundError:
        raise ExtensionError(f"there is no {server()}; build it with: cargo build -p mesonet-server") from None
    return "\n".join(line.rstrip() for line in done.stdout.splitlines())


def subcommands(text):
    """The names of the commands that a help text lists."""
    lines = text.partition("\nCommands:\n")[2].split("\n\n", 1)[0].splitlines()
    found = [line.split(maxsplit=1) for line in lines if line.startswith("  ") and line[2:3] != " "]
    return [name for name, _ in found if name != "help"]


class Commands(SphinxDirective):
    """Lists every command of the server with its flags."""

    def run(self):
        sections = []
        for name in subcommands(printed_by("help")):
            section = nodes.section(ids=[nodes.make_id(f"command-{name}")], names=[f"command-{name}"])
            section += nodes.title("", name)
            text = printed_by("help", name)
            section += nodes.literal_block(text, text, language="text")
            for inner in subcommands(text):
                text = printed_by("help", name, inner)
                part = nodes.section(ids=[nodes.make_id(f"command-{name}-{inner}")], names=[f"{name}-{inner}"])
                part += nodes.title("", f"{name} {inner}")
                part += nodes.literal_block(text, text, language="text")
                section += part
            sections.append(section)
        return sections


def setup(app):
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
