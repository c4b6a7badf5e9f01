"""Task 3: a key from the value."""

import pytest

from kafka_lite.connect.api import DataError


@pytest.mark.points(9, task=3)
def test_a_struct(value_to_key, with_schema):
    """Two fields, in the order of the configuration"""
    record = value_to_key("people,name").apply(with_schema)
    assert str(record.key) == "Struct{people=128928,name=Ulm}", (
        f"in the order of the configuration; yours: {record.key}"
    )
    assert record.key_schema is record.key.schema, "the record has the schema of its key"
    assert record.key_schema.name is None, "the key's schema has no name: it is no town"
    assert record.value == with_schema.value, "the value stays"


@pytest.mark.points(8, task=3)
def test_a_map(value_to_key, without_schema):
    """A field that is there, and one that is not"""
    try:
        record = value_to_key("name,gone").apply(without_schema)
    except KeyError as error:
        pytest.fail(f"None for what a map lacks; yours raised KeyError: {error}")
    assert record.key == {"name": "Ulm", "gone": None}, f"None for what a map lacks; yours: {record.key}"
    assert record.key_schema is None, "the key of a map has no schema, whatever the old key had"


@pytest.mark.points(8, task=3)
def test_a_schema_without_the_field(value_to_key, with_schema):
    """A struct is not a map"""
    try:
        found = value_to_key("gone")._key_schema(with_schema.value_schema)
    except DataError:
        return
    except (AttributeError, TypeError) as error:
        pytest.fail(f"the schema has no field of this name: raise DataError; yours raised {error!r}")
    pytest.fail(f"the schema has no field of this name: raise DataError; yours returned {found}")
