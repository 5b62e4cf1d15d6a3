"""Expected rows from Arrow integration JSON, in the form that `loom-file cat --format=json --raw` prints."""

import gzip
import json
import struct


class Struct(tuple):
    """The (name, value) pairs of a struct, in order; names may occur twice."""


def load_rows(text):
    """Parses JSON lines; objects become Struct, floats stay text."""
    return [
        json.loads(line, object_pairs_hook=Struct, parse_float=str)
        for line in text.splitlines()
        if line
    ]


def expected_rows(path):
    """Returns all rows of an integration file as Structs."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        document = json.load(stream)
    dictionaries = {}
    fields = document["schema"]["fields"]
    by_id = {}
    for field in fields:
        _collect_dictionaries(field, by_id)
    # Dictionaries may refer to each other; each is expanded when a column needs it.
    raw = {entry["id"]: entry["data"] for entry in document.get("dictionaries", [])}
    context = _Context(raw, by_id, dictionaries)
    rows = []
    for batch in document["batches"]:
        columns = [
            context.values(field, column) for field, column in zip(fields, batch["columns"])
        ]
        names = [field["name"] for field in fields]
        rows.extend(
            Struct(zip(names, (column[i] for column in columns))) for i in range(batch["count"])
        )
    return rows


def _collect_dictionaries(field, by_id):
    if "dictionary" in field and field["dictionary"]:
        by_id[field["dictionary"]["id"]] = field
    for child in field.get("children", []):
        _collect_dictionaries(child, by_id)


class _Context:
    def __init__(self, raw, fields, expanded):
        self.raw = raw
        self.fields = fields
        self.expanded = expanded

    def dictionary(self, key):
        if key not in self.expanded:
            data = self.raw[key]
            self.expanded[key] = self.plain(self.fields[key], data["columns"][0])
        return self.expanded[key]

    def values(self, field, column):
        dictionary = field.get("dictionary")
        if not dictionary:
            return self.plain(field, column)
        entries = self.dictionary(dictionary["id"])
        return [
            entries[int(index)] if valid else None
            for index, valid in zip(column["DATA"], _validity(column))
        ]

    def plain(self, field, column):
        name = field["type"]["name"]
        reader = getattr(self, "read_" + name, None)
        values = reader(field, column) if reader else self.scalars(field, column)
        if name in ("null", "runendencoded") or (name == "union" and "VALIDITY" not in column):
            return values
        return [value if valid else None for value, valid in zip(values, _validity(column))]

    def scalars(self, field, column):
        kind = field["type"]["name"]
        if kind == "floatingpoint":
            return [_float(value, field["type"]["precision"]) for value in column["DATA"]]
        if kind == "bool":
            return [bool(value) for value in column["DATA"]]
        if kind in ("utf8", "largeutf8"):
            return list(column["DATA"])
        if kind in ("binary", "largebinary", "fixedsizebinary"):
            return [value.upper() for value in column["DATA"]]
        if kind == "interval":
            return [_interval(value) for value in column["DATA"]]
        return [int(value) for value in column["DATA"]]

    def read_null(self, field, column):
        return [None] * column["count"]

    def read_utf8view(self, field, column):
        return self.views(column, lambda data: data.decode("utf-8"), lambda text: text)

    def read_binaryview(self, field, column):
        return self.views(column, lambda data: data.hex().upper(), lambda text: text.upper())

    def views(self, column, from_buffer, from_inline):
        buffers = [bytes.fromhex(text) for text in column["VARIADIC_DATA_BUFFERS"]]
        result = []
        for view in column["VIEWS"]:
            if "INLINED" in view:
                result.append(from_inline(view["INLINED"]))
            else:
                start = int(view["OFFSET"])
                data = buffers[view["BUFFER_INDEX"]][start : start + int(view["SIZE"])]
                result.append(from_buffer(data))
        return result

    def read_list(self, field, column):
        child = self.values(field["children"][0], column["children"][0])
        offsets = [int(offset) for offset in column["OFFSET"]]
        return [child[a:b] for a, b in zip(offsets, offsets[1:])]

    read_largelist = read_list

    def read_listview(self, field, column):
        child = self.values(field["children"][0], column["children"][0])
        return [
            child[int(start) : int(start) + int(size)]
            for start, size in zip(column["OFFSET"], column["SIZE"])
        ]

    read_largelistview = read_listview

    def read_fixedsizelist(self, field, column):
        child = self.values(field["children"][0], column["children"][0])
        size = field["type"]["listSize"]
        return [child[i * size : (i + 1) * size] for i in range(column["count"])]

    def read_map(self, field, column):
        entries = self.read_list(field, column)
        return [[[key[1], value[1]] for key, value in entry] for entry in entries]

    def read_struct(self, field, column):
        children = [
            (child["name"], self.values(child, data))
            for child, data in zip(field["children"], column["children"])
        ]
        return [
            Struct((name, values[i]) for name, values in children) for i in range(column["count"])
        ]

    def read_union(self, field, column):
        children = [
            self.values(child, data) for child, data in zip(field["children"], column["children"])
        ]
        index = {code: i for i, code in enumerate(field["type"]["typeIds"])}
        offsets = column.get("OFFSET") or range(column["count"])
        return [
            children[index[code]][int(offset)] if code in index else None
            for code, offset in zip(column["TYPE_ID"], offsets)
        ]

    def read_runendencoded(self, field, column):
        ends = [int(end) for end in column["children"][0]["DATA"]]
        values = self.values(field["children"][1], column["children"][1])
        result = []
        for end, value in zip(ends, values):
            result.extend([value] * (end - len(result)))
        return result[: column["count"]]


def _validity(column):
    return column.get("VALIDITY") or [1] * column["count"]


def _interval(value):
    if not isinstance(value, dict):
        return int(value)
    if "nanoseconds" in value:
        return [value["months"], value["days"], int(value["nanoseconds"])]
    return [value["days"], value["milliseconds"]]


class Float(float):
    """A float that equals the text of any number that rounds to it in its own width."""

    def __new__(cls, value, code):
        self = super().__new__(cls, value)
        self.code = code
        return self

    def matches(self, text):
        got = float(text)
        return got == float(self) or struct.pack(self.code, got) == struct.pack(self.code, self)


def _float(value, precision):
    return Float(value, {"HALF": "e", "SINGLE": "f", "DOUBLE": "d"}[precision])


def difference(expected, got, path=""):
    """Returns the first difference as text, or None."""
    if isinstance(expected, Float):
        same = isinstance(got, (str, int)) and not isinstance(got, bool) and expected.matches(got)
        return None if same else f"{path}: expected {float(expected)!r}, got {got!r}"
    if isinstance(expected, (Struct, list)):
        if type(expected) is not type(got) or len(expected) != len(got):
            return f"{path}: expected {expected!r:.200}, got {got!r:.200}"
        for i, (a, b) in enumerate(zip(expected, got)):
            if isinstance(expected, Struct):
                if a[0] != b[0]:
                    return f"{path}: expected member {a[0]!r}, got {b[0]!r}"
                found = difference(a[1], b[1], f"{path}.{a[0]}")
            else:
                found = difference(a, b, f"{path}[{i}]")
            if found:
                return found
        return None
    if type(expected) is type(got) and expected == got:
        return None
    return f"{path}: expected {expected!r:.200}, got {got!r:.200}"
