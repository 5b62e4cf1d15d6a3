"""Compares variants, which loom-file prints as JSON, with what a list of cases says of them."""

import decimal
import json
import os

from . import tool

# Cases whose files break the specification, so that a reader may refuse them.
MAY_BE_REFUSED = "not valid according to the spec"
NUMBERS = ("INT", "DECIMAL", "FLOAT", "DOUBLE")


class Case:
    """`rows` has one value a row, or is None if the file must be refused."""

    def __init__(self, rows, may_be_refused):
        self.rows = rows
        self.may_be_refused = may_be_refused


def load(folder):
    """Returns {file: Case} of expected/parquet-testing-variant-cases.json."""
    path = os.path.join(folder, "expected", "parquet-testing-variant-cases.json")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as stream:
        entries = json.load(stream)
    place = "parquet/apache-parquet-testing/shredded_variant/"
    return {place + entry["parquet_file"]: _case(entry) for entry in entries}


def _case(entry):
    may_be_refused = MAY_BE_REFUSED in entry.get("notes", "")
    if "error_message" in entry:
        return Case(None, True)
    if "variants" in entry:
        return Case(_Parser(entry["variants"]).rows(), may_be_refused)
    return Case([_Parser(entry["variant"]).variant()], may_be_refused)


def compare(path, case):
    """Returns what differs, or None. The variant is the column `var`."""
    outcome = tool.run("cat", "--format=json", "--column=var", path)
    if outcome.status == "error" and case.may_be_refused:
        return None
    if outcome.status != "ok":
        return outcome.message
    if case.rows is None:
        return "the file was read, but must be refused"
    got = [
        json.loads(line, parse_float=decimal.Decimal, parse_int=decimal.Decimal)["var"]
        for line in outcome.out.split("\n")
        if line
    ]
    if got != case.rows:
        return f"{got} instead of {case.rows}"
    return None


class _Parser:
    """Reads Variant(type=..., value=...), VariantArray([...]) and VariantObject(fields={...})."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def rows(self):
        self._take("[")
        return self._items("]", self._row)

    def variant(self):
        self._take("Variant(metadata=VariantMetadata(dict={")
        self._until("}")
        self._take("), value=")
        value = self._value()
        self._take(")")
        return value

    def _row(self):
        if self._skip("null"):
            return None
        return self.variant()

    def _value(self):
        if self._skip("VariantArray(["):
            items = self._items("]", self._value)
            self._take(")")
            return items
        if self._skip("VariantObject(fields={"):
            items = self._items("}", self._member)
            self._take(")")
            return dict(items)
        self._take("Variant(type=")
        kind = self._until(", value=")
        return _scalar(kind, self._until(")"))

    def _member(self):
        return self._until(": "), self._value()

    def _items(self, end, read):
        items = []
        while not self._skip(end):
            if items:
                self._take(", ")
            items.append(read())
        return items

    def _skip(self, text):
        found = self.text.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def _take(self, text):
        if not self._skip(text):
            raise ValueError(f"no {text!r} at {self.at} of {self.text!r}")

    def _until(self, end):
        found = self.text.index(end, self.at)
        part = self.text[self.at : found]
        self.at = found + len(end)
        return part


def _scalar(kind, text):
    if kind == "NULL":
        return None
    if kind.startswith("BOOLEAN"):
        return text == "true"
    if kind.startswith(NUMBERS):
        return decimal.Decimal(text)
    return text
