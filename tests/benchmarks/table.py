"""The rows of a run: how they are shown, kept, and compared with those of an earlier run."""

import json
from dataclasses import asdict, dataclass, fields

# The version of the form of a kept table.
FORM = 1
# A ratio may be so much smaller than in the earlier run.
MOST_FALL = 0.15
HEAD = (
    "| What | Size | Beside | mesonet | the other | Ratio | Aim | Agreement |\n"
    "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |"
)


@dataclass(frozen=True)
class Row:
    """One comparison: measured, skipped for a reason, or failed because the results do not agree.

    A row without a peer has a time or an amount of memory of ours, and an aim.
    """

    group: str
    what: str
    size: str
    peer: str
    ours_us: float | None = None
    other_us: float | None = None
    # How often the time of ours fits into that of the other.
    ratio: float | None = None
    # The least ratio, or the most time of ours, that we want to reach.
    aim: float | None = None
    aim_us: float | None = None
    ours_mb: float | None = None
    aim_mb: float | None = None
    agreement: str = ""
    rounds: int = 0
    skipped: str = ""
    failed: str = ""

    @property
    def key(self):
        return self.what, self.size, self.peer

    @property
    def name(self):
        beside = self.peer and f"beside {self.peer}"
        return ", ".join(part for part in (self.what, self.size, beside) if part)

    @property
    def is_measured(self):
        return self.ours_us is not None or self.ours_mb is not None

    @property
    def is_reached(self):
        """Whether the aim is reached; None without an aim or a measurement."""
        if not self.is_measured:
            return None
        if self.aim is not None:
            return self.ratio >= self.aim
        if self.aim_us is not None:
            return self.ours_us <= self.aim_us
        return None if self.aim_mb is None else self.ours_mb <= self.aim_mb

    @property
    def aim_text(self):
        if self.aim_us is not None:
            return f"≤ {duration(self.aim_us, whole=True)}"
        if self.aim_mb is not None:
            return f"≤ {self.aim_mb:g} MB"
        return "" if self.aim is None else f"≥ {self.aim:g}×"

    @property
    def ours_text(self):
        return duration(self.ours_us) if self.ours_mb is None else f"{self.ours_mb:.0f} MB"

    def line(self):
        times = (self.ours_text, duration(self.other_us), times_text(self.ratio))
        if not self.is_measured:
            times = ("", "", "failed" if self.failed else "skipped")
        cells = (self.what, self.size, self.peer, *times, self.aim_text)
        return f"| {' | '.join(cells)} | {self.agreement or self.failed or self.skipped} |"


def duration(us, *, whole=False):
    """A time in the unit that suits it; a whole one as it is, such as 12 µs."""
    if us is None:
        return ""
    if us < 1_000:
        return f"{us:g} µs" if whole else f"{us:.1f} µs"
    if whole:
        return f"{us / 1e3:g} ms"
    return f"{us / 1e3:,.2f} ms" if us < 1e7 else f"{us / 1e6:,.1f} s"


def times_text(ratio):
    if ratio is None:
        return ""
    digits = 2 if ratio < 10 else 1 if ratio < 100 else 0
    return f"{ratio:.{digits}f}×"


def table(rows):
    return "\n".join([HEAD, *(row.line() for row in rows)])


def summary(rows):
    """A list of what was not reached, was skipped or failed; it begins with how many aims were reached."""
    aims = [row for row in rows if row.is_reached is not None]
    lines = [f"{sum(row.is_reached for row in aims)} of {len(aims)} measured aims are reached."]
    missed = [row for row in aims if not row.is_reached]
    for title, chosen, said in (
        ("Not reached", missed, lambda row: f"{reached_text(row)}, aim {row.aim_text}"),
        ("Skipped", [row for row in rows if row.skipped], lambda row: row.skipped),
        ("Failed", [row for row in rows if row.failed], lambda row: row.failed),
    ):
        if chosen:
            lines += ["", f"{title}:", "", *(f"- {row.name}: {said(row)}" for row in chosen)]
    return "\n".join(lines)


def reached_text(row):
    return row.ours_text if row.aim is None else times_text(row.ratio)


# --- kept tables ------------------------------------------------------------------------------


class KeptTableError(Exception):
    """A file that is not a kept table."""


def kept(rows, facts):
    """The text of a kept table. `facts` say when, where and of what it was made."""
    return (
        json.dumps({"form": FORM, **facts, "rows": [asdict(row) for row in rows]}, indent=1, ensure_ascii=False) + "\n"
    )


def read_kept(path):
    """The rows and facts of a kept table."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise KeptTableError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise KeptTableError(f"{path} is not a text of UTF-8") from error
    except json.JSONDecodeError as error:
        raise KeptTableError(f"{path} is not JSON: {error}") from error
    if not isinstance(content, dict) or "form" not in content:
        raise KeptTableError(f"{path} is not a table of tests/bench: it has no form")
    if content["form"] != FORM:
        raise KeptTableError(f"{path} has form {content['form']!r}; allowed is {FORM}")
    if not isinstance(content.get("versions", {}), dict):
        raise KeptTableError(f"{path}: versions is not an object")
    rows = content.get("rows")
    if not isinstance(rows, list) or not rows:
        raise KeptTableError(f"{path} has no rows")
    read = [row_of(path, number, row) for number, row in enumerate(rows, 1)]
    if len({row.key for row in read}) < len(read):
        raise KeptTableError(f"{path} has a row twice")
    return read, {name: value for name, value in content.items() if name not in ("form", "rows")}


def row_of(path, number, row):
    if not isinstance(row, dict):
        raise KeptTableError(f"{path}, row {number}: not an object")
    texts = {name: row.get(name) for name in ("group", "what", "size", "peer")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise KeptTableError(f"{path}, row {number}: {name} is {text!r}; it must be a text")
    alone = ("ours_us",) if row.get("ours_mb") is None else ("ours_mb",)
    measured = {name: row.get(name) for name in (("ours_us", "other_us", "ratio") if texts["peer"] else alone)}
    for name, value in measured.items() if any(of is not None for of in measured.values()) else ():
        # A bool is an int, infinity and NaN are floats.
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
            raise KeptTableError(f"{path}, row {number}: {name} is {value!r}; it must be a number above 0")
    return Row(**{field.name: row[field.name] for field in fields(Row) if field.name in row})


# --- comparing --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """What became of the rows of an earlier run; each is a list of lines."""

    fell: list[str]
    not_run: list[str]
    new: list[str]

    def text(self):
        titles = {f"Fell by more than {MOST_FALL:.0%}": self.fell, "Not run": self.not_run, "New": self.new}
        lines = [f"{title}:\n" + "\n".join(f"- {line}" for line in of) for title, of in titles.items() if of]
        return "\n".join(lines) or f"No ratio fell by more than {MOST_FALL:.0%}."


def compare(rows, earlier):
    """Compares ratios by what, size and peer. Rows that either run did not measure do not count."""
    before = {row.key: row for row in earlier if row.ratio is not None}
    now = {row.key: row for row in rows}
    fell, not_run = [], []
    for key, old in before.items():
        row = now.get(key)
        if row is None or row.ratio is None:
            why = (row and (row.skipped or row.failed)) or "there is no such row"
            not_run.append(f"{old.name}: {why}")
        elif row.ratio < old.ratio * (1 - MOST_FALL):
            fall = 1 - row.ratio / old.ratio
            fell.append(f"{old.name}: {times_text(row.ratio)}, was {times_text(old.ratio)} ({fall:.0%} less)")
    new = [row.name for row in rows if row.ratio is not None and row.key not in before]
    return Comparison(fell, not_run, new)


def differing(facts, earlier):
    """What else than the rows differs, such as the versions of the peers: ratios may differ for it."""
    lines = []
    for name in ("processor", "profile"):
        if facts.get(name) != earlier.get(name):
            lines.append(f"{name}: {facts.get(name)}, was {earlier.get(name)}")
    now, before = facts.get("versions", {}), earlier.get("versions", {})
    # What only one of them has belongs to groups that the other did not run.
    for name in sorted(now.keys() & before.keys()):
        if now[name] != before[name]:
            lines.append(f"{name}: {now[name]}, was {before[name]}")
    return lines
