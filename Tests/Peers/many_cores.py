#!/usr/bin/env python3
"""Expected speeds of phibatch on machines with 64 to 192 cores, by a model of a step: nobody has measured them.

A step is a row of regions (ComputePool), each as long as its slowest thread takes, and what beginning and ending it
costs. A thread takes the longer of its arithmetic and its share of the weights and of the KV cache. Matrices are
shared out in pieces as ComputePool does it, by `simulated`. What is assumed is in MACHINES, and:

- ARITHMETIC is the share of the peak that products reach (78 to 83 % measured on two cores of Zen 4), ROW what a thread
  does with a row of 3,072 floats in a layer beside products and the cache (7 % of a step's time there).
- FAR is what a cache line takes from one core to another, on one socket and between two, in nanoseconds; a thread
  waits for LINES at once. A region's end takes one look at each thread's line, twice: who has what left, who is done.
- ALONE is what one thread does of a layer by itself (measured: 1.5 ms a step of 30 layers and 64 rows).
- Weights lie beside the threads that multiply them; the KV cache does not: half of it is read from the other node, at
  LINK of the speed. `--kv-by-node` is the model with each sequence's keys on the node that reads them.

    many_cores.py [--kv-by-node] [--positions 512]
"""
import argparse
import heapq
from collections import namedtuple

# Cores and memory are of one node. Products: multiply-adds a cycle and core at most; clock in GHz with all cores at
# work; bandwidth in GB/s that reads reach (80 % of what the modules can).
Machine = namedtuple("Machine", "name nodes cores products clock bandwidth together")
MACHINES = [
    # Measured in README: 99.8, 80.0 with 32 requests, 13.9. Memory gave 32 GB/s then.
    Machine("2 cores of Zen 4", 1, 2, 64, 3.68, 32, 3),
    Machine("AMD EPYC 9654, 2 x 96, VNNI", 2, 96, 64, 3.1, 369, 3),
    # Tiles: 160 instructions for 16,384 products (make counts), 3.5 a cycle.
    Machine("Intel Xeon 8592+, 2 x 64, AMX", 2, 64, 16384 / (160 / 3.5) / 0.8, 2.6, 287, 2),
    # 124 instructions for 1,000 products (make counts), 4 a cycle.
    Machine("AWS Graviton4, 96, i8mm", 1, 96, 4 / 0.124 / 0.8, 2.8, 430, 2),
]
ARITHMETIC, ROW, LINES, ALONE, LINK = 0.8, 40e-6, 10, 50e-6, 0.4
FAR = {1: 100e-9, 2: 200e-9}
# Rows and columns of a layer's matrices, layers, rows of the head, bytes of a position's keys and values in a layer.
Model = namedtuple("Model", "name matrices layers head kv")
MODELS = [
    Model("Phi-3-mini", [(9216, 3072), (3072, 3072), (16384, 3072), (3072, 8192)], 32, 32064, 2 * 32 * (96 + 4)),
    Model("Phi-4 (14B)", [(7680, 5120), (5120, 5120), (35840, 5120), (5120, 17920)], 40, 100352, 2 * 10 * (128 + 4)),
]
BYTES = 0.5 + 4 / 64 + 2 / 64  # of a weight: 4 bits, scales and biases
REGIONS = 9  # of a layer: four products, what prepares each, attention


def region_cost(machine):
    threads, far = machine.nodes * machine.cores, FAR[machine.nodes]
    # One line is read by all when a region begins; they are served one after the other, in a tenth of the way.
    return 2 * far + (threads - 1) * (far / 10 + 2 * far / LINES)


def simulated(blocks, threads, together):
    """The blocks that the slowest of so many threads gets, where each takes half of its share and then others'."""

    def most(unit):
        return -(-(-(-blocks // unit)) // threads) * unit
    unit = together if 16 * most(together) <= 17 * most(1) else 1
    left = [blocks * (t + 1) // threads // unit * unit - blocks * t // threads // unit * unit for t in range(threads)]
    left[-1] += blocks - sum(left)
    clock = [(0, t) for t in range(threads)]
    end = 0
    while clock:
        now, thread = heapq.heappop(clock)
        end = max(end, now)
        share = next((s for s in range(thread, thread + threads) if left[s % threads] > 0), None)
        if share is None:
            continue
        rest = left[share % threads]
        taken = min(rest, max(unit, rest // 2 // unit * unit))
        left[share % threads] -= taken
        heapq.heappush(clock, (now + taken, thread))
    return end


def step(machine, model, rows, positions, heads, kv_by_node):
    """Seconds of a step with `heads` rows of logits, and of these what regions cost and what one thread does alone."""
    threads = machine.nodes * machine.cores
    rate = machine.products * machine.clock * 1e9 * ARITHMETIC
    bandwidth = machine.bandwidth * 1e9 / machine.cores

    def product(matrix, rows):
        slowest = simulated(-(-matrix[0] // 16), threads, machine.together) * 16 * matrix[1]
        return max(slowest * rows / rate, slowest * BYTES / bandwidth)

    remote = 1 if machine.nodes == 1 or kv_by_node else 0.5 + 0.5 / LINK
    # Rows of one prompt read the cache sixteen at a time.
    attention = rows * positions * model.kv / (1 if heads == rows else 16) / threads / bandwidth * remote
    others = -(-rows // threads) * ROW * model.matrices[0][1] / 3072
    work = model.layers * (sum(product(m, rows) for m in model.matrices) + attention + others)
    work += -(-heads // 32) * product((model.head, model.matrices[0][1]), min(heads, 32))
    regions = model.layers * REGIONS * region_cost(machine)
    # Shorter with fewer rows, but never less than a third.
    alone = model.layers * ALONE * min(1, max(rows / 64, 1 / 3))
    return work + regions + alone, regions, alone


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--positions", type=int, default=192, help="of each request, when a token is made (%(default)s)")
    p.add_argument("--kv-by-node", action="store_true")
    a = p.parse_args()
    works = [("prefill", 512, 256, 1)] + [
        (f"{n} request{'s' * (n > 1)}", n, a.positions, n) for n in (256, 64, 32, 1)]
    print("tokens/s; in brackets what regions cost and what one thread does alone, in percent of the time\n")
    print("| machine | model | region | " + " | ".join(name for name, *_ in works) + " |")
    print("|---" * (3 + len(works)) + "|")
    halves = [m._replace(name=f"one node of {m.name}", nodes=1) for m in MACHINES if m.nodes > 1]
    for machine in MACHINES + halves:
        for model in MODELS:
            cells = []
            for _, rows, positions, heads in works:
                seconds, regions, alone = step(machine, model, rows, positions, heads, a.kv_by_node)
                cells.append(f"{rows / seconds:,.0f} ({100 * regions / seconds:.0f}, {100 * alone / seconds:.0f})")
            print(f"| {machine.name} | {model.name} | {1e6 * region_cost(machine):.1f} us | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
