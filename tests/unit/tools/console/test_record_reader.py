"""Lines become records: keys, headers, nulls, and lines that cannot be parsed."""

from __future__ import annotations

import io
import sys

import pytest

from kafka_lite.producer import ProducerRecord
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.console.record_reader import LineMessageReader

KEYS = {"parse.key": "true"}
HEADERS = {"parse.headers": "true"}


def read(data: bytes, **properties: str) -> list[ProducerRecord]:
    reader = LineMessageReader()
    reader.configure({"topic": "t", **{name.replace("_", "."): value for name, value in properties.items()}})
    return list(reader.read_records(io.BytesIO(data)))


def fields(record: ProducerRecord) -> tuple[object, ...]:
    return list(record.headers), record.key, record.value


def test_each_line_is_a_record() -> None:
    records = read(b"a\nb\r\n\nlast")
    assert [record.value for record in records] == [b"a", b"b", b"", b"last"]
    assert all(record.topic == "t" and record.key is None and not record.headers for record in records)


@pytest.mark.parametrize(
    ("data", "lines"),
    [(b"", []), (b"\n", [b""]), (b"a\rb\n", [b"a", b"b"]), (b"a\r", [b"a"]), (b"\xff\xfe\n", [b"\xff\xfe"])],
)
def test_line_ends_match_java_and_bytes_are_kept(data: bytes, lines: list[bytes]) -> None:
    assert [record.value for record in read(data)] == lines


@pytest.mark.parametrize(
    ("line", "properties", "expected"),
    [
        (b"k\tv", KEYS, ([], b"k", b"v")),
        (b"k\tv\tw", KEYS, ([], b"k", b"v\tw")),
        (b"k\t", KEYS, ([], b"k", b"")),
        (b"\tv", KEYS, ([], b"", b"v")),
        ("schlüssel⇒wert".encode(), {**KEYS, "key.separator": "⇒"}, ([], "schlüssel".encode(), b"wert")),
        (b"v", {**KEYS, "ignore.error": "true"}, ([], None, b"v")),
        (b"h:1,i:2\tv", HEADERS, ([("h", b"1"), ("i", b"2")], None, b"v")),
        (b"h:1:2\tv", HEADERS, ([("h", b"1:2")], None, b"v")),
        (b"h:1,\tv", HEADERS, ([("h", b"1")], None, b"v")),
        (b"h\tv", {**HEADERS, "ignore.error": "true"}, ([("h", None)], None, b"v")),
        (b"h:1\tk\tv", {**HEADERS, **KEYS}, ([("h", b"1")], b"k", b"v")),
        (
            b"h=1;i=2|k/v",
            {**HEADERS, **KEYS, "headers.delimiter": "|", "headers.separator": ";", "headers.key.separator": "=",
             "key.separator": "/"},
            ([("h", b"1"), ("i", b"2")], b"k", b"v"),
        ),
        (b"NULL\tNULL", {**KEYS, "null.marker": "NULL"}, ([], None, None)),
        (b"h:NULL\tv", {**HEADERS, "null.marker": "NULL"}, ([("h", None)], None, b"v")),
        (b"NULL\tk\tv", {**HEADERS, **KEYS, "null.marker": "NULL"}, ([], b"k", b"v")),
    ],
)  # fmt: skip
def test_fields_of_a_line(line: bytes, properties: dict[str, str], expected: tuple[object, ...]) -> None:
    reader = LineMessageReader()
    reader.configure({"topic": "t", **properties})
    assert fields(reader.parse(line)) == expected


@pytest.mark.parametrize(
    ("lines", "properties", "says"),
    [
        (b"k\tv\nno key", KEYS, "No key separator found on line number 2: 'no key'"),
        (b"no headers", HEADERS, "No headers delimiter found on line number 1"),
        (b"h\tv", HEADERS, "No header key separator found in pair 'h' on line number 1"),
        (b"N:1\tv", {**HEADERS, "null.marker": "N"}, "Header keys should not be equal to the null marker"),
    ],
)
def test_malformed_lines_are_rejected(lines: bytes, properties: dict[str, str], says: str) -> None:
    reader = LineMessageReader()
    reader.configure({"topic": "t", **properties})
    with pytest.raises(ToolError, match=says):
        list(reader.read_records(io.BytesIO(lines)))


@pytest.mark.parametrize(
    ("properties", "says"),
    [
        ({"parse_key": "true"}, "does not know it; it knows parse.key"),
        ({"key.separator": ""}, "cannot be empty"),
        ({"headers.delimiter": ","}, "headers.delimiter and headers.separator may not be equal"),
        ({"headers.separator": ":"}, "headers.separator and headers.key.separator may not be equal"),
        ({"null.marker": "\t"}, "null.marker and key.separator may not be equal"),
    ],
)
def test_contradictory_properties_are_rejected(properties: dict[str, str], says: str) -> None:
    with pytest.raises(ToolError, match=says):
        LineMessageReader().configure({"topic": "t", **properties})


def test_no_prompt_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    read(b"a\nb\n")
    assert capsys.readouterr().out == ""


def test_a_prompt_for_each_line_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    read(b"a\nb\n")
    assert capsys.readouterr().out == ">>>"
