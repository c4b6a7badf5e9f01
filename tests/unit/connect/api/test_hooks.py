"""Methods that an author need not write, and errors as they are caught."""

from typing import Any

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.connect.api import (
    ConnectError,
    ConnectRecord,
    Converter,
    DataError,
    HeaderConverter,
    Predicate,
    RetriableError,
    Schema,
    SchemaAndValue,
    SourceRecord,
    Transformation,
    errors,
)
from kafka_lite.connect.api.data.schema_and_value import NULL
from kafka_lite.connect.api.transformation import R


class Upper(Transformation):
    def apply(self, record: R) -> R:
        return record.new_record(value=str(record.value).upper())


class HasKey(Predicate):
    def test(self, record: ConnectRecord) -> bool:
        return record.key is not None


class Reversed(Converter, HeaderConverter):
    def from_connect_data(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        return None if value is None else bytes(reversed(value.encode()))

    def to_connect_data(self, topic: str, value: bytes | None) -> SchemaAndValue:
        return NULL if value is None else SchemaAndValue(Schema.STRING_SCHEMA, bytes(reversed(value)).decode())

    def from_connect_header(self, topic: str, header_key: str, schema: Schema | None, value: Any) -> bytes | None:
        return self.from_connect_data(topic, schema, value)

    def to_connect_header(self, topic: str, header_key: str, value: bytes | None) -> SchemaAndValue:
        return self.to_connect_data(topic, value)


def test_a_transformation_of_one_method() -> None:
    upper = Upper()
    upper.configure({"any": "thing"})
    record = upper.apply(SourceRecord(topic="t", value="a"))
    upper.close()

    assert record.value == "A"
    assert not list(upper.config())


def test_a_predicate_of_one_method() -> None:
    has_key = HasKey()
    has_key.configure({})

    assert (has_key.test(SourceRecord(topic="t", key="k")), has_key.test(SourceRecord(topic="t"))) == (True, False)
    assert not list(has_key.config())
    has_key.close()


def test_a_converter_of_two_methods() -> None:
    backwards = Reversed()
    Converter.configure(backwards, {}, True)
    HeaderConverter.configure(backwards, {})

    assert backwards.to_connect_data("t", backwards.from_connect_data("t", None, "abc")).value == "abc"
    assert backwards.to_connect_header("t", "h", None) is NULL
    assert not list(backwards.config())


def test_a_value_with_its_schema_as_text() -> None:
    assert str(SchemaAndValue(Schema.INT8_SCHEMA, 5)) == "SchemaAndValue{schema=Schema{INT8}, value=5}"
    assert SchemaAndValue(None, None) == NULL


@pytest.mark.parametrize(
    ("error", "caught_as"),
    [
        (errors.SchemaBuilderError, DataError),
        (errors.SchemaProjectorError, DataError),
        (DataError, ConnectError),
        (RetriableError, ConnectError),
        (errors.AlreadyExistsError, ConnectError),
        (errors.NotFoundError, ConnectError),
        (errors.IllegalWorkerStateError, ConnectError),
        (ConnectError, KafkaError),
    ],
)
def test_errors_are_caught_by_what_they_mean(error: type[Exception], caught_as: type[Exception]) -> None:
    with pytest.raises(caught_as, match="why"):
        raise error("why")
