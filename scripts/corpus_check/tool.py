"""Runs loom-file under a time and memory limit."""

import os
import resource
import subprocess

TIMEOUT_SECONDS = 20
MEMORY_BYTES = 4 << 30


class Outcome:
    """What one run gave: `status` is ok, error, crash or hang."""

    def __init__(self, status, out="", message=""):
        self.status = status
        self.out = out
        self.message = message


def _limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(*arguments):
    """Runs loom-file; never raises for what the file does to it."""
    # Sanitizers reserve address space far beyond any limit.
    limit = None if os.environ.get("LOOM_NO_MEMORY_LIMIT") else _limit
    try:
        done = subprocess.run(
            [os.environ["LOOM_FILE"], *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=TIMEOUT_SECONDS,
            preexec_fn=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome("hang", message=f"no end after {TIMEOUT_SECONDS} s")
    out = done.stdout.decode("utf-8", errors="surrogateescape")
    message = done.stderr.decode("utf-8", errors="replace").strip()
    if done.returncode == 0:
        return Outcome("ok", out)
    if done.returncode == 1 and message.startswith("loom-file: error: "):
        return Outcome("error", out, message[len("loom-file: error: ") :])
    if done.returncode == 1 and "\nloom-file: error: " in message:
        return Outcome("error", out, message.split("loom-file: error: ")[-1])
    last = message.splitlines()[-1] if message else ""
    return Outcome("crash", out, f"exit status {done.returncode} {last}".strip())


def digest(path, *options):
    """Returns (outcome, columns); a column is a list of the eight fields of `loom-file digest`."""
    outcome = run("digest", *options, path)
    columns = [_fields(line) for line in outcome.out.split("\n") if line]
    return outcome, columns


def _fields(line):
    return [_unescape(field) for field in line.split("\t")]


def _unescape(text):
    if "\\" not in text:
        return text
    out = []
    letters = iter(text)
    for letter in letters:
        if letter != "\\":
            out.append(letter)
            continue
        escaped = next(letters)
        out.append({"t": "\t", "n": "\n", "r": "\r"}.get(escaped, escaped))
    return "".join(out)
