"""The findings of a campaign."""

import collections
import sys


class Report:
    """Counts trials by harm and outcome, and names what went wrong."""

    def __init__(self):
        self.outcomes = collections.defaultdict(collections.Counter)
        self.failed, self.skipped, self.notes = [], [], []
        self.passed = 0

    def trial(self, harm, name, result):
        """Adds a trial: what was done, how it was handled, what is wrong."""
        what, outcome, wrong = result
        self.outcomes[harm][outcome] += 1
        if wrong:
            self.failed.append((harm, name, what, wrong))
            print(f"FAILED {harm} {name}: {what}", *wrong, sep="\n    ", file=sys.stderr,
                  flush=True)
        else:
            self.passed += 1

    def skip(self, harm, reason):
        self.skipped.append((harm, reason))

    def note(self, text):
        self.notes.append(text)

    def print(self):
        """Prints the table, and a closing line that sums it up."""
        print("\n| Harm | Trials | How it was met |\n| --- | --- | --- |")
        for harm, outcomes in self.outcomes.items():
            met = ", ".join(f"{outcome}: {count}" for outcome, count in sorted(outcomes.items()))
            print(f"| {harm} | {sum(outcomes.values())} | {met} |")
        for note in self.notes:
            print(note)
        for harm, reason in self.skipped:
            print(f"skipped: {harm}: {reason}")
        print(f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped")
