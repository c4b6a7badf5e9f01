# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Notebook: a segment, byte by byte
#
# *Book 6.1.3; the text to it is [Log segments and indexes](log-segments.md).*
#
# Every object below is the broker's own: `LogSegment`, `OffsetIndex`, `TimeIndex`, `FileMessageSet`, writing real files
# into a temporary folder. The drawings are made from those objects, so that they show what is, not what should be.
# Before you run a cell that ends in a question, answer it.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

from kafka_lite.common.time import MockTime
from kafka_lite.learn.segment_drawings import append_message, draw_bytes, draw_search, draw_segment, record_search
from kafka_lite.log.abstract_index import CorruptIndexError, InvalidOffsetError
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.offset_index import OffsetIndex

folder = TemporaryDirectory()
directory = Path(folder.name)
config = LogConfig({"index.interval.bytes": "200", "segment.index.bytes": "4096", "message.format.version": "0.10.2"})


def files():
    """The segment's files, as `ls -l` and `du` see them."""
    for file in sorted(directory.iterdir()):
        status = file.stat()
        print(f"{file.name:34} {status.st_size:6} bytes, {status.st_blocks * 512:6} on the disk")


# %% [markdown]
# ## An empty segment
#
# The base offset is 20, as if a segment with messages 0 to 19 had been rolled just now.

# %%
segment = LogSegment.open(directory, 20, config, MockTime())
files()

# %% [markdown]
# Both indexes have their full size from the beginning: 4096 is a multiple of 8, and 4092 the largest multiple of 12
# below. They are holes, which take no block on the disk until something is written into them.
#
# ## The first append
#
# One message of 101 bytes in format v1, the book's. **Which bytes does the index get?**

# %%
append_message(segment, offset=20, timestamp=1_600_000_001_000)
print("log:", segment.size, "bytes; index entries:", segment.offset_index.entries)
draw_bytes(
    segment.log.read(0, 26).to_bytes(),
    [("offset", 8), ("size", 4), ("crc", 4), ("magic", 1), ("attr", 1), ("timestamp", 8)],
)

# %% [markdown]
# None at all: fewer than 200 bytes had been written since the last entry (there was none, and nothing before). The
# drawing shows the message's head; key and value follow. Its size, 89, counts what follows the field.
#
# ## Until the index has entries

# %%
for number in range(1, 12):
    append_message(segment, offset=20 + number, timestamp=1_600_000_001_000 + 1000 * number)
draw_segment(segment)

# %% [markdown]
# Entry 0 describes offset 22: when it was appended, 202 bytes had come since the beginning, more than 200. Then the
# counter starts again. These are the bytes:

# %%
segment.offset_index.flush()
used = segment.offset_index.file.read_bytes()[: segment.offset_index.size_in_bytes]
print(used.hex(" ", 4))
draw_bytes(used[:16], [("offset", 4), ("position", 4), ("offset", 4), ("position", 4)])

# %% [markdown]
# ## Are these Kafka's bytes?
#
# A broker of Kafka 0.10.2.2 was given the same kind of messages with the same interval, one by one; its ones were one
# byte longer from number 10 on. This is the beginning of its index for a segment with base offset 20. Our
# `OffsetIndex` reads it as it reads its own.

# %%
kafkas = bytes.fromhex("00000002000000cc 0000000400000198 0000000600000264 0000000800000330 0000000a000003fc")
captured = directory / "captured.index"
captured.write_bytes(kafkas)
index_of_kafka = OffsetIndex(captured, base_offset=20, max_index_size=4096)
for n in range(index_of_kafka.entries):
    print(n, index_of_kafka.entry(n))
assert [index_of_kafka.entry(n).offset for n in range(5)] == [segment.offset_index.entry(n).offset for n in range(5)]
index_of_kafka.delete()

# %% [markdown]
# The offsets are the same as ours; the positions differ by the extra byte of every message (102 instead of 101).
#
# ## Looking up offset 27
#
# **Which entry is found, and how many messages are passed before 27 is reached?**

# %%
print("index:", segment.offset_index.lookup(27))
print("log:  ", segment.translate_offset(27))
draw_segment(segment, highlight=27)

# %% [markdown]
# Green is the entry, blue is passed, orange is the answer. What does the lookup say at the edges?

# %%
for target in (19, 20, 21, 22, 31, 32, 1000):
    print(f"{target:4}: index {tuple(segment.offset_index.lookup(target))}, log {segment.translate_offset(target)}")

# %% [markdown]
# Below the base offset and below the first entry: the beginning of the file. Beyond the end the index still gives its
# last entry, since it cannot know where the log ends; the log can, and says None.
#
# ## The search, turn by turn
#
# A longer index makes the search visible. `record_search` notes which entries the index reads while it runs.

# %%
for number in range(12, 40):
    append_message(segment, offset=20 + number, timestamp=1_600_000_001_000 + 1000 * number)
slot, steps = record_search(segment.offset_index, 51)
for step in steps:
    print(step)
draw_search(segment.offset_index, 51)

# %% [markdown]
# 19 entries, at most five turns: log₂ 19 = 4.2. How many for each possible target?

# %%
turns = [len(record_search(segment.offset_index, target)[1]) for target in range(22, 60)]
print("fewest", min(turns), "most", max(turns))

# %% [markdown]
# ## Breaking the order
#
# The search stands on sorted entries, so `append` refuses what would break them.

# %%
before = segment.offset_index.entries
for offset in (20, 40, segment.offset_index.last_offset):
    try:
        segment.offset_index.append(offset, 0)
    except InvalidOffsetError as error:
        print(str(error).replace(str(directory), "…"))
assert segment.offset_index.entries == before

# %% [markdown]
# ## Timestamps that go back
#
# In a new segment, producers' clocks disagree. **Which of the timestamps 1, 4, 2, 6, 5, 3, 10, 9, 8, 7, 12, 11 become
# entries of the time index?** An offset index entry is due at every second message, beginning with the third.

# %%
times = LogSegment.open(directory, 60, config, MockTime())
for number, seconds in enumerate((1, 4, 2, 6, 5, 3, 10, 9, 8, 7, 12, 11)):
    append_message(times, offset=60 + number, timestamp=1_600_000_000_000 + 1000 * seconds)
draw_segment(times, timestamps=True)

# %% [markdown]
# At each entry of the offset index the largest timestamp *so far* is noted, with the offset that has it; at offset 68
# it was still 10, which is there already. Now search by time:

# %%
for seconds in (0, 3, 5, 7, 11, 12, 13):
    wanted = 1_600_000_000_000 + 1000 * seconds
    entry = times.time_index.lookup(wanted)
    found = times.find_offset_by_timestamp(wanted, starting_offset=60)
    where = f"offset {found.offset} (t={(found.timestamp - 1_600_000_000_000) // 1000})" if found else "nothing"
    print(f"from t={seconds:2} on: all before offset {entry.offset} is older; found {where}")

# %% [markdown]
# ## Rolling
#
# When a segment stops being the active one, its indexes are trimmed to what they have, and the time index gets a last
# entry, so that the largest timestamp of the segment can be read off without the log.

# %%
print("before:", times.time_index.entries, "entries")
times.on_become_inactive_segment()
print("after: ", times.time_index.entries, "entries")
files()

# %% [markdown]
# No new entry here: the largest timestamp, 12, had been noted at offset 70. Segment 60 is closed in form; segment 20 is
# still the preallocated, active one.
#
# ## The power fails
#
# Nobody closes segment 20. We open its files again, as a starting broker would. **How many entries does the index have
# now?**

# %%
segment.flush()
after_crash = OffsetIndex(directory / f"{20:020d}.index", base_offset=20, max_index_size=4096)
print(after_crash.entries, "entries, the last one", after_crash.entry(after_crash.entries - 1))
try:
    after_crash.sanity_check()
except CorruptIndexError as error:
    print("sanity_check:", str(error).replace(str(directory), "…"))

# %% [markdown]
# Every eight bytes of the file count as an entry, and the last is zero, which no real entry is. So the index is not
# trusted: recovery reads the log and builds it anew. To make it interesting, the last batch is torn, as if only half of
# it had reached the disk.

# %%
segment.log.truncate_to(segment.size - 40)
recovered = LogSegment.open(directory, 20, config, MockTime())
cut_off = recovered.recover()
print("cut off:", cut_off, "bytes; next offset:", recovered.read_next_offset())
recovered.sanity_check()
files()

# %% [markdown]
# The torn batch is gone (its remaining 61 bytes), both indexes hold again, and a lookup works as before:

# %%
print(recovered.translate_offset(27))
assert recovered.translate_offset(27).position == 7 * 101

# %% [markdown]
# ## Truncating, as a follower does
#
# The new leader has messages up to offset 29. **Which index entries stay after `truncate_to(30)`?**

# %%
recovered.truncate_to(30)
print("log ends at", recovered.read_next_offset(), "with", recovered.size, "bytes")
draw_segment(recovered)

# %% [markdown]
# The entry of offset 30 went with its message; that of 28 stays. The file has its full room again: this is the active
# segment now.

# %%
recovered.close()
folder.cleanup()

# %% [markdown]
# ## Now you
#
# - Set `index.interval.bytes` to 0 and to 1000 at the top and predict the drawings before you run them.
# - Write batches of format v2 with ten messages each (`MemoryRecordsBuilder(magic=2)`). Which offset do the entries
#   have now, and why does `lookup` not mind?
# - Then write the index yourself: [the lab](../../labs/ch06-offset-index.md).
