"""What a plain loop of writes and reads finds out about a disk: usage: plain-disk.py FOLDER BLOCK_BYTES SIZE_MB...

Three files of each size, in shuffled order, each written and synced, then read, with direct I/O. Prints the line of least squares of relative errors
of time over size as JSON: for "write" and "read" the bandwidth in bytes a second and the latency in seconds.
"""
import json
import mmap
import os
import random
import sys
import time

folder, block = sys.argv[1], int(sys.argv[2])
sizes = [-(int(float(size) * 1e6) // -16384) * 16384 for size in sys.argv[3:]] * 3
random.Random(1).shuffle(sizes)
memory = mmap.mmap(-1, block)
memory[:] = os.urandom(block)


def timed(call, size, after=lambda: None):
    begin = time.perf_counter()
    for at in range(0, size, block):
        data = memoryview(memory)[: min(block, size - at)]
        if call(data, at) != len(data):
            sys.exit("a short transfer")
    after()
    return size, time.perf_counter() - begin


times = {"write": [], "read": []}
for number, size in enumerate(sizes):
    path = f"{folder}/plain-{number}"
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_DIRECT)
    times["write"].append(timed(lambda data, at: os.pwrite(fd, data, at), size, lambda: os.fsync(fd)))
    times["read"].append(timed(lambda data, at: os.preadv(fd, [data], at), size))
    os.close(fd)
    os.unlink(path)

found = {}
for direction, points in times.items():
    weights = [seconds**-2 for _, seconds in points]
    mean = lambda values: sum(w * v for w, v in zip(weights, values)) / sum(weights)
    x, y = mean(size for size, _ in points), mean(seconds for _, seconds in points)
    slope = mean((size - x) * (seconds - y) for size, seconds in points) / mean((size - x) ** 2 for size, _ in points)
    found[direction] = {"bandwidth": 1 / slope, "latency": y - slope * x}
print(json.dumps(found))
