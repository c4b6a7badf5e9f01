"""Messages generated from their own declarations: everything that can be encoded.

``strategy`` is for hypothesis, which shrinks; ``random_message`` is fast and uses a seeded ``random.Random``. Both
fill the fields of a version and leave the others at their defaults.
"""

from __future__ import annotations

import random
import string
import struct
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from hypothesis import strategies as st

from kafka_lite.protocol import wire_types
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.schema import Message, Struct
from kafka_lite.protocol.wire_types import Array, Field, Primitive, RawTaggedField, StructType, WireType

LONG = 300
"""A length whose varint needs two bytes."""


MESSAGES: list[type[Message]] = [cls for spec in API_SPECS.values() for cls in (spec.request, spec.response)]
"""Every request and response class."""


def versions(message: type[Message]) -> range:
    """All versions of a message."""
    return range(message.VERSIONS.lowest, message.VERSIONS.highest + 1)


def shares_of_defaults(message: type[Message], version: int) -> tuple[float, ...]:
    """How many of the fields have their defaults: none, half, all. An older version takes its turn at one of them."""
    shares = (0.0, 0.5, 1.0)
    return shares if version == message.VERSIONS.highest else (shares[version % len(shares)],)


def leaves(value: object, version: int) -> Iterator[object]:
    """The values of a message in wire order, without the names of the fields."""
    if isinstance(value, Struct):
        for field in value.FIELDS:
            if version in field.versions:
                yield from leaves(getattr(value, field.name), version)
    elif isinstance(value, list):
        for element in value:
            yield from leaves(element, version)
    else:
        yield value


def bounds(kind: Primitive) -> tuple[int, int]:
    """The lowest and highest number of an integer type."""
    bits = 8 * struct.calcsize(kind.code)
    return (0, 2**bits - 1) if kind.code.isupper() else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


# -- hypothesis. A strategy is built once for a version: hypothesis validates and unwraps every new one anew.


@cache
def strategy(message: type[Message], version: int) -> st.SearchStrategy[Any]:
    """Messages that this version can encode."""
    built = _struct(message, version)
    if version not in message.FLEXIBLE:
        return built
    return st.builds(_with_unknown_tags, built, st.dictionaries(st.integers(100, 2**31 - 1), st.binary(max_size=9)))


def _with_unknown_tags(message: Any, tags: dict[int, bytes]) -> Any:
    message.unknown_tagged_fields = tuple(RawTaggedField(tag, tags[tag]) for tag in sorted(tags))
    return message


@cache
def _struct(cls: type[Struct], version: int) -> st.SearchStrategy[Any]:
    present = (field for field in cls.FIELDS if version in field.versions)
    return st.builds(cls, **{field.name: _field(field, version) for field in present})


def _field(field: Field, version: int) -> st.SearchStrategy[Any]:
    values = _value(field.type, version)
    return st.none() | values if version in field.nullable else values


def _value(kind: WireType, version: int) -> st.SearchStrategy[Any]:
    if isinstance(kind, Array):
        return st.lists(_value(kind.element, version), max_size=3)
    if isinstance(kind, StructType):
        return _struct(kind.cls, version)
    if isinstance(kind, Primitive) and kind.code in "bhHiIq":
        return st.integers(*bounds(kind))
    simple: dict[str, st.SearchStrategy[Any]] = {
        "bool": st.booleans(),
        "float64": st.floats(allow_nan=False),
        "uuid": st.uuids(),
        "string": st.text(max_size=9) | st.just("ü" * LONG),
        "bytes": st.binary(max_size=9) | st.just(b"b" * LONG),
        "records": st.binary(max_size=9) | st.just(b"r" * LONG),
    }
    return simple[kind.name]


# -- a seeded random


def random_message(message: type[Message], version: int, rng: random.Random, defaults: float = 0.0) -> Any:
    """One message that this version can encode; some of its fields keep their defaults."""
    made = _random_struct(message, version, rng, defaults)
    if version in message.FLEXIBLE and rng.random() < 0.3 * (1 - defaults):
        made.unknown_tagged_fields = (RawTaggedField(rng.randint(100, 2**31 - 1), rng.randbytes(rng.randint(0, 9))),)
    return made


def _random_struct(cls: type[Struct], version: int, rng: random.Random, defaults: float) -> Any:
    present = [field for field in cls.FIELDS if version in field.versions and rng.random() >= defaults]
    return cls(**{field.name: _random_field(field, version, rng, defaults) for field in present})


def _random_field(field: Field, version: int, rng: random.Random, defaults: float) -> Any:
    if version in field.nullable and rng.random() < 0.2:
        return None
    if version in field.tagged and rng.random() < 0.3:
        return field.new_default()
    return _random_value(field.type, version, rng, defaults)


def _random_value(kind: WireType, version: int, rng: random.Random, defaults: float) -> Any:
    if isinstance(kind, Array):
        return [_random_value(kind.element, version, rng, defaults) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    if isinstance(kind, StructType):
        return _random_struct(kind.cls, version, rng, defaults)
    if isinstance(kind, Primitive) and kind.code in "bhHiIq":
        return rng.choice((0, *bounds(kind), rng.randint(*bounds(kind))))
    simple: dict[str, Callable[[], Any]] = {
        wire_types.BOOL.name: lambda: rng.random() < 0.5,
        wire_types.FLOAT64.name: lambda: rng.uniform(-1e6, 1e6),
        wire_types.UUID.name: lambda: uuid.UUID(bytes=rng.randbytes(16)),
        wire_types.STRING.name: lambda: "".join(rng.choices(string.printable + "äßé主题🙂", k=_random_size(rng))),
        wire_types.BYTES.name: lambda: rng.randbytes(_random_size(rng)),
        wire_types.RECORDS.name: lambda: rng.randbytes(_random_size(rng)),
    }
    return simple[kind.name]()


def _random_size(rng: random.Random) -> int:
    return LONG if rng.random() < 0.02 else rng.randint(0, 12)
