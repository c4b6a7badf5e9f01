import datetime
import decimal

import pytest

from kafka_lite.connect.api import Schema, SchemaBuilder, Struct
from kafka_lite.connect.api.data.java_text import java_text

POINT = SchemaBuilder.struct().field("x", Schema.FLOAT64_SCHEMA).build()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (7, "7"),
        (1e30, "1.0E30"),
        ("a", "a"),
        ([1, None, "x"], "[1, null, x]"),
        ({"a": {"b": 1.5}}, "{a={b=1.5}}"),
        (decimal.Decimal("-12.34"), "-12.34"),
        (Struct(POINT, {"x": 1.0}), "Struct{x=1.0}"),
        (datetime.date(2023, 11, 14), "Tue Nov 14 00:00:00 UTC 2023"),
        (datetime.time(22, 13, 20), "Thu Jan 01 22:13:20 UTC 1970"),
        (datetime.datetime(2023, 11, 14, 22, 13, 20), "Tue Nov 14 22:13:20 UTC 2023"),
        (
            datetime.datetime(2023, 11, 15, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
            "Tue Nov 14 23:00:00 UTC 2023",
        ),
    ],
)
def test_texts_of_java(value: object, text: str) -> None:
    assert java_text(value) == text
