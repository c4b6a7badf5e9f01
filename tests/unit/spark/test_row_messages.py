"""Rows become messages: one by one, and by column. A row that no message can express is refused, with its values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.spark.row_messages import WriteError, describe_row, message_of_row, messages_of_batch

TYPES = {
    "topic": pa.string(),
    "key": pa.binary(),
    "value": pa.binary(),
    "partition": pa.int32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "headers": pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_WRITABLE = EPOCH + timedelta(milliseconds=1)
HEADER = st.fixed_dictionaries(
    {"key": st.text(st.characters(exclude_characters="\0"), max_size=3), "value": st.none() | st.binary(max_size=3)}
)
CELLS = {
    "topic": st.sampled_from(["a", "b"]),
    "key": st.none() | st.binary(max_size=3),
    "value": st.none() | st.binary(max_size=3),
    "partition": st.none() | st.integers(0, 9),
    "timestamp": st.none() | st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=st.just(UTC)),
    "headers": st.none() | st.lists(HEADER, max_size=2),
}


def record_batch(rows: list[dict[str, Any]], names: Any = tuple(TYPES)) -> pa.RecordBatch:
    schema = pa.schema([(name, TYPES[name]) for name in names])
    return pa.RecordBatch.from_pylist([{name: row.get(name) for name in names} for row in rows], schema)


def timestamps(column: pa.Array) -> list[int]:
    batch = pa.RecordBatch.from_pydict({"value": pa.nulls(len(column), pa.binary()), "timestamp": column})
    return [message[4] for message in messages_of_batch(batch, "t")]


@given(st.sets(st.sampled_from(sorted(set(CELLS) - {"value"}))), st.data())
def test_a_record_batch_becomes_the_messages_of_its_rows(others: set[str], data: st.DataObject) -> None:
    names = sorted(others | {"value"})
    rows = data.draw(st.lists(st.fixed_dictionaries({name: CELLS[name] for name in names}), max_size=4))
    topic = None if "topic" in others else "t"
    present = [{name: cell for name, cell in row.items() if cell is not None} for row in rows]
    found = list(messages_of_batch(record_batch(rows, names), topic))
    assert found == [tuple(message_of_row(row, topic)) for row in present]


def test_the_topic_option_overrides_the_column() -> None:
    rows = [{"topic": "column", "value": b"v"}]
    assert [message[0] for message in messages_of_batch(record_batch(rows), "option")] == ["option"]
    assert message_of_row(rows[0], "option")[0] == "option"


def test_timestamps_lose_their_microseconds() -> None:
    moment = datetime(2001, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    assert timestamps(pa.array([moment], TYPES["timestamp"])) == [1_009_843_199_999]
    assert message_of_row({"timestamp": moment}, "t")[4] == 1_009_843_199_999


def test_seconds_become_milliseconds_and_null_becomes_now() -> None:
    assert timestamps(pa.array([1.2345, None])) == [1234, 0]
    assert timestamps(pa.nulls(1)) == [0]
    assert message_of_row({"timestamp": 1.2345}, "t")[4] == 1234


def test_the_first_timestamp_that_can_be_written() -> None:
    assert timestamps(pa.array([FIRST_WRITABLE], TYPES["timestamp"])) == [1]
    assert message_of_row({"timestamp": FIRST_WRITABLE}, "t")[4] == 1


REFUSED = [
    ({"topic": None}, "null topic present in the data"),
    ({"topic": ""}, "'' is not the name of a topic"),
    ({"topic": "a/b"}, "'a/b' is not the name of a topic"),
    ({"partition": -1}, "Invalid partition: -1.*partition=-1"),
    ({"partition": -2}, "Invalid partition: -2.*partition=-2"),
    ({"headers": [{"key": None, "value": b"1"}]}, r"header without a key.*headers=\[\{'key': None"),
    ({"headers": [{"key": "a", "value": None}, None]}, r"header without a key.*headers=\[\{'key': 'a'"),
    ({"headers": [{"key": "a\0b", "value": b"1"}]}, "NUL cannot be written"),
    ({"timestamp": EPOCH}, r"1970-01-01T00:00:00.000Z cannot be written.*use null;.*timestamp=1970-01-01T00:00:00"),
    ({"timestamp": EPOCH + timedelta(microseconds=999)}, "1970-01-01T00:00:00.000Z cannot be written"),
    ({"timestamp": EPOCH - timedelta(microseconds=1)}, "before 1970 cannot be written"),
    ({"timestamp": datetime(1969, 12, 31, tzinfo=UTC)}, r"before 1970 cannot be written.*timestamp=1969-12-31T00"),
]


@pytest.mark.parametrize(("cells", "said"), REFUSED)
def test_an_unwritable_row_is_an_error_before_any_row_is_sent(cells: dict[str, Any], said: str) -> None:
    row = {"topic": "t", "value": b"v", "key": b"K-7", **cells}
    with pytest.raises(WriteError, match=said) as refused:
        messages_of_batch(record_batch([{"topic": "t", "value": b"fine"}, row]), None)
    assert "key=b'K-7'" in str(refused.value), "the row can be found"
    with pytest.raises(WriteError, match=said):
        message_of_row({name: cell for name, cell in row.items() if cell is not None}, None)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "1970-01-01T00:00:00.000Z cannot be written.*timestamp=0.0"),
        (0.0004, "1970-01-01T00:00:00.000Z cannot be written.*timestamp=0.0004"),
        (-0.5, "before 1970.*timestamp=-0.5"),
        (float("nan"), "the timestamp is not a time.*timestamp=nan"),
        (float("inf"), "the timestamp is not a time.*timestamp=inf"),
        (-float("inf"), "the timestamp is not a time.*timestamp=-inf"),
        (1e300, "the timestamp is not a time.*timestamp=1e"),
        (2.0**63 / 1000, "the timestamp is not a time"),
    ],
)
def test_seconds_that_are_no_time_are_refused(seconds: float, said: str) -> None:
    with pytest.raises(WriteError, match=said):
        timestamps(pa.array([1.5, seconds]))
    with pytest.raises(WriteError, match=said):
        message_of_row({"timestamp": seconds}, "t")


def test_a_timestamp_beyond_pythons_years_is_written() -> None:
    far = 300_000_000_000_000_000  # µs; the year 11476
    assert timestamps(pa.array([far], pa.timestamp("us", "UTC"))) == [far // 1000]
    batch = pa.RecordBatch.from_pydict(
        {"value": ["v"], "partition": [-1], "timestamp": pa.array([far], pa.timestamp("us", "UTC"))}
    )
    with pytest.raises(WriteError, match=f"Invalid partition: -1.*timestamp={far}"):
        messages_of_batch(batch, "t")


@pytest.mark.parametrize(
    ("name", "column", "said"),
    [
        ("timestamp", pa.array([1_700_000_000_000]), "timestamp is of type int64: it must be timestamp or double"),
        ("timestamp", pa.array([1], pa.date32()), "timestamp is of type date32"),
        ("partition", pa.array([1.5]), "partition is of type double: it must be int"),
        ("partition", pa.array(["1"]), "partition is of type string"),
        ("key", pa.array([7]), "key is of type int64: it must be string or binary"),
        ("topic", pa.array([b"t"]), "topic is of type binary: it must be string"),
        ("headers", pa.array(["a=b"]), "headers is of type string"),
        ("headers", pa.array([[{"key": b"a", "value": b"b"}]]), "headers is of type list"),
    ],
)
def test_a_column_of_another_type_is_refused(name: str, column: pa.Array, said: str) -> None:
    with pytest.raises(WriteError, match=said):
        messages_of_batch(pa.RecordBatch.from_pydict({"value": ["v"], name: column}), "t")


@pytest.mark.parametrize("partition", [2**31, 2**40])
def test_a_partition_beyond_32_bits_is_refused(partition: int) -> None:
    with pytest.raises(WriteError, match=f"Invalid partition: {partition}"):
        messages_of_batch(pa.RecordBatch.from_pydict({"value": ["v"], "partition": [partition]}), "t")


def test_long_values_are_cut_in_a_message() -> None:
    assert describe_row({"topic": "t", "value": b"x" * 1000}) == f"topic='t', value=b'{'x' * 58}…"
