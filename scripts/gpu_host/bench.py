"""The Star Schema Benchmark on a GPU beside the CPU engine of the same host."""

import datetime
import json
import math
import statistics
import time

from gpu_host import load, server


def geometric_mean(values):
    """Of values above 0."""
    return math.exp(statistics.fmean(math.log(value) for value in values))


def median_time(schema, device, text, repetitions):
    """Milliseconds of a warm query in psql."""
    body = server.settings(schema, device) + text + "\n\\timing on\n" + (text + "\n") * repetitions
    return statistics.median(server.psql(body).milliseconds())


def bench_query(schema, name, text, repetitions):
    """One query; the first run on the GPU loads columns and compiles kernels."""
    wanted = server.execute(server.settings(schema, "cpu") + text)
    begin = time.monotonic()
    given = server.execute(server.settings(schema, "gpu") + text)
    first = (time.monotonic() - begin) * 1000
    if given != wanted:
        raise SystemExit(f"error: {schema} {name}: another answer than the CPU engine's")
    there, elsewhere = server.parts(schema, text)
    return {
        "query": name,
        "first": first,
        "gpu": median_time(schema, "gpu", text, repetitions),
        "cpu": median_time(schema, "cpu", text, 3),
        "request": sum(request for request, _ in there),
        "kernels": sum(kernels for _, kernels in there),
        "not on the gpu": elsewhere,
    }


def run(options):
    """Prints a table a format and writes gpu.json."""
    name, architecture, memory = server.wait_for_device()
    print(f"{name}, {architecture}, {memory / 2**30:.0f} GiB")
    print(f"SSB, scale {options.scale}, medians of {options.repetitions}; ms")
    texts = server.queries("ssb")
    results = {"device": name, "date": datetime.datetime.now().isoformat(), "scale": options.scale}
    for schema in server.make_tables("ssb", options.scale, options.folder, options.formats):
        rows = [bench_query(schema, query, text, options.repetitions) for query, text in texts.items()]
        print(f"{schema:<14}{'first':>10}{'gpu':>10}{'request':>10}{'kernels':>10}{'cpu':>10}")
        for row in rows:
            warm = "".join(f"{row[key]:>10.2f}" for key in ("gpu", "request", "kernels", "cpu"))
            print(f"{row['query']:<14}{row['first']:>10.0f}{warm}")
        means = {key: geometric_mean([row[key] for row in rows]) for key in ("gpu", "cpu")}
        print(f"geometric mean: gpu {means['gpu']:.2f}, cpu {means['cpu']:.1f}")
        print(f"kernels, all queries: {sum(row['kernels'] for row in rows):.2f}", flush=True)
        beyond = max(rows, key=lambda row: row["gpu"] - row["kernels"])
        print(f"psql beyond kernels: at most {beyond['gpu'] - beyond['kernels']:.2f} ({beyond['query']})", flush=True)
        right = {query: server.execute(server.settings(schema, "cpu") + text) for query, text in texts.items()}
        rates = {}
        for count in (1, 8, 32):
            rates[count], _, wrong = load.run_sessions(schema, texts, right, count, options.seconds)
            if wrong:
                raise SystemExit(f"error: {schema}: {wrong} sessions got another answer than the CPU engine's")
            print(f"{count} sessions: {rates[count]:.0f} queries/s", flush=True)
        results[schema] = {"queries": rows, "geometric_mean": means, "queries_per_second": rates}
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=2)
