"""Fields of GRIB2 files unpacked by this library and by ecCodes, in turns in one run.

    pip install eccodes
    cargo bench -p mesonet --features grib --bench grib --no-run
    python core/benches/peers/grib.py target/release/deps/grib-… FILE…

One core. The time is that of the CPU: of `codes_get_values` for ecCodes, of `Field::values` and a
line through a pipe for this library. Prints for each file and packing the median of the rounds for
all its fields (at most 20), and how often the one of this library fits into that of ecCodes.
ROUNDS=n sets the rounds, 7 by default. Constant fields are left out.
"""

import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import eccodes

PACKINGS = {0: "simple", 2: "complex", 3: "complex", 40: "JPEG 2000", 41: "PNG", 42: "CCSDS"}
ROUNDS = int(os.environ.get("ROUNDS", "7"))
MOST_FIELDS = 20

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
program, *files = sys.argv[1:]
peer = subprocess.Popen(
    [program, *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
)
# The clock of the CPU time of another process: clock_getcpuclockid(3).
CLOCK = (~peer.pid << 3) | 2


def ours(file, field):
    start = time.clock_gettime_ns(CLOCK)
    peer.stdin.write(f"{file} {field}\n")
    answer = peer.stdout.readline().split()
    return time.clock_gettime_ns(CLOCK) - start, answer


def theirs(message):
    handle = eccodes.codes_new_from_message(message)
    eccodes.codes_set(handle, "missingValue", 1e20)
    start = time.process_time_ns()
    values = eccodes.codes_get_values(handle)
    took = time.process_time_ns() - start
    eccodes.codes_release(handle)
    return took, values


eccodes.codes_grib_multi_support_on()


def messages(file):
    with open(file, "rb") as opened:
        while (handle := eccodes.codes_grib_new_from_file(opened)) is not None:
            template = eccodes.codes_get(handle, "dataRepresentationTemplateNumber")
            constant = eccodes.codes_get(handle, "bitsPerValue") == 0
            yield None if constant else PACKINGS.get(template), eccodes.codes_get_message(handle)
            eccodes.codes_release(handle)


print(f"ecCodes {eccodes.codes_get_api_version()}, {ROUNDS} rounds")
print("packing    fields    values    ecCodes      ours  ratio  file")
for file, name in enumerate(files):
    fields = defaultdict(list)
    for field, (packing, message) in enumerate(messages(name)):
        if packing and len(fields[packing]) < MOST_FIELDS:
            fields[packing].append((field, message))
    for packing, chosen in fields.items():
        rounds, count = [], 0
        for number in range(ROUNDS + 1):
            sums = [0, 0]
            for field, message in chosen:
                (their_ns, values), (our_ns, answer) = theirs(message), ours(file, field)
                sums = [sums[0] + their_ns, sums[1] + our_ns]
                if number == 0:
                    count += len(values)
                    assert answer[0] == str(len(values)), f"{name}, field {field}: {answer}"
            # The first round fills the caches.
            rounds += [sums] if number else []
        theirs_ms, ours_ms = (statistics.median(each) / 1e6 for each in zip(*rounds))
        print(
            f"{packing:10} {len(chosen):6} {count:9} {theirs_ms:8.2f} ms {ours_ms:6.2f} ms "
            f"{theirs_ms / ours_ms:5.2f}× {Path(name).name}",
            flush=True,
        )
