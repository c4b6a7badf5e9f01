"""The largest request of each API, made from its declaration: arrays with so many elements that nothing else counts."""

from __future__ import annotations

from typing import Any

from kafka_lite.protocol import wire_types
from kafka_lite.protocol.schema import Request, Struct
from kafka_lite.protocol.wire_types import Array, Field, StructType


def array_fields(cls: type[Struct], version: int) -> list[Field]:
    """The arrays of a struct in a version, without tagged ones."""
    return [field for field in cls.FIELDS if isinstance(field.type, Array) and field.is_plain_in(version)]


def has_arrays(request: type[Request], version: int) -> bool:
    """Whether a request of this version can be large at all."""
    return bool(array_fields(request, version))


def largest(request: type[Request], version: int, elements: int) -> Request:
    """A request whose first array has nearly all of ``elements`` elements, each with a name of its own.

    Every nested array has one element, and so have the other arrays.
    """
    message = request()
    first, *others = array_fields(request, version)
    for field in others:
        setattr(message, field.name, [_element(field, version, 0)])
    left = elements - sum(_weight(field, version) for field in others)
    setattr(message, first.name, [_element(first, version, n) for n in range(left // _weight(first, version))])
    return message


def _weight(field: Field, version: int) -> int:
    """How many elements one element of an array brings with it, itself counted."""
    assert isinstance(field.type, Array)
    element = field.type.element
    if not isinstance(element, StructType):
        return 1
    return 1 + sum(_weight(nested, version) for nested in array_fields(_class_of(element), version))


def _element(field: Field, version: int, number: int) -> Any:
    assert isinstance(field.type, Array)
    element = field.type.element
    if not isinstance(element, StructType):
        return f"n{number}" if element is wire_types.STRING else b"" if element is wire_types.BYTES else number % 100
    cls = _class_of(element)
    struct = cls()
    for each in cls.FIELDS:
        if each.is_plain_in(version):
            if isinstance(each.type, Array):
                setattr(struct, each.name, [_element(each, version, number)])
            elif each.type is wire_types.STRING:
                setattr(struct, each.name, f"n{number}")
    return struct


def _class_of(kind: StructType) -> type[Struct]:
    cls = kind.cls
    assert issubclass(cls, Struct)
    return cls
