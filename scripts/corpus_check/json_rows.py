"""Compares rows with JSON that other projects keep beside their files.

Such JSON is looser than the files: dates are texts of several forms, big integers were rounded, NULL
members are left out. Two values are the same here if no such freedom tells them apart.
"""

import json
import os
import re

from . import tool


def load_pg_lake(folder):
    """Returns {file: rows} of expected/pg_lake.jsonl; rows are objects."""
    rows = {}
    path = os.path.join(folder, "expected", "pg_lake.jsonl")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as stream:
            for line in stream:
                entry = json.loads(line)
                rows[entry["file"]] = entry["rows"]
    return rows


def read_rows(path):
    outcome = tool.run("cat", "--format=json", path)
    if outcome.status != "ok":
        return None
    return [json.loads(line) for line in outcome.out.split("\n") if line]


def compare_arrays(path, expected):
    """Compares with rows that are arrays in the order of the columns."""
    got = read_rows(path)
    if got is None or len(got) != len(expected):
        return f"{None if got is None else len(got)} rows instead of {len(expected)}"
    for number, (want, have) in enumerate(zip(expected, got)):
        values = list(have.values())
        if len(values) != len(want):
            return f"row {number}: {len(values)} columns instead of {len(want)}"
        for column, a, b in zip(have, want, values):
            if not same(a, b):
                return f"row {number}, {column}: {b!r:.100} instead of {a!r:.100}"
    return None


def same(want, have):
    if want is None or have is None:
        return want is None and have in (None, "NaN", {}, [])
    if isinstance(want, bool) or isinstance(have, bool):
        return want == have
    if isinstance(want, (int, float)):
        return _same_number(want, have)
    if isinstance(want, list):
        if isinstance(have, str):  # binary
            return have == "".join(f"{byte:02X}" for byte in want if isinstance(byte, int))
        return isinstance(have, list) and _same_list(want, have)
    if isinstance(want, dict):
        return _same_object(want, have)
    return _same_text(want, have)


def _same_number(want, have):
    try:
        have = float(have)
    except (TypeError, ValueError):
        return False
    return have == want or abs(have - want) <= 1e-6 * max(abs(have), abs(want))


def _same_list(want, have):
    return len(want) == len(have) and all(same(a, b) for a, b in zip(want, have))


def _same_object(want, have):
    if isinstance(have, list):  # a map
        have = {_key(pair[0]): pair[1] for pair in have if isinstance(pair, list) and len(pair) == 2}
    if not isinstance(have, dict):
        return False
    return all(same(want.get(name), have.get(name)) for name in set(want) | set(have))


def _key(value):
    return value if isinstance(value, str) else json.dumps(value)


def _same_text(want, have):
    if not isinstance(have, str):
        return str(have) == want
    if want == have or _plain_time(want) == _plain_time(have):
        return True
    try:
        return bytes.fromhex(have).decode("utf-8", errors="replace") == want
    except ValueError:
        return False


def _plain_time(text):
    """2020-01-01T00:00:00.000Z, 2020-01-01 00:00:00+00 and 2020-01-01 are one instant."""
    text = re.sub(r"(Z|\+00)$", "", text.replace("T", " "))
    text = re.sub(r"(:\d\d)\.(\d*?)0*$", lambda m: m[1] + ("." + m[2] if m[2] else ""), text)
    return text.removesuffix(" 00:00:00")
