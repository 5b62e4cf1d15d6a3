"""Checks the readers on a corpus: every file is read in full and compared with what others read."""

import argparse
import collections
import concurrent.futures
import csv
import json
import os
import re
import sys
import time

from . import duckdb, integration, json_rows, tool, variants


class Result:
    """compared, read (nothing to compare with), refused, wrong, crash or hang; for bad files also
    rejected and accepted."""

    def __init__(self, file, kind, detail=""):
        self.file = file
        self.kind = kind
        self.detail = detail


class Corpus:
    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "MANIFEST.tsv"), encoding="utf-8", newline="") as stream:
            self.files = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
        self.duckdb = duckdb.load(folder)
        self.pg_lake = json_rows.load_pg_lake(folder)
        self.variants = variants.load(folder)
        self.row_counts = self._row_counts()

    def _row_counts(self):
        path = os.path.join(self.folder, "expected", "arrow-js-rowcounts.csv")
        if not os.path.exists(path):
            return {}
        with open(path, encoding="utf-8", newline="") as stream:
            return {line["file"]: line["rows_apache_arrow_js"] for line in csv.DictReader(stream)}

    def path(self, name):
        return os.path.join(self.folder, name)

    def expected_paths(self, entry):
        for name in re.split(r"[;, ]+", entry["expected"] or ""):
            if name and os.path.exists(self.path(name)):
                yield self.path(name)


def check(corpus, entry):
    file = entry["file"]
    if file.startswith("bad/"):
        return check_bad(corpus, file)
    outcome, columns = tool.digest(corpus.path(file))
    if outcome.status != "ok":
        if outcome.status == "error" and file in corpus.variants:
            return check_variants(corpus, file)
        kind = {"error": "refused"}.get(outcome.status, outcome.status)
        return Result(file, kind, without_path(outcome.message))
    if file.startswith("arrow/"):
        return check_arrow(corpus, entry, columns)
    return check_parquet(corpus, entry, columns)


def check_variants(corpus, file):
    difference = variants.compare(corpus.path(file), corpus.variants[file])
    return Result(file, "wrong" if difference else "compared", difference or "")


def without_path(message):
    return re.sub(r'^file "[^"]*"(, |: )?', "", message)


def check_bad(corpus, file):
    outcome, _ = tool.digest(corpus.path(file))
    kind = {"error": "rejected", "ok": "accepted"}.get(outcome.status, outcome.status)
    return Result(file, kind, without_path(outcome.message))


def check_arrow(corpus, entry, columns):
    file = entry["file"]
    rows = corpus.row_counts.get(file, "")
    if rows and columns and columns[0][duckdb.ROWS] != rows:
        return Result(file, "wrong", f"{columns[0][duckdb.ROWS]} rows instead of {rows}")
    for path in corpus.expected_paths(entry):
        outcome = tool.run("cat", "--format=json", "--raw", corpus.path(file))
        if outcome.status != "ok":
            return Result(file, "wrong", outcome.message)
        got = integration.load_rows(outcome.out)
        difference = integration.difference(integration.expected_rows(path), got)
        return Result(file, "wrong" if difference else "compared", difference or "")
    return Result(file, "read" if not rows else "counted")


def check_parquet(corpus, entry, columns):
    file = entry["file"]
    expected = corpus.duckdb.get(file, [])
    wrong, compared = duckdb.compare(corpus.path(file), expected, columns)
    if wrong:
        return Result(file, "wrong", "; ".join(wrong[:3]) + ("; ..." if len(wrong) > 3 else ""))
    if file in corpus.variants:
        return check_variants(corpus, file)
    if compared and duckdb.usable(expected):
        return Result(file, "compared")
    for path in corpus.expected_paths(entry):
        if "/hyparquet/" not in path:
            continue
        with open(path, encoding="utf-8") as stream:
            difference = json_rows.compare_arrays(corpus.path(file), json.load(stream))
        return Result(file, "wrong" if difference else "compared", difference or "")
    if compared:
        return Result(file, "partly", f"{compared} of {len(columns)} columns")
    return Result(file, "read")


def load_refused(path):
    """Returns {file: reason} from the table of docs/refused-files.md."""
    known = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as stream:
            for line in stream:
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                if len(cells) >= 2 and "/" in cells[0]:
                    known[cells[0].strip("`")] = cells[1]
    return known


REFUSED_HEAD = """# Valid files that the readers refuse

`scripts/corpus-check` fails when a valid file of the corpus is refused and not listed here.
`scripts/corpus-check DIR --write-refused` writes this page anew.

| file | reason |
|---|---|
"""


def write_refused(path, results):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(REFUSED_HEAD)
        for result in sorted(results, key=lambda r: r.file):
            if result.kind == "refused":
                stream.write(f"| `{result.file}` | {result.detail.replace('|', '/')} |\n")


def progress(done, total, start):
    if sys.stderr.isatty() or done % 200 == 0 or done == total:
        end = "\r" if sys.stderr.isatty() and done != total else "\n"
        print(f"{done} of {total} files, {time.time() - start:.0f} s", end=end, file=sys.stderr)


def check_all(corpus, files, jobs):
    results = []
    start = time.time()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = [pool.submit(check, corpus, entry) for entry in files]
        for done, task in enumerate(concurrent.futures.as_completed(tasks), 1):
            results.append(task.result())
            progress(done, len(tasks), start)
    return sorted(results, key=lambda r: r.file)


def print_list(title, results, kinds):
    chosen = [result for result in results if result.kind in kinds]
    if chosen:
        print(f"\n{title}:")
    for result in chosen:
        print(f"  {result.file}: {result.detail}")


def report(results, known):
    """Prints what was found; returns the number of failures."""
    valid = [r for r in results if not r.file.startswith("bad/")]
    bad = [r for r in results if r.file.startswith("bad/")]
    unlisted = [r for r in valid if r.kind == "refused" and r.file not in known]
    print_list("wrong", results, ("wrong",))
    print_list("crashed or hung", results, ("crash", "hang"))
    print_list("refused", valid, ("refused",))
    if unlisted:
        print("\nrefused and not listed in docs/refused-files.md:")
        for result in unlisted:
            print(f"  {result.file}")
    counts = collections.Counter(r.kind for r in valid)
    bad_counts = collections.Counter(r.kind for r in bad)
    read = len(valid) - sum(counts[kind] for kind in ("refused", "wrong", "crash", "hang"))
    print(f"\nvalid files: {len(valid)}")
    print(f"  ok (compared in full):               {counts['compared']}")
    print(f"  ok (compared in part):               {counts['partly']}")
    print(f"  ok (row count compared):             {counts['counted']}")
    print(f"  ok (read, nothing to compare with):  {counts['read']}")
    print(f"  refused with a reason:               {counts['refused']}")
    print(f"  wrong:                               {counts['wrong']}")
    print(f"  crashed or hung:                     {counts['crash'] + counts['hang']}")
    if valid:
        print(f"  read in full: {100 * read / len(valid):.1f} %")
    print(f"damaged files: {len(bad)}")
    print(f"  answered with an error:              {bad_counts['rejected']}")
    print(f"  answered with rows:                  {bad_counts['accepted']}")
    print(f"  crashed or hung:                     {bad_counts['crash'] + bad_counts['hang']}")
    broken = sum(1 for r in results if r.kind in ("wrong", "crash", "hang"))
    return broken + len(unlisted)


def main():
    parser = argparse.ArgumentParser(prog="corpus-check", description=__doc__)
    parser.add_argument("folder", help="the corpus: MANIFEST.tsv, files, expected/")
    parser.add_argument("--only", metavar="REGEX", help="only files whose name matches")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="files at a time")
    parser.add_argument(
        "--write-refused", action="store_true", help="write docs/refused-files.md anew"
    )
    options = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    refused_path = os.path.join(here, "..", "..", "docs", "refused-files.md")
    corpus = Corpus(options.folder)
    files = [e for e in corpus.files if not options.only or re.search(options.only, e["file"])]
    results = check_all(corpus, files, options.jobs)
    if options.write_refused:
        write_refused(refused_path, results)
    failed = report(results, load_refused(refused_path))
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
