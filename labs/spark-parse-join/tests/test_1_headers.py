"""Task 1: headers, read and made."""

import pytest
from pyspark.sql import functions as F  # noqa: N812

from kafka_learn.labs.rows import must_be_column, rows_of
from pipeline.jobs.record_headers import header, headers

CASES = [
    ([("a", b"1"), ("b", b"2")], "2", "the header b is the second of two: look for its name, not its place"),
    ([("b", b"1"), ("b", b"2")], "1", "of two headers of that name the first counts"),
    ([("a", b"1")], None, "without a header of that name it is null"),
    ([], None, "a record without headers has none of that name: null, and no error"),
    (None, None, "headers may be null: null, and no error"),
    ([("B", b"1"), ("bb", b"2")], None, "B and bb are other names than b"),
    ([("b", b"")], "", "an empty value is a value"),
    ([("b", None)], None, "a header's value may be null"),
    ([("b", "纽约".encode())], "纽约", "the value is UTF-8"),
]


@pytest.mark.points(9, task=1)
def test_reading_a_header(records):
    """Nine kinds of headers"""
    frame = records(*((b"", each) for each, _, _ in CASES))
    found = rows_of(frame.select("offset", must_be_column(header("b"), "header").alias("found")))
    got = {row["offset"]: row["found"] for row in found}
    kinds = {type(each).__name__ for each in got.values() if each is not None}
    assert kinds <= {"str"}, f"a header is read as a string, yours are {', '.join(kinds)}"
    wrong = [f"{words}: of {each} the header b is {want!r}, you read {got[number]!r}"
             for number, (each, want, words) in enumerate(CASES) if got[number] != want]  # fmt: skip
    assert not wrong, "\n".join(wrong)


@pytest.mark.points(6, task=1)
def test_making_headers(spark):
    """Three headers, in order"""
    values = {"id": F.concat(F.lit("EWR/"), F.col("id").cast("string")), "a": F.lit("1"), "none": F.lit(None)}
    column = must_be_column(headers(values), "headers")
    frame = spark.range(1).select(column.alias("headers"))
    kind = frame.schema["headers"].dataType.simpleString()
    assert kind == "array<struct<key:string,value:binary>>", f"headers are array<struct<key,value>>, yours are {kind}"
    got = [(each["key"], each["value"] and bytes(each["value"])) for each in rows_of(frame)[0]["headers"]]
    want = [("id", b"EWR/0"), ("a", b"1"), ("none", None)]
    assert got == want, f"the headers are {want}; you have {got}"
