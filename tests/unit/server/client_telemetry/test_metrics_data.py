"""The wire format of OpenTelemetry's metrics."""

from __future__ import annotations

import contextlib
import random
import struct

import pytest

from kafka_lite.server.client_telemetry import metrics_data as module
from kafka_lite.server.client_telemetry.metrics_data import MetricsDataError, Point, fields, read_metrics_data
from tests.support.metrics_data import counter, field, fixed64, gauge, key_value, metrics_data, varint


def test_gauges_and_sums_are_read_with_their_attributes() -> None:
    pushed = metrics_data(
        gauge("age", 1.5),
        gauge("size", -7, topic="orders", partition="0"),
        counter("sent", 12, delta=True),
        counter("all", 2.0, delta=False, node="1"),
    )
    assert read_metrics_data(pushed) == [
        Point("age", (), 1.5, False),
        Point("size", (("topic", "orders"), ("partition", "0")), -7, False),
        Point("sent", (), 12, True),
        Point("all", (("node", "1"),), 2.0, False),
    ]


def test_a_point_is_named_with_its_attributes() -> None:
    assert Point("sent", (), 1, False).key == "sent"
    assert Point("sent", (("topic", "t"), ("partition", "0")), 1, False).key == "sent{topic=t,partition=0}"


def test_a_histogram_has_a_count_and_a_sum() -> None:
    data_point = fixed64(4, struct.pack("<Q", 3)) + fixed64(5, struct.pack("<d", 4.5)) + key_value(9, "k", "v")
    histogram = field(2, field(1, b"h") + field(9, field(1, data_point) + varint(2 << 3) + varint(1)))
    assert read_metrics_data(metrics_data(histogram)) == [
        Point("h.count", (("k", "v"),), 3, True),
        Point("h.sum", (("k", "v"),), 4.5, True),
    ]


def test_attributes_of_all_simple_types_are_shown() -> None:
    negative = varint((1 << 64) - 5)
    values = [
        field(1, b"text"),
        varint(2 << 3) + varint(1),
        varint(3 << 3) + negative,
        fixed64(4, struct.pack("<d", 2.5)),
    ]
    attributes = b"".join(field(7, field(1, b"k") + field(2, value)) for value in values)
    point = fixed64(6, struct.pack("<q", 1)) + attributes
    metric = field(2, field(1, b"m") + field(5, field(1, point)))
    (read,) = read_metrics_data(metrics_data(metric))
    assert [value for _, value in read.attributes] == ["text", "true", "-5", "2.5"]


def test_unknown_fields_and_kinds_are_skipped() -> None:
    summary = field(2, field(1, b"s") + field(11, field(1, b"")))
    later = field(99, b"x") + varint(98 << 3) + varint(300) + varint(97 << 3 | 5) + b"four"
    assert read_metrics_data(later + metrics_data(summary, gauge("g", 1))) == [Point("g", (), 1, False)]
    assert read_metrics_data(b"") == []


def test_the_fields_of_a_message_are_numbered() -> None:
    data = varint(1 << 3) + varint(300) + field(20, b"ab") + fixed64(3, bytes(8))
    found = [
        (number, kind, value if isinstance(value, int) else bytes(value))
        for number, kind, value in fields(memoryview(data))
    ]
    assert found == [(1, 0, 300), (20, 2, b"ab"), (3, 1, bytes(8))]


@pytest.mark.parametrize(
    "data",
    [b"\x0a", b"\x0a\x05ab", b"\x80" * 11, b"\x0b", b"\x09abc", field(1, field(2, field(2, varint(1 << 3) + b"\x01")))],
    ids=["no length", "too short", "an endless number", "a group", "half a double", "a name that is a number"],
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(MetricsDataError):
        read_metrics_data(data)


def test_a_push_of_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_POINTS", 3)
    assert len(read_metrics_data(metrics_data(*[gauge("g", 1)] * 3))) == 3
    with pytest.raises(MetricsDataError, match="more than 3 values"):
        read_metrics_data(metrics_data(*[gauge("g", 1)] * 4))


def test_damaged_pushes_are_read_or_refused() -> None:
    whole = metrics_data(gauge("age", 1.5, topic="t"), counter("sent", 12, delta=True))
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(random.randint(1, 4)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        with contextlib.suppress(MetricsDataError):
            read_metrics_data(bytes(damaged[: random.randint(0, len(damaged))]))
