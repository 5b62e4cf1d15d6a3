"""Answers of a GPU beside those of the CPU engine."""

import os
import shutil
import subprocess

from gpu_host import load, server, shapes

UNITS = ("loom_gpu_test", "loom_gpu_run_test", "loom_gpu_plans_test")
# Benchmarks whose share of aggregates on the GPU must be above SHARE.
MEASURED = ("ssb", "tpch")
SHARE = 0.9


class Tally:
    """Counts what passed and what failed."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def add(self, name, good, note=""):
        """One check."""
        self.passed += good
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {name}{': ' + note if note else ''}", flush=True)


def output_of(command, environment):
    """Runs a program to its end."""
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_units(tally):
    """The programs of unit tests that are in the PATH, on the GPU."""
    environment = dict(os.environ, LOOM_GPU_DEVICE="cuda")
    for unit in UNITS:
        program = shutil.which(unit)
        if program is None:
            print(f"skipped: {unit} is not in the PATH")
            continue
        process = output_of([program, "--gtest_brief=1"], environment)
        tally.add(unit, process.returncode == 0)
        if process.returncode != 0:
            print(process.stdout[-4000:])


def test_queries(tally, kind, names, scale, folder):
    """Queries on both formats, GPU and CPU; how many of their aggregates the GPU computed."""
    for schema in server.make_tables(kind, scale, folder):
        for name in names:
            on_device, refused = 0, []
            for query, text in server.queries(name).items():
                wanted = server.psql(server.settings(schema, "cpu") + text)
                given = server.psql(server.settings(schema, "gpu") + text)
                good = given.good and given.text == wanted.text
                tally.add(f"{schema} {name} {query}", good, "" if given.good else given.problem)
                there, elsewhere = server.parts(schema, text)
                on_device += len(there)
                refused += elsewhere
            share = on_device / max(1, on_device + len(refused))
            print(f"{schema} {name}: {on_device} aggregates on the GPU, {share:.0%}")
            for reason in sorted(set(refused)):
                print(f"    {refused.count(reason)} not: {reason}")
            if name in MEASURED:
                tally.add(f"{schema} {name} share", share > SHARE, f"{share:.0%}")


def test_random(tally, count, seed, folder):
    """Random queries with the engine and without it."""
    server.execute("DROP DATABASE IF EXISTS random")
    server.execute("CREATE DATABASE random")
    environment = dict(os.environ, PGOPTIONS="-c pg_loom.device=gpu")
    command = ["loom-random-queries", "--connect", "dbname=random", "--dir", f"{folder}/random"]
    process = output_of(command + ["--seed", str(seed), "--count", str(count)], environment)
    tally.add("random queries", process.returncode == 0, process.stdout.strip().rpartition("\n")[2])
    if process.returncode != 0:
        print(process.stdout[-4000:], process.stderr[-2000:])


def test_sessions(tally, seconds, schema):
    """Sessions at once, then while the device's process is killed each second."""
    texts = server.queries("ssb")
    right = {name: server.execute(server.settings(schema, "cpu") + text) for name, text in texts.items()}
    rates = {}
    for count in (1, 8, 32):
        rates[count], done, wrong = load.run_sessions(schema, texts, right, count, seconds / 6)
        note = f"{rates[count]:.0f} queries/s, {done} in all, {wrong} sessions wrong"
        tally.add(f"{count} sessions", wrong == 0, note)
    tally.add("32 sessions do as much as one", rates[32] >= rates[1])
    killer = load.Killer()
    _, done, wrong = load.run_sessions(schema, texts, right, 32, seconds, killer)
    note = f"{killer.kills} kills, {done} queries, {wrong} sessions wrong"
    tally.add("killed each second", wrong == 0 and killer.kills > 0, note)


def run(options):
    """Returns whether all passed."""
    name, architecture, memory = server.wait_for_device()
    print(f"{name}, {architecture}, {memory / 2**30:.0f} GiB")
    tally = Tally()
    test_units(tally)
    test_queries(tally, "ssb", ["ssb", "agg"], options.scale, options.folder)
    test_queries(tally, "tpch", ["tpch"], options.scale, options.folder)
    test_queries(tally, "accesslog", ["text"], min(options.scale, 1), options.folder)
    if options.random > 0:
        test_random(tally, options.random, options.seed, options.folder)
    files = f"{options.folder}/ssb-{options.scale}/arrow"
    shapes.test(tally, "ssb_arrow", server.queries("ssb"), files, architecture)
    test_sessions(tally, options.seconds, "ssb_arrow")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return tally.failed == 0
