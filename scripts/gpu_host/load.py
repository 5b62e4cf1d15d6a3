"""Many sessions at once, in peace and while the device's process dies."""

import subprocess
import threading
import time

from gpu_host import server


def run_sessions(schema, queries, right, count, seconds, each_second=None):
    """Runs all queries again and again in `count` sessions. Returns queries a second, how many, and wrong answers."""
    text = server.settings(schema, "gpu") + "".join(query + "\n" for query in queries.values())
    expected = "".join(right[name] for name in queries)
    done = [0] * count
    wrong = [0] * count
    end = time.monotonic() + seconds

    def work(number):
        while time.monotonic() < end:
            answer = server.psql(text)
            done[number] += len(queries)
            if not answer.good or answer.text != expected:
                wrong[number] += 1

    begin = time.monotonic()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    while each_second is not None and time.monotonic() < end:
        each_second()
        time.sleep(1)
    for thread in threads:
        thread.join()
    return sum(done) / (time.monotonic() - begin), sum(done), sum(wrong)


class Killer:
    """Kills the device's process."""

    def __init__(self):
        self.kills = 0

    def __call__(self):
        command = ["pkill", "-9", "-x", "loom-gpud"]
        self.kills += subprocess.run(command, check=False).returncode == 0
