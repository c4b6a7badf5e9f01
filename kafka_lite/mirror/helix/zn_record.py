"""The value of almost every znode of Helix: a record of texts, lists of texts and maps of texts, as JSON.

    {
      "id" : "t",
      "simpleFields" : {
        "NUM_PARTITIONS" : "2",
        "REBALANCE_MODE" : "CUSTOMIZED"
      },
      "listFields" : {
        "t_0" : [ "w1", "w2" ]
      },
      "mapFields" : {
        "0" : {
          "w1" : "ONLINE"
        }
      }
    }

Jackson indents it by two spaces, has a space on both sides of a colon, keeps a list on one line, and closes an empty
map on a line of its own. Helix sorts the keys of a new record, and keeps the order of a record that it read.

Reading is strict: one unknown top-level property makes a record unreadable. A record over ``SIZE_LIMIT``, or with the
simple field ``enableCompression``, is compressed by gzip.

Helix 0.6.9: helix-core/.../ZNRecord.java, helix-core/.../manager/zk/ZNRecordSerializer.java · book 8.2.1
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from kafka_lite.mirror.helix.helix_errors import RecordTooLargeError, UnreadableRecordError

SIZE_LIMIT = 1000 * 1024
"""Bytes; it leaves a margin to ZooKeeper's 1 MiB."""
ENABLE_COMPRESSION = "enableCompression"
LIST_FIELD_BOUND = "listField.bound"
"""The simple field that limits every list to its first elements when the record is written."""

_GZIP_MAGIC = b"\x1f\x8b"
_PROPERTIES = frozenset({"id", "simpleFields", "listFields", "mapFields", "rawPayload"})

Value = TypeVar("Value")


@dataclass(frozen=True)
class ZNRecord:
    """A record. It never changes: a change makes a new one."""

    id: str
    simple_fields: Mapping[str, str] = field(default_factory=dict)
    list_fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    map_fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    raw_payload: str | None = None
    """Base64 of bytes that the application adds; Helix itself writes none."""

    # ------------------------------------------------------------------------------------------------------- bytes

    @classmethod
    def from_bytes(cls, data: bytes) -> ZNRecord | None:
        """The record of a znode's value; None for a container such as ``/C/IDEALSTATES``, which has no value.

        Raises UnreadableRecordError, where Helix logs the error and reads null.
        """
        if not data:
            return None
        try:
            text = (gzip.decompress(data) if data.startswith(_GZIP_MAGIC) else data).decode()
            properties = json.loads(text, parse_int=str, parse_float=str)
        except (ValueError, OSError, EOFError, zlib.error, RecursionError) as error:
            raise UnreadableRecordError(f"not a ZNRecord: {error}") from error
        return _record_of(properties)

    def to_bytes(self) -> bytes:
        """The value of its znode. Raises RecordTooLargeError."""
        data = self.to_json().encode()
        if self.simple_fields.get(ENABLE_COMPRESSION, "").lower() == "true" or len(data) > SIZE_LIMIT:
            data = gzip.compress(data, mtime=0)
        if len(data) > SIZE_LIMIT:
            raise RecordTooLargeError(f"the record {self.id} has {len(data)} bytes, more than {SIZE_LIMIT}")
        return data

    def to_json(self) -> str:
        """The record as Jackson writes it."""
        bound = _list_bound(self.simple_fields)
        lists = {key: list(values)[:bound] for key, values in self.list_fields.items()}
        parts = [
            f'"id" : {_text(self.id)}',
            f'"simpleFields" : {_object(self.simple_fields, _text, 1)}',
            f'"listFields" : {_object(lists, _list, 1)}',
            f'"mapFields" : {_object(self.map_fields, lambda values: _object(values, _text, 2), 1)}',
        ]
        if self.raw_payload is not None:
            parts.append(f'"rawPayload" : {_text(self.raw_payload)}')
        return "{\n  " + ",\n  ".join(parts) + "\n}"

    # ----------------------------------------------------------------------------------------------------- changes

    def with_simple(self, **fields: str) -> ZNRecord:
        """With these simple fields, in the place of old ones of the same names."""
        return replace(self, simple_fields={**self.simple_fields, **fields})

    def with_map(self, key: str, values: Mapping[str, str]) -> ZNRecord:
        """With this map field, in the place of an old one."""
        return replace(self, map_fields={**self.map_fields, key: dict(values)})

    def without_map(self, key: str) -> ZNRecord:
        """Without that map field."""
        return replace(self, map_fields={name: values for name, values in self.map_fields.items() if name != key})

    def merged(self, other: ZNRecord) -> ZNRecord:
        """With the fields of another record: texts replace, maps are merged key by key, and lists are appended."""
        maps = {**self.map_fields, **{k: {**self.map_fields.get(k, {}), **v} for k, v in other.map_fields.items()}}
        lists = {**self.list_fields, **{k: [*self.list_fields.get(k, ()), *v] for k, v in other.list_fields.items()}}
        return replace(
            self, simple_fields={**self.simple_fields, **other.simple_fields}, list_fields=lists, map_fields=maps
        )


def sorted_fields(fields: Mapping[str, Value] | Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """Fields in the order of a new record: by name."""
    return dict(sorted(dict(fields).items(), key=lambda entry: entry[0]))


# ------------------------------------------------------------------------------------------------------------- reading


def _record_of(properties: Any) -> ZNRecord:
    if not isinstance(properties, dict):
        raise UnreadableRecordError("not a ZNRecord: not a JSON object")
    unknown = sorted(properties.keys() - _PROPERTIES)
    if unknown:
        raise UnreadableRecordError(f"not a ZNRecord: unknown properties {', '.join(unknown)}")
    payload = properties.get("rawPayload")
    return ZNRecord(
        _read_text(properties.get("id", "")),
        _read_map(properties.get("simpleFields"), _read_text),
        _read_map(properties.get("listFields"), _read_list),
        _read_map(properties.get("mapFields"), lambda values: _read_map(values, _read_text)),
        None if payload is None else _read_text(payload),
    )


def _read_map(values: Any, read: Callable[[Any], Value]) -> dict[str, Value]:
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UnreadableRecordError(f"not a ZNRecord: {values!r} is not a map")
    return {key: read(value) for key, value in values.items() if value is not None}


def _read_list(values: Any) -> list[str]:
    if not isinstance(values, list):
        raise UnreadableRecordError(f"not a ZNRecord: {values!r} is not a list")
    return [_read_text(value) for value in values]


def _read_text(value: Any) -> str:
    """Jackson takes a number or a boolean for a text, too. Numbers come as texts already."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    raise UnreadableRecordError(f"not a ZNRecord: {value!r} is not a text")


# ------------------------------------------------------------------------------------------------------------- writing


def _list_bound(simple_fields: Mapping[str, str]) -> int | None:
    """How many elements of a list are written; None for all of them, and for a bound that is no number."""
    bound = simple_fields.get(LIST_FIELD_BOUND, "")
    return int(bound) if bound.isascii() and bound.isdigit() else None


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _list(values: Sequence[str]) -> str:
    return f"[ {', '.join(map(_text, values))} ]" if values else "[ ]"


def _object(values: Mapping[str, Value], write: Callable[[Value], str], depth: int) -> str:
    margin = "  " * (depth + 1)
    lines = ",\n".join(f"{margin}{_text(key)} : {write(value)}" for key, value in values.items())
    return "{\n" + (lines + "\n" if lines else "") + "  " * depth + "}"
