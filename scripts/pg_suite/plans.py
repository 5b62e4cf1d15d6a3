"""Sorts differences between plans into classes.

plan_checks says what must not differ. A class has a condition and names the checks that may fail
under it, for the reason that it gives. A difference that is in no class has to be looked at."""

import re

from pg_suite import allowed, plan_checks, plan_text

UNREVIEWED = "not reviewed"
# What may stand above a LoomScan because other settings were in force.
CHOSEN = re.compile(
    r"((Nested Loop|Hash|Merge)( \w+)*( Join)?)|Sort|(Hash|Group|Mixed)?Aggregate|Group|Unique|(Merge )?Append|Result|"
    r"(CTE|Subquery) Scan on .*"
)


def reads_figures(pair):
    """Functions of the tests that look for figures of one kind of node."""
    return re.search(r"\b(hash_join_batches|explain_query_json|explain_analyze_inc_sort_nodes\w*)\(", pair.statement)


def is_other_format(pair):
    """JSON, XML and YAML."""
    is_asked = re.search(r"explain_filter(_to_json)?\('explain.* format", pair.statement)
    return is_asked and any("LoomScan" in line for line in pair.printed)


def changes_rows(pair):
    return any(plan_checks.CHANGE.match(node.title) for node in plan_checks.nodes(pair.loom))


def has_min_max(pair):
    """All InitPlans that are lost took the first row of a scan, and the tables are read otherwise."""
    first_rows = [plan for plan in plan_checks.initplans(pair.stock) if plan.title == "Limit"]
    before, after = set(plan_checks.tables(pair.stock)), set(plan_checks.tables(pair.loom))
    lost = len(plan_checks.initplans(pair.stock)) - len(plan_checks.initplans(pair.loom))
    return lost == len(first_rows) > 0 and before == after and re.search(r"\b(min|max)\(", pair.statement)


def reads_pruned_partitions(pair):
    """The second plan reads as many tables more as PostgreSQL left out when the plan began."""
    removed = sum(int(text) for node in plan_checks.nodes(pair.stock) for text in node.values("Subplans Removed"))
    more = plan_checks.tables(pair.loom)
    more.subtract(plan_checks.tables(pair.stock))
    return removed == sum(more.values()) > 0 and min(more.values()) >= 0


def reads_lone_partitions(pair):
    """The second plan reads more tables, in a test of joins of partitions."""
    return pair.file == "partition_join" and plan_checks.tables(pair.loom) > plan_checks.tables(pair.stock)


def is_whole(pair):
    return all(tree.is_engine for tree in pair.loom)


def is_whole_over_scans(pair):
    inputs = [node for tree in pair.loom for node in tree.children if not node.role]
    return is_whole(pair) and all(plan_checks.TABLE.match(node.title) for node in inputs)


def titles_above(pair):
    """The nodes of PostgreSQL's above LoomScans that its own plan does not have."""
    before, after = plan_checks.nodes(pair.stock), plan_checks.nodes(pair.loom)
    above = [node for node in after if not node.is_engine and any(below.is_engine for below in node.walk())]
    return {node.title for node in above} - {node.title for node in before} - {"Materialize"}


def has_same_above(pair):
    return not titles_above(pair)


def has_chosen_above(pair):
    return all(CHOSEN.fullmatch(title) for title in titles_above(pair))


# The names of the classes, why plans differ so, the checks that may fail, and the condition.
CLASSES = [
    (
        "figures of a node",
        "functions that look for hash joins and incremental sorts, of which the engine's plan has none",
        {"parsed"},
        reads_figures,
    ),
    ("other format", "a LoomScan in JSON, XML or YAML", {"parsed"}, is_other_format),
    (
        "first of an index",
        "min and max are computed from all rows, since the shim plans without indexes",
        {"same_initplans", "same_tables", "same_conditions", "same_operations"},
        has_min_max,
    ),
    (
        "pruned partitions",
        "partitions that PostgreSQL leaves out once it knows the parameters are read, and filters leave no rows of them",
        {"same_tables"},
        reads_pruned_partitions,
    ),
    (
        "lone partitions",
        "partitions are not joined one by one, which leaves out those that have no counterpart",
        {"same_tables"},
        reads_lone_partitions,
    ),
    ("changed rows", "LoomScans, or settings for them, below what changes or locks rows", set(), changes_rows),
    ("whole plan", "one LoomScan over scans", set(), is_whole_over_scans),
    ("whole over others", "one LoomScan over rows that PostgreSQL computes", set(), is_whole),
    ("parts", "LoomScans below nodes that PostgreSQL's own plan has too", set(), has_same_above),
    (
        "parts, chosen above",
        "LoomScans below nodes chosen by other settings: no workers, merge joins, incremental sorts, ...",
        set(),
        has_chosen_above,
    ),
]


def classify(file, difference):
    """The class of a difference between plans; else UNREVIEWED, and what the checks say."""
    trees = map(plan_text.parse, (difference.stock, difference.loom))
    pair = plan_checks.Pair(file, difference.statement, difference.loom, *trees)
    said = {"parsed": "no plan in the text format"}
    if pair.stock and pair.loom:
        said = plan_checks.faults(pair)
    failed = said.keys() - allowed.reviewed(file, difference.statement)
    for name, _, may_fail, condition in CLASSES:
        if failed <= may_fail and condition(pair):
            return name, ""
    return UNREVIEWED, "; ".join(f"{check}: {said[check]}" for check in sorted(failed))
