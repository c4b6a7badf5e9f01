"""Task 2: a record changes its windows."""

import random

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kstream.internals.dropping_processor import DroppingProcessor
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.windows import TimeWindows, UnlimitedWindows
from kafka_lite.streams.topology_test_driver import TopologyTestDriver


@pytest.mark.points(6, task=2)
def test_counts_go_on(counted):
    """Two records in one window, and one in the next"""
    found = counted(TimeWindows.of(10), ("a", 1), ("a", 9), ("a", 10))
    assert found == [["a@0=1"], ["a@0=2"], ["a@10=1"]], (
        f"a window's count goes on with the aggregate in the store: a@0 is 1, then 2; a@10 is 1; yours: {found}"
    )


@pytest.mark.points(8, task=2)
def test_all_windows_of_a_record(counted):
    """Known windows first, then new ones"""
    found = counted(TimeWindows.of(10).advance_by(5), ("a", 6), ("a", 12), ("a", 3), ("a", 7))
    wanted = [["a@0=1", "a@5=1"], ["a@5=2", "a@10=1"], ["a@0=2"], ["a@0=3", "a@5=3"]]
    assert found == wanted, f"every window of the record changes, and each once: {wanted}; yours: {found}"


@pytest.mark.points(4, task=2)
def test_the_order_of_the_changes(counted):
    """A late record, whose later window is there already"""
    found = counted(TimeWindows.of(10).advance_by(5), ("a", 12), ("a", 7))[1]
    assert found == ["a@5=2", "a@0=1"], f"windows in the store come first, then new ones: a@5, a@0; yours: {found}"


@pytest.mark.points(4, task=2)
def test_what_is_dropped(counted, monkeypatch):
    """A record without a key, and one before the start of time"""
    skipped = []
    with monkeypatch.context() as patched:
        patched.setattr(DroppingProcessor, "skip_record", lambda _processor, why: skipped.append(why))
        assert counted(TimeWindows.of(10), (None, 1)) == [[]], "a record without a key has no windows: drop it"
    assert len(skipped) == 1, "a record without a key is counted and logged as dropped: call self.skip_record"
    found = counted(UnlimitedWindows.of().start_on(100), ("a", 99), ("a", 100))
    assert found == [[], ["a@100=1"]], f"a record that belongs to no window is dropped; yours: {found}"
    found = counted(TimeWindows.of(10), ("", 1), ("a", 1, None))
    assert found == [["@0=1"], ["a@0=1"]], f"an empty key is a key, and a record without a value counts; yours: {found}"


@pytest.mark.points(2, task=2)
def test_an_aggregate_of_zero():
    """It is one, and the initializer is not called again"""
    builder = KStreamBuilder()
    sums = builder.stream("in").group_by_key().aggregate(
        lambda: 1, lambda _, value, total: total + int(value), Serdes.long(), "Sums", windows=TimeWindows.of(10)
    )  # fmt: skip
    sums.to_stream(lambda windowed, _: windowed.key).map_values(str).to("out")
    with TopologyTestDriver(builder, key_serde=Serdes.string(), value_serde=Serdes.string()) as driver:
        for value in ("-1", "5"):
            driver.pipe_input("in", "a", value, timestamp=1)
        found = [record.value for record in iter(lambda: driver.read_output("out"), None)]
    assert found == ["0", "5"], f"1 - 1 = 0, then 0 + 5 = 5: 0 is the aggregate in the store, not none; yours: {found}"


@pytest.mark.points(6, task=2)
def test_counts_beside_a_model(counted):
    """Two hundred records in random order"""
    chance, model = random.Random(2), {}
    windows = TimeWindows.of(12).advance_by(5)
    records = [(chance.choice("ab"), chance.randint(0, 60)) for _ in range(200)]
    for (key, timestamp), found in zip(records, counted(windows, *records), strict=True):
        starts = [start for start in range(0, timestamp + 1, 5) if timestamp < start + 12]
        for start in starts:
            model[key, start] = model.get((key, start), 0) + 1
        wanted = sorted(f"{key}@{start}={model[key, start]}" for start in starts)
        assert sorted(found) == wanted, f"a record of {key} at {timestamp} makes {wanted}; yours: {found}"
