"""The description of a value: its type, whether it may be missing, and what it means.

Kafka 0.10.2: connect/api/.../connect/data/Schema.java (Schema, Type), ConnectSchema.java, Field.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar

from kafka_lite.connect.api.errors import DataError


class Type(Enum):
    """The type of a value; the comments give its Python type. The enum's value is the type's name in JSON schemas."""

    INT8 = "int8"  # int
    INT16 = "int16"  # int
    INT32 = "int32"  # int
    INT64 = "int64"  # int
    FLOAT32 = "float"  # float
    FLOAT64 = "double"  # float
    BOOLEAN = "boolean"  # bool
    STRING = "string"  # str
    BYTES = "bytes"  # bytes
    ARRAY = "array"  # list
    MAP = "map"  # dict
    STRUCT = "struct"  # Struct

    @property
    def is_primitive(self) -> bool:
        """Whether values of the type contain no others."""
        return self not in (Type.ARRAY, Type.MAP, Type.STRUCT)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Field:
    """A field of a struct: its name, its position from 0, and the schema of its values."""

    name: str
    index: int
    schema: Schema


@dataclass(frozen=True, eq=False)
class Schema:
    """An immutable schema. :class:`SchemaBuilder` makes one; for plain types there are constants.

    ``name`` and ``version`` say what the data means, such as that an INT64 is a point in time. Two schemas are equal if
    all their properties are.
    """

    type: Type
    optional: bool = False
    """Whether None is a valid value."""
    default: Any = None
    """The value of a field that was not set; None if there is no default."""
    name: str | None = None
    version: int | None = None
    doc: str | None = None
    parameters: Mapping[str, str] | None = None
    """More properties of a logical type, such as the scale of a decimal."""
    fields: tuple[Field, ...] = ()
    """The fields of a STRUCT, in order; other types have none."""
    keys: Schema | None = None
    """The schema of the keys of a MAP; ``key_schema`` is never None."""
    values: Schema | None = None
    """The schema of the values of a MAP or an ARRAY; ``value_schema`` is never None."""

    INT8_SCHEMA: ClassVar[Schema]
    INT16_SCHEMA: ClassVar[Schema]
    INT32_SCHEMA: ClassVar[Schema]
    INT64_SCHEMA: ClassVar[Schema]
    FLOAT32_SCHEMA: ClassVar[Schema]
    FLOAT64_SCHEMA: ClassVar[Schema]
    BOOLEAN_SCHEMA: ClassVar[Schema]
    STRING_SCHEMA: ClassVar[Schema]
    BYTES_SCHEMA: ClassVar[Schema]
    OPTIONAL_INT8_SCHEMA: ClassVar[Schema]
    OPTIONAL_INT16_SCHEMA: ClassVar[Schema]
    OPTIONAL_INT32_SCHEMA: ClassVar[Schema]
    OPTIONAL_INT64_SCHEMA: ClassVar[Schema]
    OPTIONAL_FLOAT32_SCHEMA: ClassVar[Schema]
    OPTIONAL_FLOAT64_SCHEMA: ClassVar[Schema]
    OPTIONAL_BOOLEAN_SCHEMA: ClassVar[Schema]
    OPTIONAL_STRING_SCHEMA: ClassVar[Schema]
    OPTIONAL_BYTES_SCHEMA: ClassVar[Schema]

    @cached_property
    def _fields_by_name(self) -> dict[str, Field]:
        return {field.name: field for field in self.fields}

    def field(self, name: str) -> Field | None:
        """The field of a struct with this name, or None. Raises DataError if this is not the schema of a struct."""
        if self.type is not Type.STRUCT:
            raise DataError("Cannot look up fields on non-struct type")
        return self._fields_by_name.get(name)

    @property
    def key_schema(self) -> Schema:
        """The schema of the keys of a map. Raises DataError for other types."""
        if self.type is not Type.MAP or self.keys is None:
            raise DataError("Cannot look up key schema on non-map type")
        return self.keys

    @property
    def value_schema(self) -> Schema:
        """The schema of the values of a map or of the elements of an array. Raises DataError for other types."""
        if self.type not in (Type.MAP, Type.ARRAY) or self.values is None:
            raise DataError("Cannot look up value schema on non-array and non-map type")
        return self.values

    @cached_property
    def _properties(self) -> tuple[object, ...]:
        return (
            self.type, self.optional, self.default, self.name, self.version, self.doc, self.parameters, self.fields,
            self.keys, self.values,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        if self is other:  # usual: the records of a task share their schemas
            return True
        return isinstance(other, Schema) and self._properties == other._properties

    @cached_property
    def _hash(self) -> int:
        # Defaults and parameters may be unhashable, and rarely tell schemas apart.
        return hash((self.type, self.optional, self.name, self.version, self.fields, self.keys, self.values))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return f"Schema{{{self.name}:{self.type}}}" if self.name is not None else f"Schema{{{self.type}}}"


Schema.INT8_SCHEMA = Schema(Type.INT8)
Schema.INT16_SCHEMA = Schema(Type.INT16)
Schema.INT32_SCHEMA = Schema(Type.INT32)
Schema.INT64_SCHEMA = Schema(Type.INT64)
Schema.FLOAT32_SCHEMA = Schema(Type.FLOAT32)
Schema.FLOAT64_SCHEMA = Schema(Type.FLOAT64)
Schema.BOOLEAN_SCHEMA = Schema(Type.BOOLEAN)
Schema.STRING_SCHEMA = Schema(Type.STRING)
Schema.BYTES_SCHEMA = Schema(Type.BYTES)
Schema.OPTIONAL_INT8_SCHEMA = Schema(Type.INT8, optional=True)
Schema.OPTIONAL_INT16_SCHEMA = Schema(Type.INT16, optional=True)
Schema.OPTIONAL_INT32_SCHEMA = Schema(Type.INT32, optional=True)
Schema.OPTIONAL_INT64_SCHEMA = Schema(Type.INT64, optional=True)
Schema.OPTIONAL_FLOAT32_SCHEMA = Schema(Type.FLOAT32, optional=True)
Schema.OPTIONAL_FLOAT64_SCHEMA = Schema(Type.FLOAT64, optional=True)
Schema.OPTIONAL_BOOLEAN_SCHEMA = Schema(Type.BOOLEAN, optional=True)
Schema.OPTIONAL_STRING_SCHEMA = Schema(Type.STRING, optional=True)
Schema.OPTIONAL_BYTES_SCHEMA = Schema(Type.BYTES, optional=True)
