"""Measures the groups, prints the table, keeps it, and compares it: see `tests/bench --help`."""

import datetime
import importlib
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

from . import measure, table
from .arguments import DOCUMENT, GROUPS, LAST, ROOT, asked

BEGIN, END = "<!-- made by tests/bench --write -->", "<!-- end -->"


def main():
    args = asked()
    warnings.simplefilter("ignore")
    measure.take_one_core()
    begin = datetime.datetime.now(datetime.UTC)
    # Before `--write` and whatever happens in the meantime.
    load, commit = os.getloadavg(), commit_of_tree()
    rows, packages = [], []
    print(table.HEAD, flush=True)
    for group in args.only:
        module = importlib.import_module(f".{group}", __package__)
        packages += module.PACKAGES
        for case in module.cases():
            rows.append(measure.measured(group, case))
            print(rows[-1].line(), flush=True)
    facts = {
        "date": f"{begin:%Y-%m-%dT%H:%M:%SZ}",
        "commit": commit,
        "profile": os.environ.get("MESONET_BENCH_PROFILE", "dist"),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load_before": [round(of, 1) for of in load],
        "load_after": [round(of, 1) for of in os.getloadavg()],
        "versions": versions(packages, args.only),
    }
    print(f"\n{table.summary(rows)}\n\n{told(facts)}\n")
    file = Path(os.environ["CARGO_TARGET_DIR"]) / "bench" / f"{begin:%Y%m%dT%H%M%SZ}.json"
    file.write_text(table.kept(rows, facts), encoding="utf-8")
    print(f"kept as {file}")
    failed = any(row.failed for row in rows)
    if args.against:
        failed |= is_slower(rows, facts, args)
    # What is slower or wrong does not become the next measure.
    if args.write and not failed:
        if set(args.only) != set(GROUPS):
            rows, facts = with_the_others(rows, facts, args.only)
        write(rows, facts)
    sys.exit(1 if failed else 0)


def with_the_others(rows, facts, groups):
    """The last table with groups that were measured again. Other machines, builds and versions need a run of all."""
    earlier, earlier_facts = table.read_kept(LAST)
    if others := table.differing(facts, earlier_facts):
        sys.exit("not written; measure all groups, as these are not those of the last table:\n" + "\n".join(others))
    kept = [row for row in earlier if row.group not in groups]
    rows = sorted([*kept, *rows], key=lambda row: GROUPS.index(row.group))
    again = f"{', '.join(groups)} measured again {facts['date']}, commit {facts['commit']}"
    return rows, earlier_facts | {"versions": earlier_facts["versions"] | facts["versions"], "again": again}


def is_slower(rows, facts, args):
    """Prints the comparison with an earlier run, as far as its groups were run, and whether a ratio fell."""
    old_rows, old_facts = args.against
    compared = table.compare(rows, [row for row in old_rows if row.group in args.only])
    print(f"\nAgainst the table of {old_facts.get('date', 'an unknown date')}:\n{compared.text()}")
    if others := table.differing(facts, old_facts):
        print("Not the same in both, which ratios may differ for:\n" + "\n".join(f"- {line}" for line in others))
    return bool(compared.fell)


def write(rows, facts):
    document = DOCUMENT.read_text(encoding="utf-8")
    before, rest = document.split(BEGIN)
    made = f"{table.table(rows)}\n\n{table.summary(rows)}\n\n{told(facts)}"
    DOCUMENT.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")
    LAST.write_text(table.kept(rows, facts), encoding="utf-8")


# --- when, where and of what --------------------------------------------------------------------


def told(facts):
    """The facts as sentences."""
    loads = (", ".join(map(str, facts[name])) for name in ("load_before", "load_after"))
    text = "{cores} cores ({processor}); load of the machine {} before and {} after. ".format(*loads, **facts)
    text += f"Measured {facts['date']}, commit {facts['commit']}, profile {facts['profile']}. "
    text += f"Of it, {facts['again']}. " if "again" in facts else ""
    text += ", ".join(f"{name} {version}" for name, version in facts["versions"].items()) + "."
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def commit_of_tree():
    command = ["git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=8"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout.strip() or "unknown"


def processor():
    info = Path("/proc/cpuinfo")
    found = info.exists() and re.search(r"model name\s*: (.*)", info.read_text(encoding="utf-8"))
    return found[1] if found else platform.machine()


def versions(packages, groups):
    found = {"mesonet": importlib.metadata.version("mesonet"), "CPython": platform.python_version()}
    found |= {name: importlib.metadata.version(name) for name in packages}
    if "http" in groups:
        found |= program_version("nginx", "-v", r"nginx/(\S+)") | program_version("wrk", "-v", r"wrk (\S+)")
    if "js" in groups:
        found |= program_version("node", "--version", r"v(\S+)")
    return found


def program_version(name, flag, pattern):
    from .http import program

    if not program(name):
        return {}
    done = subprocess.run([program(name), flag], capture_output=True, text=True, check=False, timeout=60)
    version = re.search(pattern, done.stdout + done.stderr)
    return {name: version[1]} if version else {}


if __name__ == "__main__":
    main()
