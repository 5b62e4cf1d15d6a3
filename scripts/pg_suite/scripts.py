"""Scripts of psql, cut into statements."""

import bisect
import itertools
import re

TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$|\bE'(?:\\.|[^'\\])*'|'[^']*'|\"[^\"]*\"|[();\n]|\\[^\n]*|BEGIN\s+ATOMIC\b.*?\bEND;",
    re.DOTALL | re.IGNORECASE,
)
COPY_DATA = re.compile(r"\\?copy\b.*\bfrom\s+p?std(in|out)\b", re.IGNORECASE | re.DOTALL)
ECHO = re.compile(r"\\set ECHO (\w+)")


def echoed(lines):
    """A script's lines, None in the place of those that psql has been told not to echo, or that are
    empty."""
    found, wanted = [], True
    for line in lines:
        found.append(line if line and wanted else None)
        if match := ECHO.match(line or ""):
            wanted = match[1] == "all"
    return found


def read(path):
    """Returns a script's lines and, for each line, the text of the statement that ends in it. A
    line is None if psql does not echo it: data of COPY, and empty lines (which it does echo inside
    of quotes; there they count as results)."""
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")
    starts = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))
    ends = [""] * len(lines)
    place = begin = depth = 0
    while match := TOKEN.search(text, place):
        token = match.group()
        place = match.end()
        if token in "()":
            depth += 1 if token == "(" else -1
        elif token.startswith("\\") or (token == ";" and depth <= 0):
            line = bisect.bisect_right(starts, place - 1) - 1
            ends[line] = text[begin:place].strip()
            begin, depth = place, 0
            if COPY_DATA.match(without_comments(ends[line])):
                last = next((i for i in range(line + 1, len(lines)) if lines[i] == "\\."), line)
                lines[line + 1 : last + 1] = [None] * (last - line)
                place = begin = starts[last + 1]
    return echoed(lines), ends


def without_comments(statement):
    """A statement without comments that run to the end of a line."""
    return re.sub(r"--[^\n]*", "", statement).strip()
