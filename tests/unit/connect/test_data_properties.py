"""Any schema and any value that fits it."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hypothesis import given, settings

from kafka_lite.connect.api import DataError, Schema, SchemaProjector
from kafka_lite.connect.api.data.struct import validate_value
from kafka_lite.connect.json.json_converter import JsonConverter
from tests.support.connect_data import DATA, SCHEMAS
from tests.support.examples import examples

WITH_SCHEMAS, WITHOUT_SCHEMAS = JsonConverter(), JsonConverter()
WITHOUT_SCHEMAS.configure({"schemas.enable": "false"}, False)


@settings(max_examples=examples(50), deadline=None)
@given(DATA)
def test_data_is_read_as_it_was_written(data: tuple[Schema, Any]) -> None:
    written = WITH_SCHEMAS.from_connect_data("t", *data)

    assert WITH_SCHEMAS.to_connect_data("t", written) == data


@settings(max_examples=examples(50), deadline=None)
@given(DATA)
def test_the_payload_is_json_that_any_parser_reads(data: tuple[Schema, Any]) -> None:
    with_schema = json.loads(WITH_SCHEMAS.from_connect_data("t", *data) or b"")
    without = WITHOUT_SCHEMAS.from_connect_data("t", *data)

    assert without is not None
    assert with_schema["payload"] == json.loads(without)
    assert with_schema["schema"]["optional"] is data[0].optional


@settings(max_examples=examples(50), deadline=None)
@given(DATA)
def test_data_that_fits_is_valid_and_projects_onto_its_own_schema(data: tuple[Schema, Any]) -> None:
    schema, value = data
    validate_value(schema, value)

    assert SchemaProjector.project(schema, value, schema) == value


@settings(max_examples=examples(50), deadline=None)
@given(DATA, SCHEMAS)
def test_a_value_that_does_not_fit_is_an_error_of_data(data: tuple[Schema, Any], other: Schema) -> None:
    """Whatever is wrong, a task and its error handling see a DataError, and both checks agree."""
    with suppress(DataError):
        SchemaProjector.project(data[0], data[1], other)

    assert is_valid(lambda: validate_value(other, data[1])) or not is_written_and_read(other, data[1])


def is_valid(check: Callable[[], object]) -> bool:
    try:
        check()
    except DataError:
        return False
    return True


def is_written_and_read(schema: Schema, value: Any) -> bool:
    """Whether the value comes back as it was: not, say, a default in place of None, or a bool in place of an int."""
    try:
        read = WITH_SCHEMAS.to_connect_data("t", WITH_SCHEMAS.from_connect_data("t", schema, value)).value
    except DataError:
        return False
    return repr(read) == repr(value)
