"""Schemas as JSON.

::

    {"type": "struct",
     "fields": [{"type": "int32", "optional": false, "field": "id"}, ...],   each a schema, and the field's name
     "optional": false, "name": ..., "version": ..., "doc": ..., "parameters": {...}, "default": ...}

An array has ``items`` in place of ``fields``, a map ``keys`` and ``values``. What is not set is left out.

Kafka 0.10.2: connect/json/.../connect/json/JsonSchema.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_lite.connect.api.data.schema import Schema, Type
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.json.json_converter_config import JsonConverterConfig
from kafka_lite.connect.json.json_reader import value_of
from kafka_lite.connect.json.json_text import quoted
from kafka_lite.connect.json.json_writer import json_of


def schema_json(schema: Schema, config: JsonConverterConfig) -> str:
    """The JSON of a schema. The order of the properties is Kafka's."""
    return f"{{{','.join(_properties(schema, config))}}}"


def _properties(schema: Schema, config: JsonConverterConfig) -> Iterator[str]:
    yield f'"type":"{schema.type.value}"'
    match schema.type:
        case Type.ARRAY:
            yield f'"items":{schema_json(schema.value_schema, config)}'
        case Type.MAP:
            yield f'"keys":{schema_json(schema.key_schema, config)}'
            yield f'"values":{schema_json(schema.value_schema, config)}'
        case Type.STRUCT:
            yield f'"fields":[{",".join(_field(f.name, f.schema, config) for f in schema.fields)}]'
    yield f'"optional":{"true" if schema.optional else "false"}'
    if schema.name is not None:
        yield f'"name":{quoted(schema.name)}'
    if schema.version is not None:
        yield f'"version":{schema.version}'
    if schema.doc is not None:
        yield f'"doc":{quoted(schema.doc)}'
    if schema.parameters is not None:
        pairs = (f"{quoted(name)}:{quoted(value)}" for name, value in schema.parameters.items())
        yield f'"parameters":{{{",".join(pairs)}}}'
    if schema.default is not None:
        yield f'"default":{json_of(schema, schema.default, config)}'


def _field(name: str, schema: Schema, config: JsonConverterConfig) -> str:
    return f'{{{",".join(_properties(schema, config))},"field":{quoted(name)}}}'


def schema_of(node: Any, config: JsonConverterConfig) -> Schema:
    """The schema of parsed JSON. Raises DataError if it is not one; properties of a wrong type are ignored."""
    properties: dict[str, Any] = node if isinstance(node, dict) else {}
    kind = properties.get("type")
    if not isinstance(kind, str):
        raise DataError("Schema must contain 'type' field")
    builder = _builder(kind, properties, config)
    if properties.get("optional") is True:
        builder.optional()
    if isinstance(name := properties.get("name"), str):
        builder.name(name)
    if type(version := properties.get("version")) is int:
        builder.version(version)
    if isinstance(doc := properties.get("doc"), str):
        builder.doc(doc)
    if isinstance(parameters := properties.get("parameters"), dict):
        if not all(isinstance(value, str) for value in parameters.values()):
            raise DataError("Schema parameters must have string values.")
        builder.parameters(parameters)
    if "default" in properties:
        default = value_of(builder.build(), properties["default"], config)
        if default is not None:
            builder.default_value(default)
    return builder.build()


def _builder(kind: str, properties: dict[str, Any], config: JsonConverterConfig) -> SchemaBuilder:
    match kind:
        case "array":
            return SchemaBuilder.array(
                _inner("items", "Array schema did not specify the element type", properties, config)
            )
        case "map":
            return SchemaBuilder.map(
                _inner("keys", "Map schema did not specify the key type", properties, config),
                _inner("values", "Map schema did not specify the value type", properties, config),
            )
        case "struct":
            return _struct_builder(properties, config)
    try:
        return SchemaBuilder(Type(kind))
    except ValueError:
        raise DataError(f"Unknown schema type: {kind}") from None


def _inner(name: str, missing: str, properties: dict[str, Any], config: JsonConverterConfig) -> Schema:
    if properties.get(name) is None:
        raise DataError(missing)
    return schema_of(properties[name], config)


def _struct_builder(properties: dict[str, Any], config: JsonConverterConfig) -> SchemaBuilder:
    builder = SchemaBuilder.struct()
    fields = properties.get("fields")
    if not isinstance(fields, list):
        raise DataError('Struct schema\'s "fields" argument is not an array.')
    for field in fields:
        name = field.get("field") if isinstance(field, dict) else None
        if not isinstance(name, str):
            raise DataError("Struct schema's field name not specified properly")
        builder.field(name, schema_of(field, config))
    return builder
