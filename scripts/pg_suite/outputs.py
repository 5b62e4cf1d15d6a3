"""What psql -a printed, cut into the results of statements, and how two such results differ."""

import collections
import dataclasses
import itertools
import re

from pg_suite import scripts

PLAN_HEADER = re.compile(r"^\s*(QUERY PLAN|\w*explain\w*)\s*\|?\s*$")
EXPLAIN = re.compile(r"\bexplain(_\w+)?\b|\bhash_join_batches\b", re.IGNORECASE)


@dataclasses.dataclass
class Difference:
    """One statement whose results, as printed, differ. `kind` is plan, order or result."""

    kind: str
    line: int
    statement: str
    stock: list
    loom: list


def segments(sql, output):
    """Cuts an output at the lines of a script that it echoes: the lines that follow each."""
    found = [[] for _ in range(len(sql) + 1)]
    place = 0
    for line in output:
        while place < len(sql) and sql[place] is None:
            place += 1
        # An echo may stand behind what \echo -n printed.
        ahead = sql[place : place + 3] if len(line) > 10 else sql[place : place + 1]
        if line in ahead:
            place += ahead.index(line) + 1
        else:
            found[place].append(line)
    return found


def sort_keys(statement):
    """The expressions of a statement's own ORDER BY, its last; none if it has no such clause."""
    depth, place = 0, None
    for match in re.finditer(r"[()]|\border\s+by\b|\b(limit|offset|fetch|for)\b|;", statement, re.I):
        word = match.group().lower()
        depth += (word == "(") - (word == ")")
        if depth == 0 and word.startswith("order"):
            place, end = match.end(), len(statement)
        elif depth == 0 and place is not None and word not in "()":
            end = min(end, match.start())
    if place is None:
        return []
    parts = re.split(r",(?![^(]*\))", statement[place:end])
    return [re.sub(r"\s+(asc|desc|nulls\s+\w+)\b", "", part.strip(), flags=re.I) for part in parts]


def columns_of(table, keys):
    """What the rows of a printed table have in the columns `keys`; nothing if it lacks one."""
    rule = next((i for i, line in enumerate(table) if re.fullmatch(r"-+(\+-+)*", line)), 0)
    if rule == 0:
        return None
    names = [name.strip() for name in table[rule - 1].split("|")]
    places = []
    for key in keys:
        name = key.split(".")[-1].strip('"').lower()
        if key.isdigit() and int(key) <= len(names):
            places.append(int(key) - 1)
        elif names.count(name) == 1:
            places.append(names.index(name))
        else:
            return None
    rows = [line.split("|") for line in table[rule + 1 :] if line.count("|") == len(names) - 1]
    return [[row[place].strip() for place in places] for row in rows]


def is_reordered(statement, stock, loom):
    """Whether two results have the same rows, in orders that the statement allows."""
    if collections.Counter(stock) != collections.Counter(loom):
        return False
    keys = sort_keys(statement)
    if not keys:
        return True
    ordered = columns_of(stock, keys)
    return ordered is not None and ordered == columns_of(loom, keys)


def kind_of(statement, stock, loom):
    """Tells a difference in a plan's text from one in the order of rows and one in results."""
    lines = itertools.chain(stock, loom)
    if EXPLAIN.search(statement) or any(PLAN_HEADER.match(line) for line in lines):
        errors = [[line for line in side if line.startswith("ERROR:")] for side in (stock, loom)]
        return "plan" if errors[0] == errors[1] else "result"
    if is_reordered(statement, stock, loom):
        return "order"
    return "result"


def changed(stock, loom):
    """The lines of two results without what they begin and end with alike."""
    head = 0
    while head < min(len(stock), len(loom)) and stock[head] == loom[head]:
        head += 1
    tail = 0
    while tail < min(len(stock), len(loom)) - head and stock[-1 - tail] == loom[-1 - tail]:
        tail += 1
    return stock[head : len(stock) - tail], loom[head : len(loom) - tail]


def read(path):
    """Lines of a file; none if it is not there."""
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []


def compare(name, sql_dir, stock_dir, loom_dir):
    """Yields how the two runs of one test differ."""
    stock, loom = (read(folder / f"{name}.out") for folder in (stock_dir, loom_dir))
    if stock == loom:
        return
    sql, statements = scripts.read(sql_dir / f"{name}.sql")
    pairs = zip(segments(sql, stock), segments(sql, loom))
    for place, (before, after) in enumerate(pairs):
        if before == after:
            continue
        ended = next((text for text in reversed(statements[:place]) if text), "")
        statement = scripts.without_comments(ended)
        kind = kind_of(statement, before, after)
        yield Difference(kind, place, statement, before, after)
