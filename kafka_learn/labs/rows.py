"""Compares a learner's DataFrame with rows that were computed without Spark, and says in words how they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

Row = Mapping[str, Any]

RECORD_SCHEMA = (
    "key binary, value binary, topic string, partition int, offset long, timestamp timestamp, timestampType int"
)
"""The columns of ``format("kafka_lite")``, without headers."""


def at(milliseconds: float) -> datetime:
    """The time this many milliseconds after the epoch, in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def records_frame(spark: SparkSession, records: Iterable[Row], topic: str = "lab") -> DataFrame:
    """Records as ``format("kafka_lite")`` would read them.

    A record has ``offset``, ``key`` and ``value`` (bytes, text or None), and perhaps ``partition`` (0), ``topic`` and
    ``timestamp`` (milliseconds, 0).
    """
    rows = [
        (
            _bytes(record["key"]),
            _bytes(record["value"]),
            record.get("topic", topic),
            record.get("partition", 0),
            record["offset"],
            at(record.get("timestamp", 0)),
            0,
        )
        for record in records
    ]
    return spark.createDataFrame(rows, RECORD_SCHEMA)


def _bytes(text: str | bytes | None) -> bytearray | None:
    if text is None:
        return None
    return bytearray(text.encode() if isinstance(text, str) else text)


def rows_of(frame: DataFrame) -> list[dict[str, Any]]:
    """The rows of a DataFrame; binary values as ``bytes``, timestamps in UTC."""
    rows = must_be_frame(frame).collect()
    return [{name: _plain(value) for name, value in row.asDict(recursive=True).items()} for row in rows]


def _plain(value: Any) -> Any:
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return value


def must_have_columns(frame: DataFrame, columns: Sequence[str]) -> None:
    """Check the names of the columns; their order does not matter."""
    missing = [name for name in columns if name not in frame.columns]
    extra = [name for name in frame.columns if name not in columns]
    assert not missing, f"the column {missing[0]} is missing: the docstring asks for {', '.join(columns)}"
    assert not extra, f"the column {extra[0]} is not asked for: the docstring says {', '.join(columns)}"


def must_be_frame(frame: Any, what: str = "the function") -> DataFrame:
    """The frame, if it is one; fails and names what was returned instead."""
    from pyspark.sql import DataFrame

    assert frame is not None, f"{what} returned None: is a return missing?"
    assert isinstance(frame, DataFrame), f"{what} returns a DataFrame, yours returned {type(frame).__name__}"
    return frame


def must_be_column(column: Any, what: str) -> Column:
    """The column, if it is one; fails and names what was returned instead."""
    from pyspark.sql import Column

    assert column is not None, f"{what} returned None: is a return missing?"
    assert isinstance(column, Column), f"{what} returns a Column, yours returned {type(column).__name__}"
    return column


def must_equal(
    frame: DataFrame,
    want: Iterable[Row],
    key: Sequence[str],
    judge: str = "plain Python",
    mistakes: Mapping[str, Iterable[Row]] | None = None,
) -> None:
    """Check that the frame has exactly these rows; see ``must_be_rows``."""
    expected = [dict(row) for row in want]
    if expected:
        must_have_columns(must_be_frame(frame), list(expected[0]))
    must_be_rows(rows_of(frame), expected, key, judge, mistakes)


def must_be_rows(
    got: Iterable[Row],
    want: Iterable[Row],
    key: Sequence[str],
    judge: str = "plain Python",
    mistakes: Mapping[str, Iterable[Row]] | None = None,
) -> None:
    """Check that these are exactly the rows that ``judge`` computed; ``key`` names the identifying columns.

    Numbers with a fraction may differ by a billionth. The message shows the first difference. ``mistakes`` are the rows
    that known mistakes lead to, by the words for the mistake: if the rows are those of a mistake rather than the wanted
    ones, the message begins with its words.
    """
    got_by_key, want_by_key = _by_key(got, key), _by_key(want, key)
    different = _different(got_by_key, want_by_key)
    if not different:
        return
    difference = _difference(different[0], key, got_by_key, want_by_key, judge)
    words = _likely_mistake(got_by_key, len(different), key, mistakes or {})
    if words:
        difference = f"{words}{'' if words.endswith('?') else '.'} For example: {difference}"
    raise AssertionError(difference)


_Rows = dict[tuple[Any, ...], list[Row]]


def _by_key(rows: Iterable[Row], key: Sequence[str]) -> _Rows:
    found: _Rows = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in key), []).append(row)
    return found


def _different(got: _Rows, want: _Rows) -> list[tuple[Any, ...]]:
    """The identities whose rows are not the same: wanted ones first."""
    identities = dict.fromkeys([*want, *got])
    return [each for each in identities if not _same_rows(got.get(each, []), want.get(each, []))]


def _same_rows(got: Sequence[Row], want: Sequence[Row]) -> bool:
    if len(got) != len(want):
        return False
    pairs = zip(sorted(got, key=repr), sorted(want, key=repr), strict=True)
    return all(_same(one.get(name), value) for one, other in pairs for name, value in other.items())


def _likely_mistake(got: _Rows, different: int, key: Sequence[str], mistakes: Mapping[str, Iterable[Row]]) -> str:
    """The words of the mistake whose rows are the closest, if they explain at least half of the differences."""
    left = {words: len(_different(got, _by_key(rows, key))) for words, rows in mistakes.items()}
    closest = min(left, key=lambda words: left[words], default="")
    return closest if closest and 2 * left[closest] <= different else ""


def _difference(identity: tuple[Any, ...], key: Sequence[str], got: _Rows, want: _Rows, judge: str) -> str:
    named = _named(key, identity)
    found, wanted = got.get(identity, []), want.get(identity, [])
    if not wanted:
        return f"the row for {named} should not be there"
    if not found:
        return f"there is no row for {named}; {judge} has {_shown(wanted[0])}"
    if len(found) > len(wanted):
        return f"there are {_count(len(found))} rows for {named}: {_count(len(wanted))} was asked for"
    if len(found) < len(wanted):
        return f"there are {_count(len(wanted))} rows for {named}, you have {_count(len(found))}"
    name, value = next((name, value) for name, value in wanted[0].items() if not _same(found[0].get(name), value))
    return f"{named}: {name} is {found[0].get(name)!r}, but {judge} has {value!r}"


def _count(number: int) -> str:
    return {1: "one", 2: "two"}.get(number, str(number))


def _same(got: Any, want: Any) -> bool:
    if isinstance(got, float) and isinstance(want, float | int):
        return abs(got - want) <= 1e-9 * max(1.0, abs(want))
    return bool(got == want)


def _named(key: Sequence[str], identity: Sequence[Any]) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in zip(key, identity, strict=False))


def _shown(row: Row) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in row.items())


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)
