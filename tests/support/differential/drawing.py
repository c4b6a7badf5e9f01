"""Requests of every API and version, drawn from their declarations."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from kafka_lite.protocol import wire_types
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.schema import Request, Struct
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.wire_types import Array, Field, StructType
from tests.support.differential.vocabulary import NAMES, VALUES

NAME_OF: Final = {
    ApiKey.DELETE_GROUPS: "groups", ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: "users",
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: "users", ApiKey.ALTER_CONFIGS: "configs",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "configs",
}  # fmt: skip
"""What ``name`` means where it is no topic's."""
_MOST_ELEMENTS: Final = 2


_KEYS: Final = (
    "name", "topic", "topic_name", "topic_id", "partition", "partition_index", "index", "group_id", "member_id",
    "producer_id", "transactional_id", "entity_type", "resource_name",
)  # fmt: skip


class RequestDrawer:
    """The same requests for the same seed."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def request(self, api_key: ApiKey, version: int) -> Request:
        """One that can be encoded in this version."""
        while True:
            request = self._struct(API_SPECS[api_key].request, version, api_key)
            assert isinstance(request, Request)
            try:
                encode_request(request, version, 1, "c")
            except SchemaError:  # a value that this version does not have
                continue
            return request

    def _struct(self, cls: Any, version: int, api_key: ApiKey) -> Struct:
        struct: Struct = cls()
        for field in cls.FIELDS:
            if field.is_plain_in(version):
                setattr(struct, field.name, self._value(field, version, api_key))
        return struct

    def _value(self, field: Field, version: int, api_key: ApiKey) -> Any:
        null = field.may_be_null and version in field.nullable
        if isinstance(field.type, Array):
            if null and self._random.random() < 0.15:
                return None
            count = self._random.randint(0, _MOST_ELEMENTS)
            return _distinct([self._element(field, version, api_key) for _ in range(count)])
        if isinstance(field.type, StructType):
            return None if null and self._random.random() < 0.5 else self._struct(field.type.cls, version, api_key)
        chosen = self._plain(field, api_key)
        return field.new_default() if chosen is None and not null else chosen

    def _element(self, field: Field, version: int, api_key: ApiKey) -> Any:
        assert isinstance(field.type, Array)
        element = field.type.element
        return (
            self._struct(element.cls, version, api_key)
            if isinstance(element, StructType)
            else self._plain(field, api_key)
        )

    def _plain(self, field: Field, api_key: ApiKey) -> Any:
        values: Sequence[Any] = VALUES.get(field.name, ())
        if field.name == "name":
            values = NAMES[NAME_OF.get(api_key, "topics")]
        elif field.type == wire_types.BOOL:
            values = values or (True, False)
        return self._random.choice(values) if values else field.new_default()


def _distinct(elements: list[Any]) -> list[Any]:
    """The elements without a second one of the same name: Kafka reads most arrays into maps, of which one remains."""
    kept: dict[str, Any] = {}
    for element in elements:
        names = (
            [getattr(element, name) for name in _KEYS if hasattr(element, name)]
            if isinstance(element, Struct)
            else element
        )
        kept.setdefault(repr(names), element)
    return list(kept.values())
