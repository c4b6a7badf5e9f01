import datetime
import decimal
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api import DataError, Schema, SchemaBuilder, Struct
from tests.support.transformed_records import made, of_value


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        (5, 0),
        (1.5, 0.0),
        (True, False),
        ("x", ""),
        (decimal.Decimal("1.5"), decimal.Decimal(0)),
        ([1], []),
        ({"a": 1}, {}),
        (datetime.datetime(2023, 11, 14), datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)),
        (datetime.date(2023, 11, 14), datetime.date(1970, 1, 1)),
        (datetime.time(1), datetime.time()),
        (None, None),
    ],
)
def test_each_type_has_its_nothing(value: Any, masked: Any) -> None:
    assert of_value(made("MaskField$Value", fields="f"), {"f": value, "g": 1}).value == {"f": masked, "g": 1}


def test_a_replacement() -> None:
    mask = made("MaskField$Value", fields=["a", "b"], replacement="42")

    assert of_value(mask, {"a": 7, "b": "secret"}).value == {"a": 42, "b": "42"}
    with pytest.raises(DataError, match=r"^Cannot mask value of type bool with custom replacement\.$"):
        of_value(mask, {"a": True})
    with pytest.raises(DataError, match=r"^Unable to convert x to number$"):
        of_value(made("MaskField$Value", fields="a", replacement="x"), {"a": 7})


def test_a_struct_keeps_its_schema() -> None:
    schema = SchemaBuilder.struct().field("a", Schema.INT8_SCHEMA).field("b", Schema.STRING_SCHEMA).build()
    record = of_value(made("MaskField$Value", fields="b"), Struct(schema, {"a": 1, "b": "x"}), schema)

    assert (record.value, record.value_schema) == (Struct(schema, {"a": 1, "b": ""}), schema)


def test_there_must_be_fields() -> None:
    with pytest.raises(ConfigError, match="non-empty"):
        made("MaskField$Value", fields="")
