"""Small files of what users give: texts that readers take, as the tests change them."""

from __future__ import annotations

from test_import_heat import HEAD

SCENARIO = """\
seed = 3
workload = { name = "fir", scale = 0.015625 }
node.preset = "grit-2gpu"
node.gpu_link.bandwidth = "600GB/s"
memory = { placement = { name = "grit" }, page_size = "64KiB" }
record = { events = true, interval = "10us" }
program.kind = "managed"
"""
JOBS = """\
node.preset = "grit-4gpu"
memory.placement = "grit"
[[job]]
name = "front"
workload = { name = "fir", scale = 0.015625 }
gpus = [0, 1]
[[job]]
name = "back"
workload = { name = "stencil2d", scale = 0.015625 }
start = "5us"
repetitions = 2
"""
NODE = '[node]\nextends = "cuda-sm90"\ngpus = 2\nclock = "1GHz"\n[node.l2]\nsize = "50MiB"\nways = 25\n'
SWEEP = """\
[scenario]
workload = { name = "fir", scale = 0.015625 }
node.preset = "grit-2gpu"
[grid]
node.gpu_link.bandwidth = ["100GB/s", "600GB/s"]
memory.placement = ["grit", "on-touch"]
[zip]
seed = [1, 2]
"""
RANDOM = """\
[scenario]
workload = { name = "fir", scale = 0.015625 }
[random]
points = 3
seed = 4
axes.memory.placement = ["grit", "on-touch"]
axes.node.host_link.bandwidth = { low = "16GB/s", high = "64GB/s" }
"""
LIST = "# Directed graph: a\n# Nodes: 4 Edges: 4\n10 20 0.5\n20 30 1\n30 40 1\n40 10 2\n"
METIS = "% a path\n4 3 011 2\n1 1 2 7\n1 1 1 7 3 9\n1 1 2 9 4 5\n1 1 3 5\n"
DIMACS = "c roads\np sp 4 4\na 1 2 8\na 2 3 1\na 3 4 1\na 4 1 3\n"
MATRIX = "%%MatrixMarket matrix coordinate complex hermitian\n% x\n4 4 3\n2 1 1 0\n3 3 2 0\n4 1 0 1\n"
DENSE = "%%MatrixMarket matrix array real general\n3 2\n1\n0\n2.5\n0\n-1\n4e2\n"
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-01-01 00:00:00.00,37,4\n2024-01-01 00:00:04.31,39,10\n"
BURST = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,A,47,8,55,API log\n6,B,9,2,11,x\n"
MOONCAKE = "".join(
    f'{{"timestamp": {number}, "input_length": 1024, "output_length": 3, "hash_ids": [0, {number}]}}\n'
    for number in (1, 2, 3)
)
PERF = (
    f"{HEAD}\n7,7,0x401000,0x7f2a10000040,30,0x200000002,a.out:main\n7,8,0x401000,0x7f2a10002040,400,0x68100142,x:y\n"
)
SCRIPT = " a.out  7/7  7f2a10000040  68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A   30\n"
DAMON = "".join(
    f"kdamond.0 4 [000] 8.{number}: damon:damon_aggregated: target_id=9 nr_regions=2 {first}-{first + 4096}: 7 3\n"
    for number in (1, 2)
    for first in (4096, 16384)
)
LACKEY = "==7== Lackey\nI  0401ab70,3\n S 1fff000668,8\n L 1fff000668,8\n M 04a22cac,4\n L 1fff000640,32\n"
