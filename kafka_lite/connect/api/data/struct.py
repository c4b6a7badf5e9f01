"""A record of named fields, and the check of any value against its schema.

Kafka 0.10.2: connect/api/.../connect/data/Struct.java, ConnectSchema.java (validateValue) · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kafka_lite.connect.api.data.java_text import java_text
from kafka_lite.connect.api.data.logical_names import LOGICAL_TYPE_CLASSES
from kafka_lite.connect.api.data.schema import Field, Schema, Type
from kafka_lite.connect.api.errors import DataError


class Struct:
    """The values of the fields of a STRUCT schema; each is checked when it is set.

    ``Struct(schema, {"id": 1})`` sets fields by name, and so do ``struct["id"] = 1`` and ``struct.put("id", 1)``. A
    field that was not set has its schema's default. Kafka's typed getters are not needed: Python's values carry their
    types.
    """

    __slots__ = ("_values", "schema")

    def __init__(self, schema: Schema, values: Mapping[str, object] | None = None) -> None:
        """Raises DataError if the schema is not that of a struct, or if a value does not fit its field."""
        if schema.type is not Type.STRUCT:
            raise DataError(f"Not a struct schema: {schema}")
        self.schema = schema
        self._values: list[Any] = [None] * len(schema.fields)
        for name, value in (values or {}).items():
            self.put(name, value)

    def get(self, field: str | Field) -> Any:
        """The value of a field, or its default if it was not set. Raises DataError if there is no such field."""
        found = self._find(field)
        value = self._values[found.index]
        return found.schema.default if value is None else value

    def get_without_default(self, field: str | Field) -> Any:
        """The value of a field, None if it was not set. Raises DataError if there is no such field."""
        return self._values[self._find(field).index]

    def put(self, field: str | Field, value: object) -> Struct:
        """Set a field, and return this struct. Raises DataError if there is no such field or the value does not fit."""
        found = self._find(field)
        validate_value(found.schema, value, found.name)
        self._values[found.index] = value
        return self

    def validate(self) -> None:
        """Check all fields: a required one without a default must be set. Raises DataError."""
        for field, value in zip(self.schema.fields, self._values, strict=True):
            if value is None and field.schema.default is not None:
                continue
            validate_value(field.schema, value, field.name)

    def items(self) -> Iterator[tuple[str, Any]]:
        """The names of the fields with their values or defaults, in the schema's order."""
        return ((field.name, self.get(field)) for field in self.schema.fields)

    def _find(self, field: str | Field) -> Field:
        if isinstance(field, Field):
            return field
        found = self.schema.field(field)
        if found is None:
            raise DataError(f"{field} is not a valid field name")
        return found

    def __getitem__(self, name: str) -> Any:
        return self.get(name)

    def __setitem__(self, name: str, value: object) -> None:
        self.put(name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Struct) and self.schema == other.schema and self._values == other._values

    def __hash__(self) -> int:
        return hash((self.schema, *map(repr, self._values)))

    def __str__(self) -> str:
        pairs = zip(self.schema.fields, self._values, strict=True)
        return f"Struct{{{','.join(f'{f.name}={java_text(v)}' for f, v in pairs if v is not None)}}}"

    __repr__ = __str__


_INTEGER_BITS: Final = {Type.INT8: 8, Type.INT16: 16, Type.INT32: 32, Type.INT64: 64}

_CLASSES: Final[dict[Type, tuple[type, ...]]] = {
    Type.INT8: (int,),
    Type.INT16: (int,),
    Type.INT32: (int,),
    Type.INT64: (int,),
    Type.FLOAT32: (float, int),
    Type.FLOAT64: (float, int),
    Type.BOOLEAN: (bool,),
    Type.STRING: (str,),
    Type.BYTES: (bytes, bytearray, memoryview),
    Type.ARRAY: (list, tuple),
    Type.MAP: (Mapping,),
    Type.STRUCT: (Struct,),
}


def validate_value(schema: Schema, value: object, field: str | None = None) -> None:
    """Check a value, and what it contains, against its schema. Raises DataError, which names ``field`` if given."""
    if value is None:
        if not schema.optional:
            of = "" if field is None else f': "{field}", schema type: {schema.type}'
            raise DataError(f"Invalid value: null used for required field{of}")
        return
    logical = LOGICAL_TYPE_CLASSES.get(schema.name) if schema.name is not None else None
    if not (isinstance(value, logical) if logical is not None else is_of_type(schema.type, value)):
        raise _invalid(schema, type(value).__qualname__, field)
    if logical is None:
        _validate_content(schema, value, field)


def is_of_type(kind: Type, value: object) -> bool:
    """Whether a value has a class of the type. (For Python, a bool is an int.)"""
    return isinstance(value, _CLASSES[kind]) and (kind is Type.BOOLEAN or not isinstance(value, bool))


def _validate_content(schema: Schema, value: Any, field: str | None) -> None:
    match schema.type:
        case Type.INT8 | Type.INT16 | Type.INT32 | Type.INT64:
            limit = 1 << _INTEGER_BITS[schema.type] - 1
            if not -limit <= value < limit:
                raise _invalid(schema, f"{value} is not from {-limit} to {limit - 1}", field)
        case Type.STRUCT:
            if value.schema != schema:
                raise DataError("Struct schemas do not match.")
            value.validate()
        case Type.ARRAY:
            for element in value:
                validate_value(schema.value_schema, element, field)
        case Type.MAP:
            for key, element in value.items():
                validate_value(schema.key_schema, key, field)
                validate_value(schema.value_schema, element, field)


def _invalid(schema: Schema, problem: str, field: str | None) -> DataError:
    of = "" if field is None else f' for field: "{field}"'
    return DataError(f"Invalid Python object for schema type {schema.type}: {problem}{of}")
