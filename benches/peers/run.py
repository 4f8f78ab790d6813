#!/usr/bin/env python3
"""Plans the same usage-record files with sublet and with omnimalloc (PyPI 1.0.0), in one run.

    benches/peers/run.py [--sublet PATH] [--scratch DIR] [--deadline SECONDS] [--inclusive] FILE.csv...

omnimalloc is installed into a scratch environment outside the tree (by default in the temporary folder),
never into the machine's own Python. Its allocators: the greedy portfolio `omni` and the exact
`supermalloc` on one thread; the deadline holds for supermalloc and for sublet alike. Every answer,
sublet's too, is checked here for overlaps.
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import venv

PEER = "omnimalloc==1.0.0"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def read(path, inclusive):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    upper = 1 if inclusive else 0
    return [(row["id"], int(row["lower"]), int(row["upper"]) + upper, int(row["size"])) for row in rows]


def max_load(rows):
    events = [(lower, size) for _, lower, _, size in rows] + [(upper, -size) for _, _, upper, size in rows]
    live = most = 0
    for _, size in sorted(events):
        live += size
        most = max(most, live)
    return most


def checked_peak(rows, offset_of):
    """The peak, after a sweep that compares every newcomer with what lives."""
    live, peak = [], 0
    for name, lower, upper, size in sorted(rows, key=lambda row: row[1]):
        live = [other for other in live if other[0] > lower]
        begin = offset_of[name]
        end = begin + size
        for _, other_begin, other_end, other in live:
            if size and other_begin < end and begin < other_end:
                raise SystemExit(f"{name} and {other} overlap")
        live.append((upper, begin, end, name))
        peak = max(peak, end)
    return peak


def run_sublet(binary, path, rows, deadline, inclusive):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "plan.csv"
        command = [binary, "plan", str(path), "--json", "--threads", "1", "--out", str(out)]
        command += ["--deadline", f"{deadline}s"] + (["--inclusive"] if inclusive else [])
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: {answer.stdout}{answer.stderr}")
        report = json.loads(answer.stdout)
        with open(out, newline="", encoding="utf-8") as file:
            offsets = {row["id"]: int(row["offset"]) for row in csv.DictReader(file)}
    peak = checked_peak(rows, offsets)
    assert peak == report["peak_bytes"], (peak, report["peak_bytes"])
    return peak, report["seconds"], report.get("proof") or "-"


def environment(scratch):
    """A Python with the peer in it."""
    python = scratch / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        print(f"installing {PEER} into {scratch}", file=sys.stderr)
        venv.create(scratch, with_pip=True)
    installed = subprocess.run([python, "-m", "pip", "show", "omnimalloc"], capture_output=True, check=False)
    if installed.returncode != 0:
        subprocess.run([python, "-m", "pip", "install", "--quiet", PEER], check=True)
    return python


def run_peer(python, rows, deadline):
    problem = json.dumps({"rows": rows, "deadline": deadline})
    program = pathlib.Path(__file__).with_name("omnimalloc_once.py")
    answers = []
    for allocator in ("omni", "supermalloc"):
        limit = max(30.0, 10 * deadline)
        try:
            answer = subprocess.run(
                [python, program, allocator],
                input=problem, capture_output=True, text=True, check=False, timeout=limit,
            )
        except subprocess.TimeoutExpired:
            answers.append((allocator, None, limit))
            continue
        if answer.returncode != 0:
            raise SystemExit(f"omnimalloc {allocator}: {answer.stderr}")
        result = json.loads(answer.stdout)
        offsets = {name: offset for (name, *_), offset in zip(rows, result["offsets"])}
        answers.append((allocator, checked_peak(rows, offsets), result["seconds"]))
    return answers


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("files", nargs="+", metavar="FILE.csv", type=pathlib.Path)
    parser.add_argument("--sublet", default=str(ROOT / "target/release/sublet"), help="the binary")
    scratch = pathlib.Path(tempfile.gettempdir()) / "sublet-peers"
    parser.add_argument("--scratch", type=pathlib.Path, default=scratch, help="the environment's folder")
    parser.add_argument("--deadline", type=float, default=10.0, help="seconds an instance, each side")
    parser.add_argument("--inclusive", action="store_true", help="upper is the last step itself")
    arguments = parser.parse_args()
    python = environment(arguments.scratch)
    started = time.time()
    head = f"{'instance':<24} {'n':>6} {'load':>14}  {'sublet':>14} {'ratio':>8} {'s':>8} {'proof':<12}"
    print(head + "".join(f"  {name:>14} {'ratio':>8} {'s':>8}" for name in ("omni", "supermalloc")))
    for path in arguments.files:
        rows = read(path, arguments.inclusive)
        load = max_load(rows)
        peak, seconds, proof = run_sublet(
            arguments.sublet, path, rows, arguments.deadline, arguments.inclusive)
        line = f"{path.stem[:24]:<24} {len(rows):>6} {load:>14}  "
        line += f"{peak:>14} {peak / load:>8.5f} {seconds:>8.3f} {proof:<12}"
        for _, other, seconds in run_peer(python, rows, arguments.deadline):
            line += f"  {'-':>14} {'-':>8} {seconds:>8.3f}" if other is None else \
                f"  {other:>14} {other / load:>8.5f} {seconds:>8.3f}"
        print(line, flush=True)
    print(f"{len(arguments.files)} instances in {time.time() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
