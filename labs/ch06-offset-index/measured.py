"""What is measured: look-ups in a large index, and entries that come and go at its end."""

import random

from kafka_lite.log.offset_index import OffsetIndex

SHOWN = "look up 400 offsets in an index of 20,000 entries, append 50 entries, and truncate them away"
SHOWN_ZH = "在 20,000 个条目的索引里查找 400 个偏移量，追加 50 个条目，再把它们截断"
ROUNDS = 100
ENTRIES, STEP = 20_000, 41


def prepare(folder):
    index = OffsetIndex(folder / "00000000000000001000.index", 1000, 8 * (ENTRIES + 100))
    for number in range(1, ENTRIES + 1):
        index.append(1000 + number * STEP, number * 4100)
    chosen = random.Random(6)

    def one_round(_number):
        targets = [chosen.randrange(1000, 1000 + (ENTRIES + 10) * STEP) for _ in range(400)]
        found = [tuple(index.lookup(target)) for target in targets]
        end = index.last_offset
        for number in range(1, 51):
            index.append(end + number * STEP, (ENTRIES + number) * 4100)
        last = index.last_offset
        index.truncate_to(end + 1)
        return targets[:1], found[:1], sum(position for _, position in found), last, index.last_offset

    return one_round
