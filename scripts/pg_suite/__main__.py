"""Compares the results of two runs file by file; see scripts/pg-suite."""

import argparse
import collections
import pathlib
import sys

from pg_suite import allowed, outputs


def describe(name, difference):
    """One difference as text for a report."""
    lines = [f"-- {name}, line {difference.line}", difference.statement]
    lines += ["< " + line for line in difference.stock]
    lines += ["> " + line for line in difference.loom]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="pg_suite")
    for option in ("sql", "stock", "loom", "out"):
        parser.add_argument("--" + option, type=pathlib.Path, required=True)
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()

    found = collections.defaultdict(list)
    files = collections.Counter()
    for name in args.tests:
        kinds = set()
        for difference in outputs.compare(name, args.sql, args.stock, args.loom):
            kind = difference.kind
            if kind != "plan" and allowed.is_allowed(name, difference):
                kind = "allowed"
            kinds.add(kind)
            found[kind].append(describe(name, difference))
        worst = next((kind for kind in ("result", "order", "plan") if kind in kinds), "same")
        files[worst] += 1
        if worst == "result":
            print(f"{name}: results differ")

    reports = {"plan": "plans", "order": "orders", "result": "results", "allowed": "allowed"}
    args.out.mkdir(parents=True, exist_ok=True)
    for kind, report in reports.items():
        (args.out / f"{report}.txt").write_text("\n".join(found[kind]), encoding="utf-8")
        if found[kind]:
            print(f"{len(found[kind])} differences: {args.out / report}.txt")
    print(
        f"{files['same']} files same, {files['plan']} with plan differences, "
        f"{files['order']} with other orders, {files['result']} with result differences"
    )
    return 1 if files["result"] else 0


if __name__ == "__main__":
    sys.exit(main())
