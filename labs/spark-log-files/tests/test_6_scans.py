"""Task 6: what a sparse index costs."""

import random

import pytest

from kafka_learn.labs.rows import must_equal, rows_of
from pipeline.tables.log_files import batches, index_density, index_entries, scan_lengths


def scans(spark, folder):
    found = scan_lengths(batches(spark, folder), index_entries(spark, folder))
    return {(row["partition"], row["base_offset"]): row["scan_bytes"] for row in rows_of(found)}


@pytest.fixture
def five(batch, log_folder):
    """Five batches of 10 records; ``five({19: 1, 39: 3})`` has entries, offset → number of its batch."""

    def make(entries, base=0):
        parts = [batch(base + 10 * number, 10) for number in range(5)]
        starts = [sum(map(len, parts[:number])) for number in range(5)]
        index = [(base + offset, starts[number]) for offset, number in entries.items()]
        return log_folder({"flights-0": {base: parts}}, {("flights-0", base): index}), starts

    return make


@pytest.mark.points(4, task=6)
def test_a_scan_begins_at_the_last_entry(spark, five):
    """Two entries, five batches"""
    folder, starts = five({19: 1, 39: 3})
    got = scans(spark, folder)
    assert got[0, 40] != 0, "each batch has its own distance: batch 4 is one batch behind the entry for offset 39"
    assert got[0, 40] == starts[4] - starts[3], (
        f"a fetch for offset 40 begins at the entry for offset 39, position {starts[3]}, the batch is at {starts[4]}: "
        f"{starts[4] - starts[3]} bytes, not {got[0, 40]}"
    )
    assert got[0, 20] == starts[2] - starts[1], (
        f"offset 20 is one batch behind the entry for 19, not {got[0, 20]} bytes"
    )


@pytest.mark.points(3, task=6)
def test_without_an_entry_a_scan_begins_at_the_beginning(spark, five):
    """Before the first entry"""
    folder, starts = five({29: 2}, base=500)
    got = scans(spark, folder)
    assert (0, 510) in got, "batches before the first entry are lost: they have no entry, but they are there"
    assert got[0, 510] == starts[1], (
        f"no entry is up to offset 510: the scan begins at 0, {starts[1]} bytes, not {got[0, 510]}"
    )
    assert got[0, 500] == 0, f"the first batch is where the scan begins: 0 bytes, not {got[0, 500]}"


@pytest.mark.points(3, task=6)
def test_a_batchs_own_entry_comes_too_late_for_its_base_offset(spark, five):
    """The entry of the batch itself"""
    folder, starts = five({19: 1, 39: 3})
    got = scans(spark, folder)
    assert got[0, 30] != 0, (
        "the entry for batch 30–39 has its last offset, 39. A fetch for offset 30 wants an entry that is not greater "
        "than 30, and finds the one for 19: entries are compared by offset, not by position"
    )
    assert got[0, 30] == starts[3] - starts[1], f"from the entry for 19 to the batch are {starts[3] - starts[1]} bytes"


@pytest.mark.points(4, task=6)
def test_entries_of_another_segment_do_not_count(spark, batch, log_folder):
    """Two partitions with equal offsets, two segments"""
    parts = [batch(10 * number, 10) for number in range(4)]
    later = [batch(100 + 10 * number, 10) for number in range(2)]
    folder = log_folder(
        {"flights-0": {0: parts, 100: later}, "flights-1": {0: parts}},
        {("flights-0", 0): [(19, len(parts[0]))], ("flights-1", 0): []},
    )
    got = scans(spark, folder)
    assert got[1, 20] == len(parts[0] + parts[1]), (
        f"partition 1 has no entries: its scans begin at 0; you have {got[1, 20]} bytes"
    )
    assert got[0, 110] == len(later[0]), (
        f"segment 100 has no entries of its own, and those of segment 0 are positions in another file: {got[0, 110]}"
    )


@pytest.mark.points(6, task=6)
def test_the_density_of_many_segments(spark, batch, log_folder):
    """15 segments, against plain Python"""
    rnd = random.Random(66)
    partitions, indexes, want = {}, {}, []
    for partition in range(3):
        for segment in range(0, 5000, 1000):
            counts = [rnd.randint(1, 9) for _ in range(rnd.randint(1, 12))]
            firsts = [segment + sum(counts[:number]) for number in range(len(counts))]
            parts = [batch(first, count) for first, count in zip(firsts, counts, strict=True)]
            starts = [sum(map(len, parts[:number])) for number in range(len(parts))]
            entries = [
                (firsts[number] + counts[number] - 1, starts[number])
                for number in range(1, len(parts))
                if rnd.random() < 0.3 and segment != 2000
            ]
            lengths = [
                start - max([position for offset, position in entries if offset <= first], default=0)
                for first, start in zip(firsts, starts, strict=True)
            ]
            partitions.setdefault(f"flights-{partition}", {})[segment] = parts
            indexes[f"flights-{partition}", segment] = entries
            size = sum(map(len, parts))
            want.append(
                {
                    "topic": "flights",
                    "partition": partition,
                    "segment": segment,
                    "log_bytes": size,
                    "entries": len(entries),
                    "bytes_per_entry": size / len(entries) if entries else None,
                    "mean_scan_bytes": sum(lengths) / len(lengths),
                    "max_scan_bytes": max(lengths),
                }
            )
    folder = log_folder(partitions, indexes)
    density = index_density(batches(spark, folder), index_entries(spark, folder)).localCheckpoint()
    count = density.where("segment = 2000").count()
    assert count == 3, f"the segments 2000 have no entry, and are there all the same: 3 rows, you have {count}"
    must_equal(density, want, ["partition", "segment"])
