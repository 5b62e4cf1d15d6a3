"""Differences that were looked at and are none of pg_loom's faults."""

import re

PEERS = "which of several peers comes first is open"
TIES = "which of several equal rows come before the LIMIT is open"

# The file, a pattern that the statement has, and why its results may differ.
ALLOWED = [
    ("window", r"\b(first|last|nth)_value\(", PEERS),
    ("window", r"ORDER BY rank\(\) OVER w", PEERS),
    ("window", r"row_number\(\) OVER \(PARTITION BY", PEERS),
    ("groupingsets", r"order by coalesce\(a,0\)\+coalesce\(b,0\)", PEERS),
    ("tsrf", r"DISTINCT ON \((a|g)\) a, b, generate_series", PEERS),
    ("tuplesort", r"LIMIT 5", TIES),
    ("create_index", r"ORDER BY f1 <-> '0,1'", PEERS),
    ("aggregates", r"agg_hash_2 except", "the order in which array_agg meets rows of a group is open"),
    ("psql", r"1/\(15-unique2\)", "the plan sorts what PostgreSQL reads in order, and divides before"),
    ("aggregates", r"SELECT balk\(", "what workers combine is NULL, by the test's own design"),
    ("select_parallel", r"repeat\('abcd', 5000\)\)::int2", "the error is not raised in a parallel worker"),
    ("compression", r"FROM (cmmove3|compressmv)", "the engine hands on values, not how they were stored"),
    ("stats", r"idx_scan", "the shim plans without indexes"),
]

NAMED = "the engine names a column of a subquery by what it is computed from"
ONCE = "what is the same for all rows is a parameter of the engine's plan"
JOINED = "what was a condition of each partition's index is one of the join"

# The file, a pattern that the statement has, the check of plan_checks.py that fails, and why.
REVIEWED_PLANS = [
    ("aggregates", r"max\(unique2\), generate_series", "same_conditions", "max is computed from all rows"),
    ("btree_index", r"f1::bpchar like 'foo%'", "same_conditions", "without an index no range is made of the pattern"),
    ("equivclass", r"as ss2\s+where ss1.x = ec1.f1 and ss1.x = ss2.x and", "same_conditions", JOINED),
    ("groupingsets", r"select 1 as x", "same_conditions", NAMED),
    ("join", r"42 as y .* limit 1", "same_conditions", ONCE),
    ("join", r"f_immutable_int4\(1\) x on", "same_conditions", "the function's value is computed below LoomScan"),
    ("join", r"where fault = 122\s+order by fault;", "same_sorting", "all rows have the same key"),
    ("join", r"tt4\.f1 as c0", "same_conditions", NAMED),
    ("join", r"values\(a\.unique1\)", "same_conditions", NAMED),
    ("join", r"coalesce\(ss1\.x,q2\) as y", "same_conditions", NAMED),
    ("memoize", r"prt t2 ON t1\.a = t2\.a", "same_conditions", JOINED),
    ("regex", r"proname ~ '\^", "same_conditions", "without an index no range is made of the pattern"),
    ("index_including", r"\(c1,c2,c3\) < \(262", "same_conditions", "columns of an index have no names in the engine"),
    ("btree_index", r"proname ilike", "same_conditions", "columns of an index have no names in the engine"),
    ("partition_join", r"\(t[23]\.a \+ t[23]\.b\)/2", "same_conditions", JOINED),
    ("partition_prune", r"in \(true, false\)", "same_conditions", "the engine writes t and f as true and false"),
    ("partition_prune", r"exists .* tinner", "same_tables", "of two plans for EXISTS the one that is joined is left"),
    ("partition_prune", r"exists .* tinner", "same_conditions", "the other plan's condition on id is part of the join"),
    ("partition_prune", r"list_part_fn\(1\)", "same_conditions", ONCE),
    ("partition_prune", r"localtimestamp", "same_conditions", ONCE),
    ("partition_prune", r"a\.a \+ 0", "same_conditions", JOINED),
    ("subselect", r"generate_series\(1,50\) / 10 g", "same_conditions", NAMED),
    ("subselect", r"now\(\) as n", "same_conditions", ONCE),
    ("subselect", r"now\(\) as n", "same_tables", "the CTE is computed in place; its own plan does not run"),
    ("window", r"\) (c|dr)$", "same_conditions", NAMED),
    ("window", r" AS first_emp", "same_conditions", NAMED),
]


def reviewed(name, statement):
    """The checks that are known to fail for the plans of a statement."""
    return {
        check
        for file, pattern, check, _ in REVIEWED_PLANS
        if file == name and re.search(pattern, statement, re.IGNORECASE | re.DOTALL | re.MULTILINE)
    }


def is_allowed(name, difference):
    """Whether the list above has a difference."""
    return any(
        file == name and re.search(pattern, difference.statement, re.IGNORECASE)
        for file, pattern, _ in ALLOWED
    )
