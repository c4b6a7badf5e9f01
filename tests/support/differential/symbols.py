"""A broker's own ids, in place of placeholders in requests, and placeholders in place of ids in its answers."""

from __future__ import annotations

import copy
import uuid
from typing import Any

from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.protocol.schema import Struct


class Symbols:
    """The ids that one broker has given to things which both have."""

    def __init__(self) -> None:
        self._own: dict[Any, Any] = {}

    def learn(self, placeholder: Any, own: Any) -> None:
        """From now on the placeholder stands for this."""
        self._own[placeholder] = own

    def resolved(self, request: Struct) -> Struct:
        """A copy of a request with the broker's own ids."""
        made = copy.deepcopy(request)
        _replace(made, self._own)
        return made

    def hidden(self, answer: Struct) -> Any:
        """An answer as lists and dictionaries, with placeholders in place of the broker's ids."""
        return _as_plain(answer, {own: placeholder for placeholder, own in self._own.items()})


def _replace(value: Any, own: dict[Any, Any]) -> Any:
    if isinstance(value, Struct):
        for field in value.FIELDS:
            setattr(value, field.name, _replace(getattr(value, field.name), own))
        return value
    if isinstance(value, list):
        return [_replace(each, own) for each in value]
    return own.get(value, value) if _is_id(value) else value


def _as_plain(value: Any, placeholders: dict[Any, Any]) -> Any:
    if isinstance(value, Struct):
        return {field.name: _as_plain(getattr(value, field.name), placeholders) for field in value.FIELDS}
    if isinstance(value, list | tuple):
        return [_as_plain(each, placeholders) for each in value]
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, uuid.UUID) and value != ZERO_UUID:
        return placeholders.get(value, "<an id>")
    return placeholders.get(value, value) if _is_id(value) else value


def _is_id(value: Any) -> bool:
    """Whether it may be one: small numbers and flags never are."""
    return (
        value is not None
        and not isinstance(value, bool | float | memoryview)
        and not (isinstance(value, int) and value < 100)
    )
