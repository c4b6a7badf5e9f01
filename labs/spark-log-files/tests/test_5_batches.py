"""Task 5: the batches of two topics in figures."""

import pytest

from kafka_learn.labs.rows import must_equal, rows_of
from pipeline.tables.log_files import batch_sizes, batches


@pytest.mark.points(3, task=5)
def test_every_batch_of_every_segment(spark, batch, log_folder):
    """The given function batches, with your parsers in Spark's workers"""
    folder = log_folder({"flights-0": {0: [batch(0, 4), batch(4, 2)], 6: [batch(6, 1, "lz4")]}, "weather-1": {0: []}})
    got = sorted(
        (row["topic"], row["segment"], row["base_offset"], row["codec"]) for row in rows_of(batches(spark, folder))
    )
    want = [("flights", 0, 0, "none"), ("flights", 0, 4, "none"), ("flights", 6, 6, "lz4")]
    assert got == want, f"the batches (topic, segment, base offset, codec) are {want}; you have {got}"


@pytest.mark.points(7, task=5)
def test_sizes_by_topic_and_codec(spark, batch, log_folder):
    """Batches, records, means; some batches are compacted"""
    parts = {
        ("flights", "none"): [batch(0, 4), batch(4, 2)],
        ("flights", "zstd"): [batch(6, 30, "zstd")],
        ("weather", "lz4"): [batch(0, 3, "lz4", step=100), batch(300, 5, "lz4", step=7)],  # most records are gone
    }
    folder = log_folder({
        "flights-0": {0: parts["flights", "none"]},
        "flights-1": {6: parts["flights", "zstd"]},
        "weather-0": {0: parts["weather", "lz4"]},
    })  # fmt: skip
    counts = {("flights", "none"): 6, ("flights", "zstd"): 30, ("weather", "lz4"): 8}
    frame = batch_sizes(batches(spark, folder))
    by_offsets = [row["records"] for row in rows_of(frame) if row["topic"] == "weather"]
    assert by_offsets != [230], (
        "offsets 0 to 200 and 300 to 328 are 230, but only 8 records are left of them: count records"
    )
    want = [
        {
            "topic": topic,
            "codec": codec,
            "batches": len(data),
            "records": counts[topic, codec],
            "bytes_per_batch": sum(map(len, data)) / len(data),
            "records_per_batch": counts[topic, codec] / len(data),
        }
        for (topic, codec), data in parts.items()
    ]
    must_equal(frame, want, ["topic", "codec"])
