"""A running server that psql reaches by its environment (PGHOST and so on), and tables of files in it."""

import pathlib
import re
import subprocess
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DATABASE = "postgres"


class Answer:
    """What one session of psql printed."""

    def __init__(self, process):
        self.text = process.stdout
        self.problem = process.stderr.strip()
        self.good = process.returncode == 0

    def milliseconds(self):
        """Times of the statements behind \\timing on."""
        return [float(time) for time in re.findall(r"^Time: ([\d.]+) ms", self.text, re.MULTILINE)]


def psql(text):
    """Runs statements in a session of their own; the first that fails ends it."""
    command = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", DATABASE]
    return Answer(subprocess.run(command, input=text, capture_output=True, text=True, check=False))


def execute(text):
    """The same of statements that must not fail."""
    answer = psql(text)
    if not answer.good:
        raise SystemExit(f"error: {answer.problem}")
    return answer.text


def wait_for_device(seconds=60):
    """Returns name, architecture and bytes of memory of the first GPU, or ends the program."""
    execute("CREATE EXTENSION IF NOT EXISTS pg_loom")
    end = time.monotonic() + seconds
    while True:
        row = execute("SELECT name, architecture, memory, problem FROM loom.gpu_devices LIMIT 1")
        fields = row.strip().split("|")
        if len(fields) == 4 and not fields[3]:
            return fields[0], fields[1], int(fields[2])
        if time.monotonic() > end:
            raise SystemExit(f"error: no GPU: {fields[-1]}")
        time.sleep(0.5)


FORMATS = ("parquet", "arrow")


def make_tables(kind, scale, folder, formats=FORMATS):
    """Makes tables of loom-datagen's `kind` as files of each format; returns their schemas."""
    schemas = []
    for form in formats:
        place = pathlib.Path(folder) / f"{kind}-{scale}" / form
        if not place.exists():
            place.mkdir(parents=True)
            command = ["loom-datagen", kind, "--scale", str(scale), "--format", form, "--out", place]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        schema = f"{kind}_{form}"
        execute(
            f"DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema};"
            f'IMPORT FOREIGN SCHEMA "{place}" FROM SERVER arrow_fdw INTO {schema};'
        )
        tables = execute(f"SELECT relname FROM pg_class WHERE relnamespace = '{schema}'::regnamespace")
        for table in tables.split():
            execute(f"ANALYZE {schema}.{table}")
        schemas.append(schema)
    return schemas


def queries(name):
    """Returns the queries of bench/NAME by their names."""
    files = sorted((REPOSITORY / "bench" / name).glob("*.sql"))
    return {file.stem: file.read_text() for file in files}


def settings(schema, device):
    """Statements that a session begins with."""
    return f"SET search_path = {schema}; SET pg_loom.device = {device};\n"


def parts(schema, query):
    """Returns milliseconds (request, kernels) of the GPU's aggregates, and why the others are not its."""
    plan = execute(settings(schema, "gpu") + "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + query)
    there, elsewhere = [], []
    for line in re.findall(r"(?:Device: |^ +)(gpu: .*|cpu: .*)", plan, re.MULTILINE):
        if line.startswith("gpu: "):
            there.append(tuple(float(time) for time in re.findall(r"([\d.]+) ms", line)))
        else:
            elsewhere.append(line.removeprefix("cpu: "))
    return there, elsewhere
