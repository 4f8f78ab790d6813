"""One problem on stdin, one allocator; offsets and seconds on stdout.

Runs in the scratch environment of run.py.
"""

import json
import sys
import time

import omnimalloc
from omnimalloc.allocators.omni import OmniAllocator
from omnimalloc.allocators.supermalloc import SupermallocAllocator

problem = json.load(sys.stdin)
omnimalloc.set_max_threads(1)
allocations = [
    omnimalloc.Allocation(id=i, size=size, start=lower, end=upper)
    for i, (_, lower, upper, size) in enumerate(problem["rows"])
]
allocator = OmniAllocator() if sys.argv[1] == "omni" else SupermallocAllocator(timeout=problem["deadline"])
started = time.perf_counter()
placed = omnimalloc.allocate(allocations, allocator)
seconds = time.perf_counter() - started
offsets = {allocation.id: allocation.offset for allocation in placed}
json.dump({"offsets": [offsets[i] for i in range(len(allocations))], "seconds": seconds}, sys.stdout)
