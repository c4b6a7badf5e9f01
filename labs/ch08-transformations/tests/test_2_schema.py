"""Task 2: fields are replaced in a record."""

import pytest

from kafka_lite.connect.api import DataError


@pytest.mark.points(9, task=2)
def test_a_struct(replace_field, with_schema):
    """Ulm with a schema"""
    transformation = replace_field(exclude="secret", renames="people:inhabitants")
    schema = transformation._updated_schema(with_schema.value_schema)
    assert [field.name for field in schema.fields] == ["name", "inhabitants"], (
        f"the schema has the new names of the fields that are wanted; yours: {[field.name for field in schema.fields]}"
    )
    assert schema.name == "town", f"the schema keeps its name, town; yours: {schema.name}"
    record = transformation.apply(with_schema)
    assert str(record.value) == "Struct{name=Ulm,inhabitants=128928}", f"name and inhabitants; yours: {record.value}"
    assert record.value_schema is record.value.schema, "the record has the schema of its value"
    assert str(with_schema.value) == "Struct{name=Ulm,people=128928,secret=x}", "the record that was given is immutable"


@pytest.mark.points(8, task=2)
def test_a_map_and_a_tombstone(replace_field, without_schema):
    """Values without a schema"""
    transformation = replace_field(exclude="secret", renames="people:inhabitants")
    record = transformation.apply(without_schema)
    assert record.value == {"name": "Ulm", "inhabitants": 128928}, f"name and inhabitants; yours: {record.value}"
    tombstone = without_schema.new_record(value=None)
    try:
        found = transformation.apply(tombstone)
    except DataError as error:
        pytest.fail(f"a tombstone has no fields to replace: return it as it is; yours raised {error}")
    assert found == tombstone, "a tombstone stays as it is"
    with pytest.raises(DataError):
        transformation.apply(without_schema.new_record(value="a text"))


@pytest.mark.points(8, task=2)
def test_the_schema_is_made_once(replace_field, with_schema):
    """Two records of one schema"""
    transformation = replace_field(exclude="secret")
    first, second = (transformation.apply(with_schema).value_schema for _ in range(2))
    assert first is second, "the schema is made once: a million records have the same one"
