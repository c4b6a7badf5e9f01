"""Records with a schema and without, and transformations as a configuration makes them."""

import pytest

from kafka_lite.connect.api import Schema, SchemaBuilder, SourceRecord, Struct
from kafka_lite.connect.transforms.regex_router import RegexRouter
from kafka_lite.connect.transforms.replace_field import ReplaceFieldValue
from kafka_lite.connect.transforms.value_to_key import ValueToKey

TOWN = (
    SchemaBuilder.struct()
    .name("town")
    .field("name", Schema.STRING_SCHEMA)
    .field("people", Schema.INT32_SCHEMA)
    .field("secret", Schema.OPTIONAL_STRING_SCHEMA)
    .build()
)
VALUES = {"name": "Ulm", "people": 128928, "secret": "x"}


def configured(made, **configs):
    made.configure({key.replace("_", "."): value for key, value in configs.items()})
    return made


@pytest.fixture
def replace_field():
    """``replace_field(exclude="a,b")``: on values."""
    return lambda **configs: configured(ReplaceFieldValue(), **configs)


@pytest.fixture
def value_to_key():
    """``value_to_key("a,b")``."""
    return lambda fields: configured(ValueToKey(), fields=fields)


@pytest.fixture
def router():
    """``router("raw-(.*)", "clean-$1")``."""
    return lambda regex, replacement: configured(RegexRouter(), regex=regex, replacement=replacement)


@pytest.fixture
def with_schema():
    """Ulm as a struct."""
    return SourceRecord(topic="raw-towns", value_schema=TOWN, value=Struct(TOWN, VALUES))


@pytest.fixture
def without_schema():
    """Ulm as a map; its key has a schema."""
    return SourceRecord(topic="raw-towns", value=dict(VALUES), key="old", key_schema=Schema.STRING_SCHEMA)
