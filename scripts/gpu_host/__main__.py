"""python3 -m gpu_host test | bench; see scripts/gpu-test and scripts/bench."""

import argparse
import sys

from gpu_host import bench, server, test


def main():
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="gpu_host")
    parser.add_argument("what", choices=("test", "bench"))
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--folder", default="/tmp/pg_loom_gpu", help="where generated files are kept")
    parser.add_argument("--seconds", type=float, default=60, help="of sessions whose process dies; bench: of each load")
    parser.add_argument("--random", type=int, default=2000, help="random queries")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--formats", nargs="+", choices=server.FORMATS, default=server.FORMATS, help="of the bench")
    parser.add_argument("--out", default="gpu.json")
    options = parser.parse_args()
    options.scale = int(options.scale) if options.scale == int(options.scale) else options.scale
    if options.what == "bench":
        bench.run(options)
        return 0
    return 0 if test.run(options) else 1


if __name__ == "__main__":
    sys.exit(main())
