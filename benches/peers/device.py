#!/usr/bin/env python3
"""Runs the same ONNX models with sublet and with onnxruntime-webgpu (PyPI 1.27.0) on one Vulkan driver, one
after the other in one run: device memory by one meter, seconds of the second run, and whether the results
agree.

    benches/peers/device.py --meter DIR [--driver ICD.json] [--sublet PATH] [--scratch DIR] MODEL.onnx...

--meter is a folder with a Vulkan layer that prints `VKMEM exit alloc_peak=BYTES .. buffer_peak=BYTES` when a
process ends, under the name VK_LAYER_LOCAL_vkmem. --driver is the driver's file; onnxruntime-webgpu (Dawn)
finds no adapter on old versions of lavapipe, SwiftShader from Debian's chromium serves both.
onnxruntime-webgpu is installed into a scratch environment outside the tree. A side that did not run on the
driver, or whose results disagree, ends the script with an error.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv

PEER = ["onnxruntime-webgpu==1.27.0", "numpy"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = 2

# Runs inside the scratch environment: inputs as sublet makes them where none are given.
PEER_CODE = """
import json, sys, time
import numpy as np, onnxruntime as ort
options = ort.SessionOptions()
options.log_severity_level = 3
session = ort.InferenceSession(sys.argv[1], options, providers=["WebGpuExecutionProvider", "CPUExecutionProvider"])
assert session.get_providers()[0] == "WebGpuExecutionProvider", session.get_providers()
feed = {}
for i in session.get_inputs():
    shape = [d if isinstance(d, int) else 1 for d in i.shape]
    k = np.arange(int(np.prod(shape)), dtype=np.int64) * 7919 % 1000
    floats = i.type == "tensor(float)"
    data = k.astype(np.float32) / np.float32(1000) if floats else (k % 256).astype(
        np.int64 if "int64" in i.type else np.int32)
    feed[i.name] = data.reshape(shape)
seconds = []
for _ in range(int(sys.argv[3])):
    start = time.perf_counter()
    outputs = session.run(None, feed)
    seconds.append(time.perf_counter() - start)
np.save(sys.argv[2], outputs[0])
print(json.dumps({"seconds": seconds}))
"""


def peer_python(scratch):
    python = scratch / "bin" / "python"
    if not python.exists():
        venv.create(scratch, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEER], check=True)
    return python


def metered(command, env):
    """The process's stdout and the meter's two peaks, bytes."""
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    found = re.search(r"VKMEM exit alloc_peak=(\d+) .*buffer_peak=(\d+)", done.stderr + done.stdout)
    if done.returncode or not found:
        raise SystemExit(f"{command[0]} failed, or the meter saw no device:\n{done.stdout}{done.stderr}")
    return done.stdout, int(found[1]), int(found[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--meter", required=True, type=pathlib.Path)
    parser.add_argument("--driver", default="/usr/lib/chromium/vk_swiftshader_icd.json")
    parser.add_argument("--sublet", default=ROOT / "target/release/sublet", type=pathlib.Path)
    parser.add_argument("--scratch", default=pathlib.Path(tempfile.gettempdir()) / "sublet-peer-ort", type=pathlib.Path)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    python = peer_python(args.scratch)
    env = os.environ | {
        "VK_ICD_FILENAMES": args.driver,
        "VK_LAYER_PATH": str(args.meter.resolve()),
        "VK_INSTANCE_LAYERS": "VK_LAYER_LOCAL_vkmem",
    }
    env.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    print("| model | side | allocated, peak MB | buffers, peak MB | second run s | memory ratio | time ratio |")
    print("|---|---|---|---|---|---|---|")
    for model in args.models:
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out0.npy"
            text, peer_alloc, peer_buffers = metered(
                [python, "-c", PEER_CODE, str(model), str(out), str(RUNS)], env)
            peer_s = json.loads(text.splitlines()[-1])["seconds"][-1]
            text, alloc, buffers = metered(
                [args.sublet, "run", str(model), "--runs", str(RUNS - 1), "--expect", f"0={out}", "--json"], env)
            report = json.loads(text)
            if report["ok"] is not True or report["adapter"]["backend"] != "vulkan":
                raise SystemExit(f"{model}: sublet did not agree on the driver: {text[:2000]}")
            seconds = report["timing"]["run_s"]
        name = model.stem
        print(f"| {name} | onnxruntime-webgpu | {peer_alloc / 1e6:.1f} | {peer_buffers / 1e6:.1f} | {peer_s:.2f} | 1 | 1 |")
        print(f"| {name} | sublet | {alloc / 1e6:.1f} | {buffers / 1e6:.1f} | {seconds:.2f} "
              f"| {alloc / peer_alloc:.3f} | {seconds / peer_s:.3f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
