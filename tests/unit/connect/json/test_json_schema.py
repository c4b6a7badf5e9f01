import pytest

from kafka_lite.connect.api import DataError, Decimal, Schema, SchemaBuilder
from kafka_lite.connect.json.json_converter_config import JsonConverterConfig
from kafka_lite.connect.json.json_schema import schema_json, schema_of
from kafka_lite.connect.json.json_text import parse_json

CONFIG = JsonConverterConfig()
NESTED = (
    SchemaBuilder.struct()
    .name("n")
    .version(3)
    .doc("d")
    .parameter("p", "v")
    .field("list", SchemaBuilder.array(Schema.OPTIONAL_INT8_SCHEMA))
    .field("map", SchemaBuilder.map(Schema.STRING_SCHEMA, Decimal.schema(2)).optional())
    .field("inner", SchemaBuilder.struct().field("f", SchemaBuilder.float32().default_value(1.5)))
    .build()
)


def test_a_schema_reads_back() -> None:
    assert schema_of(parse_json(schema_json(NESTED, CONFIG).encode()), CONFIG) == NESTED


def test_the_order_of_properties() -> None:
    schema = SchemaBuilder.array(Schema.STRING_SCHEMA).name("n").version(1).doc("d").parameter("p", "v")
    assert schema_json(schema.default_value(["x"]).build(), CONFIG) == (
        '{"type":"array","items":{"type":"string","optional":false},"optional":false,"name":"n","version":1,"doc":"d",'
        '"parameters":{"p":"v"},"default":["x"]}'
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", "^Schema must contain 'type' field$"),
        ('"int8"', "^Schema must contain 'type' field$"),
        ('{"type":5}', "^Schema must contain 'type' field$"),
        ('{"type":"int128"}', "^Unknown schema type: int128$"),
        ('{"type":"array"}', "^Array schema did not specify the element type$"),
        ('{"type":"map"}', "^Map schema did not specify the key type$"),
        ('{"type":"map","keys":{"type":"int8"}}', "^Map schema did not specify the value type$"),
        ('{"type":"struct"}', '^Struct schema\'s "fields" argument is not an array.$'),
        ('{"type":"struct","fields":[{"type":"int8"}]}', "^Struct schema's field name not specified properly$"),
        ('{"type":"struct","fields":[1]}', "^Struct schema's field name not specified properly$"),
        ('{"type":"int8","parameters":{"a":1}}', "^Schema parameters must have string values.$"),
        ('{"type":"int8","default":null}', "^Invalid null value for required INT8 field$"),
    ],
)
def test_what_is_not_a_schema(text: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        schema_of(parse_json(text.encode()), CONFIG)


def test_properties_of_a_wrong_type_are_ignored() -> None:
    node = {"type": "int8", "optional": "true", "name": 1, "version": "1", "doc": [], "parameters": "x"}

    assert schema_of(node, CONFIG) == Schema.INT8_SCHEMA
    assert schema_of({"type": "int8", "optional": True, "default": None}, CONFIG) == Schema.OPTIONAL_INT8_SCHEMA
