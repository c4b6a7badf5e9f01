"""Rows become messages: one by one, and by column."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.spark.writer import WriteError, _message, _messages

TYPES = {
    "topic": pa.string(),
    "key": pa.binary(),
    "value": pa.binary(),
    "partition": pa.int32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "headers": pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
}
HEADER = st.fixed_dictionaries({"key": st.text(max_size=3), "value": st.none() | st.binary(max_size=3)})
CELLS = {
    "topic": st.sampled_from(["a", "b"]),
    "key": st.none() | st.binary(max_size=3),
    "value": st.none() | st.binary(max_size=3),
    "partition": st.none() | st.integers(0, 9),
    "timestamp": st.none() | st.datetimes(datetime(1960, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
    "headers": st.none() | st.lists(HEADER, max_size=2),
}


def record_batch(rows, names=tuple(TYPES)):
    schema = pa.schema([(name, TYPES[name]) for name in names])
    return pa.RecordBatch.from_pylist([{name: row.get(name) for name in names} for row in rows], schema)


@given(st.sets(st.sampled_from(sorted(set(CELLS) - {"value"}))), st.data())
def test_a_record_batch_becomes_the_messages_of_its_rows(others, data):
    names = sorted(others | {"value"})
    rows = data.draw(st.lists(st.fixed_dictionaries({name: CELLS[name] for name in names}), max_size=4))
    topic = None if "topic" in others else "t"
    present = [{name: cell for name, cell in row.items() if cell is not None} for row in rows]
    assert list(_messages(record_batch(rows, names), topic)) == [tuple(_message(row, topic)) for row in present]


def test_the_topic_option_overrides_the_column():
    rows = [{"topic": "column", "value": b"v"}]
    assert [message[0] for message in _messages(record_batch(rows), "option")] == ["option"]
    assert _message(rows[0], "option")[0] == "option"


def test_timestamps_lose_their_microseconds():
    moment = datetime(1969, 12, 31, 23, 59, 59, 999_001, tzinfo=UTC)
    assert [message[4] for message in _messages(record_batch([{"value": b"", "timestamp": moment}]), "t")] == [-1]
    assert _message({"timestamp": moment}, "t")[4] == -1


def test_seconds_become_milliseconds():
    batch = pa.RecordBatch.from_pydict({"value": [b"", b""], "timestamp": [1.2345, None]})
    assert [message[4] for message in _messages(batch, "t")] == [1234, 0]
    assert _message({"timestamp": 1.2345}, "t")[4] == 1234


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"topic": None, "value": b"v"}, "null topic present in the data"),
        ({"topic": "t", "value": b"v", "partition": -2}, "Invalid partition: -2"),
    ],
)
def test_an_invalid_row_is_an_error_before_any_row_is_sent(row, said):
    with pytest.raises(WriteError, match=said):
        _messages(record_batch([{"topic": "t", "value": b"fine"}, row]), None)
    with pytest.raises(WriteError, match=said):
        _message({name: cell for name, cell in row.items() if cell is not None}, None)
