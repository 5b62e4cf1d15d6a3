"""Compares the results of two runs file by file; see scripts/pg-suite."""

import argparse
import collections
import pathlib
import sys

from pg_suite import allowed, outputs, plans

REPORTS = {"plan": "plans", "order": "orders", "result": "results", "allowed": "allowed"}


def describe(name, difference):
    """One difference as text for a report."""
    stock, loom = outputs.changed(difference.stock, difference.loom)
    lines = [f"-- {name}, line {difference.line}", difference.statement]
    lines += ["< " + line for line in stock]
    lines += ["> " + line for line in loom]
    return "\n".join(lines) + "\n"


class Sorter:
    """Takes differences and sorts them by kind, those of plans also by class."""

    def __init__(self):
        self.found = collections.defaultdict(list)
        self.classes = collections.defaultdict(list)

    def add(self, name, difference):
        """Sorts one difference in and returns its kind."""
        text = describe(name, difference)
        kind = difference.kind
        if kind == "plan":
            found, said = plans.classify(name, difference)
            self.classes[found].append(f"-- {said}\n{text}" if said else text)
        elif allowed.is_allowed(name, difference):
            kind = "allowed"
        self.found[kind].append(text)
        return kind

    def write(self, folder):
        """Writes a report for each kind; that of the plans begins with what was not reviewed."""
        folder.mkdir(parents=True, exist_ok=True)
        names = [plans.UNREVIEWED, *(name for name, *_ in plans.CLASSES)]
        self.found["plan"] = [
            text for name in names if self.classes[name] for text in (f"==== {name}\n", *self.classes[name])
        ]
        for kind, report in REPORTS.items():
            (folder / f"{report}.txt").write_text("\n".join(self.found[kind]), encoding="utf-8")

    def print_classes(self):
        """How many plans differ in which way."""
        for name, why, *_ in plans.CLASSES:
            if self.classes[name]:
                print(f"{len(self.classes[name]):7} {name}: {why}")
        print(f"plans {plans.UNREVIEWED}: {len(self.classes[plans.UNREVIEWED])}")


def main():
    parser = argparse.ArgumentParser(prog="pg_suite")
    for option in ("sql", "stock", "loom", "out"):
        parser.add_argument("--" + option, type=pathlib.Path, required=True)
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()

    sorter = Sorter()
    files = collections.Counter()
    for name in args.tests:
        kinds = {sorter.add(name, difference) for difference in outputs.compare(name, args.sql, args.stock, args.loom)}
        worst = next((kind for kind in ("result", "order", "plan") if kind in kinds), "same")
        files[worst] += 1
        if worst == "result":
            print(f"{name}: results differ")

    for kind, report in REPORTS.items():
        if sorter.found[kind]:
            print(f"{len(sorter.found[kind])} differences: {args.out / report}.txt")
            if kind == "plan":
                sorter.print_classes()
    sorter.write(args.out)
    print(
        f"{files['same']} files same, {files['plan']} with plan differences, "
        f"{files['order']} with other orders, {files['result']} with result differences"
    )
    return 1 if files["result"] else 0


if __name__ == "__main__":
    sys.exit(main())
