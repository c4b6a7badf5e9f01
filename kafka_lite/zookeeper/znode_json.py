"""The JSON in Kafka's znodes, and checks of what is in it.

Kafka 0.10.2: core/.../utils/Json.scala; 3.9: core/.../utils/json/JsonValue.scala · book 7.1.2
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kafka_lite.common.errors import KafkaError


class ZnodeDataError(KafkaError):
    """Data that Kafka would not have written to this znode."""


def encode_json(value: object) -> bytes:
    """Encode JSON as Kafka does: UTF-8, no spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def decode_json(data: bytes | None, what: str) -> dict[str, Any]:
    """Decode a JSON object; ``what`` names it in error messages. Raises ZnodeDataError."""
    try:
        value = json.loads(data or b"")
    except (ValueError, RecursionError) as error:
        raise ZnodeDataError(f"{what}: not JSON: {data!r}") from error
    if not isinstance(value, dict):
        raise ZnodeDataError(f"{what}: not a JSON object: {data!r}")
    return value


def checked(value: Mapping[str, Any], key: str, kind: type, what: str) -> Any:
    """The value of ``key``, which must be of this kind. Raises ZnodeDataError."""
    found = value.get(key)
    if not is_a(found, kind):
        raise ZnodeDataError(f"{what}: {key!r} must be a {kind.__name__}, not {found!r}")
    return found


def checked_if_any(value: Mapping[str, Any], key: str, kind: type, what: str) -> Any:
    """Like ``checked``, but the value may be missing or null; then None."""
    return None if value.get(key) is None else checked(value, key, kind, what)


def is_a(value: object, kind: type) -> bool:
    """Like isinstance, but JSON's true and false are not numbers."""
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def broker_ids(values: object, what: str) -> list[int]:
    """A list of broker ids. Raises ZnodeDataError."""
    if not isinstance(values, list) or not all(is_a(value, int) for value in values):
        raise ZnodeDataError(f"{what}: must be a list of broker ids, not {values!r}")
    return values


def timestamp_ms_of(value: Mapping[str, Any]) -> int:
    """The timestamp, or -1 if it is missing or unreadable: nothing depends on it."""
    try:
        return max(-1, int(str(value.get("timestamp", "-1"))))
    except ValueError:
        return -1
