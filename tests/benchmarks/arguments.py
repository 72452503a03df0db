"""What `tests/bench` is asked for. Run as a program, it only checks that: nothing needs to be installed for it."""

import argparse
import sys
from pathlib import Path

from . import table

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "performance.md"
# What the next release is compared with.
LAST = Path(__file__).parent / "last.json"
GROUPS = ("http", "arrays", "grib", "metar", "js", "alone")


def asked():
    """The arguments; `against` is the table that the file has, its rows and facts, or None."""
    parser = argparse.ArgumentParser(prog="tests/bench", description="Ours, the peers and the limit side by side.")
    parser.add_argument(
        "--only", nargs="+", choices=GROUPS, default=GROUPS, metavar="GROUP", help=f"some of {', '.join(GROUPS)}"
    )
    parser.add_argument(
        "--against", type=kept_table, metavar="FILE", help="a kept table; fails if a ratio fell by more than 15 %%"
    )
    written = " and ".join(str(path.relative_to(ROOT)) for path in (DOCUMENT, LAST))
    parser.add_argument(
        "--write",
        action="store_true",
        help=f"writes {written}; with --only, the rest stays, if it is of the same machine",
    )
    return parser.parse_args()


def kept_table(name):
    try:
        return table.read_kept(Path(name))
    except table.KeptTableError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


if __name__ == "__main__":
    asked()
    sys.exit(0)
