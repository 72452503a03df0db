"""Flipped bits, and files that are cut, deleted, zeroed, overwritten or swapped: nothing that was
not stored is ever answered, nothing is silently left out, `verify` names what is damaged, and after
`--set-aside` it is clean and what is left is served."""

import random
import shutil

from answers import answers, is_partial, lies, make_folder
from process import Refused, Server, run

SERVE = ["--now", "live", "--assume-plan", "commercial", "--seal-readings", "5000"]

def flip(path, chance):
    """Flips one bit."""
    content = bytearray(path.read_bytes())
    at, bit = chance.randrange(len(content)), chance.randrange(8)
    content[at] ^= 1 << bit
    path.write_bytes(content)
    return f"bit {bit} of byte {at} of {len(content)}"


def cut(path, chance):
    length = path.stat().st_size
    left = chance.choice([0, length - 1, chance.randrange(length)])
    with open(path, "r+b") as file:
        file.truncate(left)
    return f"cut from {length} to {left} bytes"


def zero(path, chance):
    length = path.stat().st_size
    at = chance.randrange(length)
    count = min(length - at, 4096)
    content = path.read_bytes()
    if not any(content[at:at + count]):
        return None
    path.write_bytes(content[:at] + bytes(count) + content[at + count:])
    return f"{count} zeros at {at} of {length}"


def scramble(path, chance):
    path.write_bytes(chance.randbytes(path.stat().st_size))
    return "overwritten with random bytes"


def delete(path, _):
    path.unlink()
    return "deleted"


def swap(path, chance):
    """Swaps it with another file of its kind."""
    others = [other for other in path.parent.rglob("*")
              if other.is_file() and other != path and other.suffix == path.suffix
              and other.stat().st_size]
    others = [other for other in others if other.read_bytes() != path.read_bytes()]
    if not others:
        return None
    other = chance.choice(sorted(others))
    mine, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs)
    other.write_bytes(mine)
    return f"exchanged with {other.name}"


HARMS = [cut, zero, scramble, delete, swap]

NAMES = {"cut": "a file cut short", "zero": "a page of zeros", "scramble": "random bytes",
         "delete": "a file deleted", "swap": "two files exchanged"}


def tree(folder):
    """Returns every file of a folder with its content, except those SQLite makes for readers."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.endswith("-shm") and path.stat().st_size}


class Campaign:
    """Damages copies of one folder."""

    def __init__(self, work, seed):
        self.work, self.chance = work, random.Random(seed)
        self.origin = work / "origin"
        self.origin.mkdir()
        make_folder(self.origin / "data")
        self.serve = [*SERVE, "--products", self.origin / "products.toml"]
        # A copy is served here, so that the files damaged later are those that a killed server
        # left.
        with Server(self.copy("whole"), *self.serve) as server:
            self.whole = answers(server)
        assert all(status == 200 for status, *_ in self.whole["questions"].values()), [
            (question, status) for question, (status, *_) in self.whole["questions"].items()]
        self.files = [path.relative_to(self.origin / "data")
                      for path in sorted((self.origin / "data").rglob("*"))
                      if path.is_file() and path.stat().st_size]
    def copy(self, name):
        target = self.work / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.origin / "data", target)
        return target

    def pick(self):
        """Picks a file: each equally likely, or by its length."""
        if self.chance.random() < 0.5:
            return self.chance.choice(self.files)
        lengths = [(self.origin / "data" / file).stat().st_size for file in self.files]
        return self.chance.choices(self.files, lengths)[0]

    def trial(self, harm, file):
        """Damages one file: (what was done, how it was handled, what is wrong), or None if
        the harm does not apply to the file."""
        harmed = self.copy("harmed")
        what = harm(harmed / file, self.chance)
        if what is None:
            return None
        wrong = []
        before = tree(harmed)
        code, out, error = run("verify", "--data", harmed)
        named = code != 0
        if "panicked" in error:
            wrong.append(f"verify panicked: {error}")
        if tree(harmed) != before:
            wrong.append("verify changed the folder")

        served = self.work / "served"
        shutil.rmtree(served, ignore_errors=True)
        shutil.copytree(harmed, served)
        found = self.answers(served, wrong, "damaged")
        outcome = "refused to start"
        if found:
            wrong += lies(self.whole, found)
            outcome = "partial" if is_partial(self.whole, found) else "whole"
        # Nothing else says which products should exist.
        unlisted = harm is delete and file.parts[0] == "products"
        if not named and outcome != "whole" and not unlisted:
            wrong.append(f"verify found nothing; the server: {outcome}")

        if named:
            wrong += self.mend(harmed)
        return f"{file}: {what}", outcome, wrong

    def mend(self, folder):
        """Sets aside what is damaged, rebuilds the catalogue if that is the remedy, and checks
        whether the rest is served."""
        wrong = []
        _, out, error = run("verify", "--data", folder, "--set-aside")
        if "--rebuild" in out + error:
            run("verify", "--data", folder, "--rebuild")
            run("verify", "--data", folder, "--set-aside")
        code, again, more = run("verify", "--data", folder)
        if code != 0:
            wrong.append(f"after --set-aside verify still says: {again}{more}\nbefore: {out}{error}")
        found = self.answers(folder, wrong, "set aside")
        if found:
            wrong += [f"set aside: {lie}" for lie in lies(self.whole, found, may_lack=True)]
        else:
            wrong.append("set aside: the server does not start")
        return wrong

    def answers(self, folder, wrong, when):
        try:
            with Server(folder, *self.serve) as server:
                found = answers(server)
                if not server.is_running():
                    wrong.append(f"{when}: the server ended: {''.join(server.log)}")
                if any("panicked" in line for line in server.log):
                    wrong.append(f"{when}: a panic: {''.join(server.log)}")
                return found
        except Refused as refused:
            if "error: " not in str(refused) or "panicked" in str(refused):
                wrong.append(f"{when}: it did not start and said: {refused}")
            return None


def check(work, report, flips, harms, seed):
    """Flips `flips` bits, and does each other kind of damage `harms` times to each file (to a
    fraction of the files if below 1)."""
    campaign = Campaign(work, seed)
    for number in range(flips):
        report.trial("a flipped bit", number, campaign.trial(flip, campaign.pick()))
    for harm in HARMS:
        for round in range(max(1, int(harms))):
            files = campaign.files
            if harms < 1:
                files = campaign.chance.sample(files, max(1, int(len(files) * harms)))
            for file in files:
                trial = campaign.trial(harm, file)
                if trial:
                    report.trial(NAMES[harm.__name__], f"{file} {round}", trial)
