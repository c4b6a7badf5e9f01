"""The largest request of each API, made from its declaration: arrays with so many elements that nothing else counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_lite.protocol import wire_types
from kafka_lite.protocol.schema import Request, Struct
from kafka_lite.protocol.wire_types import Array, Field, StructType


def array_fields(cls: type[Struct], version: int) -> list[Field]:
    """The arrays of a struct in a version, without tagged ones."""
    return [field for field in cls.FIELDS if isinstance(field.type, Array) and field.is_plain_in(version)]


def array_paths(cls: type[Struct], version: int) -> list[tuple[str, ...]]:
    """Every array that can be long: the names of the fields that lead to it, ``("topics", "partitions")``.

    Those of the message itself come first.
    """
    fields = array_fields(cls, version)
    nested = [
        (field.name, *path)
        for field in fields
        if (element := _struct_of(field)) is not None
        for path in array_paths(element, version)
    ]
    return [*((field.name,) for field in fields), *nested]


def largest(request: type[Request], version: int, elements: int, path: Sequence[str] = ()) -> Request:
    """A request whose array at the path has nearly all of ``elements`` elements, each with a name of its own.

    Without a path, its first array. Every other array has one element.
    """
    path = path or array_paths(request, version)[0]
    message = request()
    _fill(message, version, elements, path)
    return message


def _fill(struct: Struct, version: int, elements: int, path: Sequence[str]) -> None:
    """Give each array of the struct one element; that at the path, what is left."""
    fields = {field.name: field for field in array_fields(type(struct), version)}
    long = fields.pop(path[0])
    for field in fields.values():
        setattr(struct, field.name, [_element(field, version, 0)])
    left = elements - sum(_weight(field, version) for field in fields.values())
    if len(path) == 1:
        made = [_element(long, version, number) for number in range(left // _weight(long, version))]
    else:
        made = [_element(long, version, 0)]
        _fill(made[0], version, left - 1, path[1:])
    setattr(struct, long.name, made)


def _weight(field: Field, version: int) -> int:
    """How many elements one element of an array brings with it, itself counted."""
    element = _struct_of(field)
    if element is None:
        return 1
    return 1 + sum(_weight(nested, version) for nested in array_fields(element, version))


def _element(field: Field, version: int, number: int) -> Any:
    cls = _struct_of(field)
    if cls is None:
        assert isinstance(field.type, Array)
        element = field.type.element
        return f"n{number}" if element is wire_types.STRING else b"" if element is wire_types.BYTES else number % 100
    struct = cls()
    for each in cls.FIELDS:
        if each.is_plain_in(version):
            if isinstance(each.type, Array):
                setattr(struct, each.name, [_element(each, version, number)])
            elif each.type is wire_types.STRING:
                setattr(struct, each.name, f"n{number}")
            elif each.name.startswith("partition") and each.type is wire_types.INT32:
                setattr(struct, each.name, number)
    return struct


def _struct_of(field: Field) -> type[Struct] | None:
    """The class of an array's elements; None if they are numbers or strings."""
    assert isinstance(field.type, Array)
    if not isinstance(field.type.element, StructType):
        return None
    cls = field.type.element.cls
    assert issubclass(cls, Struct)
    return cls
