"""Projects data of one schema onto another, as a sink does whose table has an older or newer one.

Kafka 0.10.2: connect/api/.../connect/data/SchemaProjector.java · book 8.3.3
"""

from __future__ import annotations

from typing import Any, Final

from kafka_lite.connect.api.data.schema import Field, Schema, Type
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import DataError, SchemaProjectorError

_PROMOTIONS: Final = (Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64)
"""Each of these can be projected onto itself and onto those to its right."""


class SchemaProjector:
    """One function, in a class as Kafka has it."""

    @staticmethod
    def project(source: Schema, record: Any, target: Schema) -> Any:
        """The value ``record`` of the schema ``source``, as a value of the schema ``target``.

        Fields that only the target has get their defaults, fields that only the source has are dropped. Raises
        SchemaProjectorError if the types, names or parameters differ, or if a value is missing that has no default.
        """
        _check_compatible(source, target)
        if source.optional and not target.optional:
            if target.default is None:
                raise SchemaProjectorError(
                    "Writer schema is optional, however, target schema does not provide a default value."
                )
            if record is None:
                return target.default
        return None if record is None else _project_required(source, record, target)


def _check_compatible(source: Schema, target: Schema) -> None:
    if source.type is not target.type and not _is_promotable(source.type, target.type):
        raise SchemaProjectorError(f"Schema type mismatch. source type: {source.type} and target type: {target.type}")
    if source.name != target.name:
        raise SchemaProjectorError(f"Schema name mismatch. source name: {source.name} and target name: {target.name}")
    if source.parameters != target.parameters:
        raise SchemaProjectorError(
            f"Schema parameters not equal. source parameters: {source.parameters} "
            f"and target parameters: {target.parameters}"
        )


def _is_promotable(source: Type, target: Type) -> bool:
    both = source in _PROMOTIONS and target in _PROMOTIONS
    return both and _PROMOTIONS.index(source) <= _PROMOTIONS.index(target)


def _project_required(source: Schema, record: Any, target: Schema) -> Any:
    match target.type:
        case Type.STRUCT:
            return _project_struct(source, record, target)
        case Type.ARRAY:
            return [SchemaProjector.project(source.value_schema, value, target.value_schema) for value in record]
        case Type.MAP:
            return {
                SchemaProjector.project(source.key_schema, key, target.key_schema): SchemaProjector.project(
                    source.value_schema, value, target.value_schema
                )
                for key, value in record.items()
            }
        case Type.FLOAT32 | Type.FLOAT64:
            return float(record)
    return record


def _project_struct(source: Schema, record: Struct, target: Schema) -> Struct:
    projected = Struct(target)
    for field in target.fields:
        origin = source.field(field.name)
        if origin is not None:
            projected.put(field, _project_field(origin, record, field))
        elif field.schema.optional:
            continue
        elif field.schema.default is not None:
            projected.put(field, field.schema.default)
        else:
            raise SchemaProjectorError(f"Required field `{field.name}` is missing from source schema: {source}")
    return projected


def _project_field(origin: Field, record: Struct, field: Field) -> Any:
    try:
        return SchemaProjector.project(origin.schema, record.get(origin), field.schema)
    except DataError as error:
        raise SchemaProjectorError(f"Error projecting {origin.name}: {error}") from error
