"""Differences in results that were looked at and are none of pg_loom's."""

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
    ("aggregates", r"agg_hash_2 except", "the order in which array_agg meets rows of a group is open"),
    ("psql", r"1/\(15-unique2\)", "the plan sorts what PostgreSQL reads in order, and divides before"),
    ("compression", r"FROM (cmmove3|compressmv)", "the engine hands on values, not how they were stored"),
    ("stats", r"idx_scan", "the shim plans without indexes"),
]


def is_allowed(name, difference):
    """Whether the list above has a difference."""
    return any(
        file == name and re.search(pattern, difference.statement, re.IGNORECASE)
        for file, pattern, _ in ALLOWED
    )
