"""Compares a file with what DuckDB read: row count, and per column count, sum, min, max and MD5."""

import csv
import glob
import os

from . import tool

# Where DuckDB's answer is not the one to give. (file, column): why.
KNOWN = {
    ("parquet/apache-arrow-testing/parquet/ARROW-17100.parquet", "col1"): "DuckDB loses its place "
    "in data pages of version 2; the rows are 1 to 5",
    ("parquet/apache-arrow-testing/parquet/ARROW-17100.parquet", "col3"): "as col1",
    ("parquet/apache-impala/int64_timestamps_nano.parquet", "nanoUtc"): "DuckDB takes the largest "
    "int64 for infinity",
    ("parquet/apache-impala/out_of_range_time_of_day.parquet", "d"): "a time of day of -1 ns: DuckDB "
    "cuts towards zero, we cut down to the microsecond",
    ("parquet/apache-impala/parquet_nested_types_encodings/ThriftSingleFieldGroupInList.parquet",
     "single_element_groups"): "the repeated group is named *_tuple, so it is the element; DuckDB "
    "unwraps it",
    ("parquet/facebookincubator-velox/nested_array_struct.parquet", "myComplex"): "a repeated group "
    "outside a list is the element; DuckDB unwraps it",
    ("parquet/facebookincubator-velox/proto-struct-with-array.parquet", "repeatedMessage"): "a "
    "repeated group outside a list is the element; DuckDB unwraps it",
    ("parquet/duckdb-duckdb/negative-timetz.parquet", "col33"): "DuckDB moves negative times of day "
    "into the day",
}

ROWS, NAME, TYPE, NON_NULL, SUM, MIN, MAX, HASH = range(8)


def load(folder):
    """Returns {file: [columns]} from expected/duckdb-*.csv; a column is a dict of its line."""
    files = {}
    for path in sorted(glob.glob(os.path.join(folder, "expected", "duckdb-*.csv"))):
        if path.endswith("duckdb-datasets.csv"):
            continue
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            for line in csv.DictReader(stream):
                files.setdefault(line["file"], []).append(line)
    return files


def usable(columns):
    """Returns whether DuckDB read every column well, so that a full comparison is possible."""
    return bool(columns) and all(
        _comparable(column) and (column["file"], column["column"]) not in KNOWN
        for column in columns
    )


def _comparable(column):
    return bool(column["md5_of_text_values"])


def compare(path, expected, got):
    """Returns (differences, compared columns). `got` are the columns of a digest of `path`."""
    wrong = []
    compared = 0
    if len(expected) != len(got) and all(column["column_no"] for column in expected):
        return [f"{len(got)} columns instead of {len(expected)}"], 0
    for want, have in zip(expected, got):
        if want["file_rows"] and want["file_rows"] != have[ROWS]:
            return [f"{have[ROWS]} rows instead of {want['file_rows']}"], 0
        if not _comparable(want):
            continue
        if (want["file"], want["column"]) in KNOWN:
            continue
        difference = _compare_column(path, want, have)
        if difference:
            wrong.append(f"{want['column']} ({want['duckdb_type']} / {have[TYPE]}): {difference}")
        else:
            compared += 1
    return wrong, compared


def _compare_column(path, want, have):
    kind = want["duckdb_type"]
    if "VARIANT" in kind:
        return None  # DuckDB prints texts without quotes and takes a variant's null for NULL
    if want["non_null"] != have[NON_NULL]:
        return f"{have[NON_NULL]} values that are not NULL instead of {want['non_null']}"
    if kind.startswith("GEOMETRY"):
        return None  # printed in a form of its own; the count has been compared
    if want["md5_of_text_values"] == have[HASH]:
        return _compare_sum(want, have)
    if kind == "DOUBLE" and have[TYPE].startswith("decimal("):
        return None  # more than 38 digits: DuckDB rounds, we do not
    for have in _digests(path, want, have):
        if want["md5_of_text_values"] == have[HASH]:
            return None
    if kind.startswith("TIME WITH TIME ZONE"):
        return _compare_zoned_time(want, have)
    for what, index in (("sum", SUM), ("min", MIN), ("max", MAX)):
        if want[what] and want[what] != have[index]:
            if what == "sum" and _close(want[what], have[index]):
                continue
            return f"{what} {have[index]:.80} instead of {want[what]:.80}"
    if kind == "FLOAT":
        return None  # two shortest forms of equal length may exist; the sums are equal
    return f"MD5 of the values {have[HASH]} instead of {want['md5_of_text_values']}"


def _digests(path, want, first):
    """DuckDB cuts nanoseconds (except in TIMESTAMP_NS) one way or another, and does not take old
    timestamps without a logical type for instants."""
    yield first
    if "TIME" not in want["duckdb_type"]:
        return
    options = [["--micros"], ["--micros=zero"]]
    if "WITH TIME ZONE" not in want["duckdb_type"]:
        options = [["--no-zone"], *options, *(["--no-zone", *option] for option in options)]
    for option in options:
        _, columns = tool.digest(path, *option)
        index = int(want["column_no"]) - 1
        if index < len(columns):
            yield columns[index]


def _compare_zoned_time(want, have):
    """Our type for times has no zone, so only the digits can be compared."""
    for what, index in (("min", MIN), ("max", MAX)):
        if want[what].removesuffix("+00") != have[index]:
            return f"{what} {have[index]} instead of {want[what]}"
    return None


def _compare_sum(want, have):
    if not want["sum"] or want["sum"] == have[SUM] or _close(want["sum"], have[SUM]):
        return None
    return f"sum {have[SUM]} instead of {want['sum']}"


def _close(a, b):
    try:
        a, b = float(a), float(b)
    except ValueError:
        return False
    return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-300) or (a != a and b != b)
