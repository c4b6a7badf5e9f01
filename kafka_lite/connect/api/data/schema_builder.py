"""Makes schemas by a chain of calls.

Kafka 0.10.2: connect/api/.../connect/data/SchemaBuilder.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.connect.api.data.schema import Field, Schema, Type
from kafka_lite.connect.api.data.struct import validate_value
from kafka_lite.connect.api.errors import DataError, SchemaBuilderError


class SchemaBuilder:
    """Begins with a type, ends with ``build()``; each property can be set once.

    ::

        SchemaBuilder.struct().name("person").field("id", Schema.INT64_SCHEMA).build()
    """

    def __init__(self, kind: Type, keys: Schema | None = None, values: Schema | None = None) -> None:
        self._type = kind
        self._keys, self._values = keys, values
        self._fields: list[Field] = []
        self._optional: bool | None = None
        self._default: Any = None
        self._name: str | None = None
        self._version: int | None = None
        self._doc: str | None = None
        self._parameters: dict[str, str] = {}

    # ------------------------------------------------------------------------------------------------------------ types

    @staticmethod
    def int8() -> SchemaBuilder:
        """An integer of 8 bits."""
        return SchemaBuilder(Type.INT8)

    @staticmethod
    def int16() -> SchemaBuilder:
        """An integer of 16 bits."""
        return SchemaBuilder(Type.INT16)

    @staticmethod
    def int32() -> SchemaBuilder:
        """An integer of 32 bits."""
        return SchemaBuilder(Type.INT32)

    @staticmethod
    def int64() -> SchemaBuilder:
        """An integer of 64 bits."""
        return SchemaBuilder(Type.INT64)

    @staticmethod
    def float32() -> SchemaBuilder:
        """A float of 32 bits."""
        return SchemaBuilder(Type.FLOAT32)

    @staticmethod
    def float64() -> SchemaBuilder:
        """A float of 64 bits."""
        return SchemaBuilder(Type.FLOAT64)

    @staticmethod
    def bool() -> SchemaBuilder:
        """True or false."""
        return SchemaBuilder(Type.BOOLEAN)

    @staticmethod
    def string() -> SchemaBuilder:
        """A text."""
        return SchemaBuilder(Type.STRING)

    @staticmethod
    def bytes() -> SchemaBuilder:
        """A sequence of bytes."""
        return SchemaBuilder(Type.BYTES)

    @staticmethod
    def struct() -> SchemaBuilder:
        """A record: add its fields with ``field``."""
        return SchemaBuilder(Type.STRUCT)

    @staticmethod
    def array(value_schema: Schema) -> SchemaBuilder:
        """A list of values of one schema."""
        return SchemaBuilder(Type.ARRAY, values=value_schema)

    @staticmethod
    def map(key_schema: Schema, value_schema: Schema) -> SchemaBuilder:
        """A dict whose keys have one schema and whose values another."""
        return SchemaBuilder(Type.MAP, key_schema, value_schema)

    # ------------------------------------------------------------------------------------------------------- properties

    def optional(self) -> SchemaBuilder:
        """None is a valid value."""
        _check_unset("optional", self._optional)
        self._optional = True
        return self

    def required(self) -> SchemaBuilder:
        """None is not a valid value. That is also so if neither is called."""
        _check_unset("optional", self._optional)
        self._optional = False
        return self

    def default_value(self, value: object) -> SchemaBuilder:
        """The value of a field that is not set. Raises SchemaBuilderError if it does not fit the schema so far."""
        _check_unset("default", self._default)
        try:
            validate_value(self.build(), value)
        except DataError as error:
            raise SchemaBuilderError(f"Invalid default value: {error}") from error
        self._default = value
        return self

    def name(self, name: str) -> SchemaBuilder:
        """Say what the data is, such as ``org.apache.kafka.connect.data.Date``."""
        _check_unset("name", self._name)
        self._name = name
        return self

    def version(self, version: int) -> SchemaBuilder:
        """The version of what ``name`` means; newer ones are larger."""
        _check_unset("version", self._version)
        self._version = version
        return self

    def doc(self, doc: str) -> SchemaBuilder:
        """A text for people."""
        _check_unset("doc", self._doc)
        self._doc = doc
        return self

    def parameter(self, name: str, value: str) -> SchemaBuilder:
        """Set a further property of a logical type; a second value replaces the first."""
        self._parameters[name] = value
        return self

    def parameters(self, parameters: Mapping[str, str]) -> SchemaBuilder:
        """Set several further properties."""
        self._parameters.update(parameters)
        return self

    def field(self, name: str, schema: Schema | SchemaBuilder) -> SchemaBuilder:
        """Add a field to a struct. Raises SchemaBuilderError for other types, and for a name that is empty or taken."""
        if self._type is not Type.STRUCT:
            raise SchemaBuilderError(f"Cannot create fields on type {self._type}")
        if not name:
            raise SchemaBuilderError("fieldName cannot be null.")
        if any(field.name == name for field in self._fields):
            raise SchemaBuilderError(f"Cannot create field because of field name duplication {name}")
        built = schema.build() if isinstance(schema, SchemaBuilder) else schema
        self._fields.append(Field(name, len(self._fields), built))
        return self

    def build(self) -> Schema:
        """The schema."""
        return Schema(
            self._type,
            optional=self._optional is True,
            default=self._default,
            name=self._name,
            version=self._version,
            doc=self._doc,
            parameters=dict(self._parameters) or None,
            fields=tuple(self._fields),
            keys=self._keys,
            values=self._values,
        )


def _check_unset(name: str, value: object) -> None:
    if value is not None:
        raise SchemaBuilderError(f"Invalid SchemaBuilder call: {name} has already been set.")
