"""Queries whose kernels nobody has compiled yet: the CPU engine answers until they are there."""

import pathlib
import shutil
import statistics
import subprocess
import time

from gpu_host import server

# Of the CPU engine's times, for all queries together; what is above 1 is noise.
SLOWER = 1.1
# Milliseconds.
COMPILED = 400
LOADED = 1


def restart(forget):
    """A new process of the device; with `forget` none of the kernels that were compiled before."""
    subprocess.run(["pkill", "-9", "-x", "loom-gpud"], check=False)
    if forget:
        data = server.execute("SHOW data_directory").strip()
        for image in pathlib.Path(data, "pg_loom", "kernels").iterdir():
            image.unlink() if image.is_file() else shutil.rmtree(image)
    time.sleep(0.5)
    server.wait_for_device()


def load_columns(schema):
    """Has the device hold all columns of a schema."""
    tables = server.execute(f"SELECT relname FROM pg_class WHERE relnamespace = '{schema}'::regnamespace")
    for table in tables.split():
        server.execute(f"SELECT loom.gpu_load('{schema}.{table}')")


def run_once(schema, device, text):
    """Milliseconds in psql, and the answer."""
    answer = server.psql(server.settings(schema, device) + "\\timing on\n" + text)
    rows = [line for line in answer.text.splitlines() if not line.startswith("Time: ")]
    return answer.milliseconds()[-1], rows


def until_there(schema, text, seconds=30):
    """Milliseconds until a query runs on the device."""
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        plan = server.execute(server.settings(schema, "auto") + "EXPLAIN (ANALYZE, COSTS OFF) " + text)
        if "gpu: " in plan:
            return (time.monotonic() - begin) * 1000
        time.sleep(0.02)
    return float("inf")


def measure(schema, texts):
    """For each query: the CPU engine's time, the first run's, the time until kernels are there, the next run's."""
    rows = {}
    for name, text in texts.items():
        before = [run_once(schema, "cpu", text) for _ in range(3)]
        first, answer = run_once(schema, "auto", text)
        ready = until_there(schema, text)
        second, again = run_once(schema, "auto", text)
        after = [run_once(schema, "cpu", text) for _ in range(2)]
        rows[name] = {
            "cpu": statistics.median(took for took, _ in before + after),
            "first": first,
            "ready": ready,
            "second": second,
            "same": answer == before[0][1] and again == before[0][1],
        }
    return rows


def compile_times(folder, architecture):
    """Milliseconds of compiling and of loading each module of the benchmark's plans."""
    command = ["loom-gpu-bench", folder, f"--compile={architecture}", "--rounds=3"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in printed.splitlines()[1:]]
    return {f"{row[0]} {row[1]}": (float(row[2]), float(row[3])) for row in rows}


def test(tally, schema, texts, folder, architecture):
    """What a new shape costs, and what a restart keeps."""
    restart(forget=True)
    load_columns(schema)
    new = measure(schema, texts)
    print(f"{schema}, new shapes; ms{'cpu':>10}{'first':>10}{'ready':>10}{'second':>10}")
    for name, row in new.items():
        print(f"{name:<26}" + "".join(f"{row[key]:>10.1f}" for key in ("cpu", "first", "ready", "second")))
    cpu, first = (sum(row[key] for row in new.values()) for key in ("cpu", "first"))
    tally.add("new shapes: answers", all(row["same"] for row in new.values()))
    tally.add("new shapes: first runs beside the CPU engine's", first <= SLOWER * cpu, f"{first:.1f} and {cpu:.1f} ms")
    slowest = max(row["ready"] for row in new.values())
    tally.add("new shapes: all come to the device", slowest != float("inf"), f"the slowest after {slowest:.0f} ms")

    times = compile_times(folder, architecture)
    longest, loaded = (max(times, key=lambda module: times[module][i]) for i in (0, 1))
    tally.add("compiling", times[longest][0] <= COMPILED, f"{longest}: {times[longest][0]:.0f} ms")
    tally.add("loading a cubin", times[loaded][1] < LOADED, f"{loaded}: {times[loaded][1]:.2f} ms")

    restart(forget=False)
    load_columns(schema)
    known = measure(schema, texts)
    before, again = (sum(row["ready"] for row in rows.values()) for rows in (new, known))
    kept = again < before / 2 and all(row["same"] for row in known.values())
    tally.add("a restart keeps what is compiled", kept, f"ready after {before:.0f} ms, then {again:.0f} ms")
