"""Builds the response that reports a request, or part of it, as failed.

Kafka 0.10.2: clients/.../common/requests/AbstractRequest.java (getErrorResponse) · book 2.3.5
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.messages.api_34_alter_replica_log_dirs import AlterReplicaLogDirsRequest
from kafka_lite.protocol.messages.api_35_describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from kafka_lite.protocol.schema import Request, Response, Struct
from kafka_lite.protocol.wire_types import INT64, RECORDS, Array, Field, StructClass, StructType

Selects = Callable[[str | None, int | None], bool]
"""Whether the item of this topic and partition should fail; None if the item has no topic or no partition.

An item that is only a name, such as a group's, counts as a topic.
"""

ERROR_CODES = ("error_code", "partition_error_code")
TOPIC_NAMES = ("name", "topic", "topic_name", "resource_name", "user")
PARTITION_NAMES = ("partition_index", "partition", "index", "partition_id")
KEY_NAMES = ("group_id", "key", "transactional_id", "entity_name")
_SAME_THING = (TOPIC_NAMES, PARTITION_NAMES, KEY_NAMES)
"""Fields that match response items to request items; their names differ between messages."""

_COPIED_TOO = ("topic_id", "member_id", "group_instance_id", "producer_id", "resource_type", "entity", "entity_type")
"""Other identifying fields, which have the same name in every message."""

_NOT_ASKED = ("forgotten_topics_data", "live_leaders")
"""Request arrays whose items have no counterpart in the response."""

FETCH_SESSION_ERRORS = frozenset(
    {
        Errors.FETCH_SESSION_ID_NOT_FOUND,
        Errors.INVALID_FETCH_SESSION_EPOCH,
        Errors.FETCH_SESSION_TOPIC_ID_ERROR,
        Errors.INCONSISTENT_TOPIC_ID,
        Errors.UNKNOWN_TOPIC_ID,
    }
)
"""Errors for the top-level code of a fetch response: all other fetch errors belong to partitions."""

MESSAGE = "injected by a test"


def anything(_topic: str | None, _partition: int | None) -> bool:
    """Selects every item."""
    return True


@dataclass(frozen=True)
class PartialErrorResponse:
    """A split request: the response for the items that fail, and a request with those that do not.

    ``rest`` is None if all items fail, ``response`` if none does.
    """

    response: Response | None
    rest: Request | None


def error_response(
    request: Request, version: int, error: Errors, selects: Selects | None = None, message: str = MESSAGE
) -> PartialErrorResponse:
    """Build the error response for the items that ``selects`` picks; None: for the request as a whole.

    For a whole request, the error goes where Kafka puts it: in the top-level code if this version of the response has
    one, else in every item. The top-level code of a fetch response is reserved for session errors. Works from the
    message declarations alone: response arrays with error codes correspond, item by item, to the request's arrays at
    the same depth.
    """
    spec = API_SPECS[request.API_KEY]
    for_items = spec.key is ApiKey.FETCH and error not in FETCH_SESSION_ERRORS and _has_items(request, version)
    builder = _Builder(version, error, message, selects, for_items)
    if isinstance(request, DescribeLogDirsRequest) and _error_code_of(DescribeLogDirsResponse, version) is None:
        # Before version 3 there is no top-level code, and the response's items (directories) are not in the request.
        return PartialErrorResponse(DescribeLogDirsResponse(results=[builder.failed(DescribeLogDirsResult)]), None)
    if isinstance(request, AlterReplicaLogDirsRequest):
        # Only the request has the directory level: fail the topics of all directories.
        folders, request = request.dirs, copy.copy(request)
        request.dirs = [topic for folder in folders for topic in folder.topics]  # type: ignore[misc]
    failed, rest = builder.split(request, spec.response, None)
    if isinstance(rest, Struct) and hasattr(rest, "max_wait_ms"):
        rest.max_wait_ms = 0  # a fetch with an error gets its response immediately
    return PartialErrorResponse(failed, rest)


def merge_responses(errors: Struct, real: Struct, version: int) -> None:
    """Add the items of ``errors`` to the ``real`` response to the rest of the request."""
    for field in _error_arrays(type(real), version):
        present = {_identity(item): item for item in getattr(real, field.name)}
        for item in getattr(errors, field.name):
            same = present.get(_identity(item))
            if same is not None and any(_error_arrays(type(item), version)):
                merge_responses(item, same, version)
            else:
                getattr(real, field.name).append(item)


def mark_metadata(response: Any, error: Errors, selects: Selects) -> int:
    """Mark topics or partitions of a real metadata response as failed; returns how many.

    Clients also need the brokers in a metadata response, so the request is handled normally and the response marked
    afterwards. A partition is marked if the selection names its number, otherwise the whole topic is.
    """
    marked = 0
    for topic in response.topics:
        if selects(topic.name, None):
            topic.error_code, topic.partitions = error.code, []
            marked += 1
            continue
        for partition in topic.partitions:
            if selects(topic.name, partition.partition_index):
                partition.error_code, partition.leader_id = error.code, -1
                marked += 1
    return marked


def element_of(field: Field) -> type[Struct]:
    """The struct type of an array field's elements."""
    assert isinstance(field.type, Array)
    assert isinstance(field.type.element, StructType)
    return cast(type[Struct], field.type.element.cls)


class _Builder:
    """Builds the structs of one error response."""

    def __init__(self, version: int, error: Errors, message: str, selects: Selects | None, for_items: bool) -> None:
        self._version = version
        self._error = error
        self._message = message
        self._selects = selects
        self._for_items = for_items
        """Whether the error belongs in the items, not in the top-level code."""

    def ends_here(self, response_cls: type[Struct]) -> bool:
        """Whether the error belongs in this struct rather than in the structs nested in it."""
        within = self._selects is not None or (self._for_items and issubclass(response_cls, Response))
        if within and any(self.error_arrays(response_cls)):
            return False
        return _error_code_of(response_cls, self._version) is not None

    def error_arrays(self, response_cls: type[Struct]) -> Iterator[Field]:
        return _error_arrays(response_cls, self._version)

    def failed(self, response_cls: type[Struct], asked: object = None) -> Any:
        """A struct with the error and the identifying fields of the requested item."""
        result = response_cls()
        for field in response_cls.FIELDS:
            if self._version not in field.versions:
                continue
            if field.name in ERROR_CODES:
                setattr(result, field.name, self._error.code)
            elif field.name == "error_message":
                result.error_message = self._message  # type: ignore[attr-defined]
            elif field.type == INT64 and _is_position(field.name):
                setattr(result, field.name, -1)
            elif field.type == RECORDS:
                setattr(result, field.name, b"")  # empty, not null, which some clients do not expect
            elif not isinstance(asked, Request):
                _copy_identity(field, asked, result, self._version)
        return result

    def split(self, asked: Any, response_cls: type[Struct], topic: str | None) -> tuple[Any, Any]:
        """The failed part of ``asked`` as a response struct, and the rest of ``asked``; None for an empty part."""
        topic = asked if isinstance(asked, str) else _value(asked, TOPIC_NAMES) or topic
        partition = asked if isinstance(asked, int) else _value(asked, PARTITION_NAMES)
        if self.ends_here(response_cls):
            chosen = self._selects is None or self._selects(topic, partition)
            return (self.failed(response_cls, asked), None) if chosen else (None, asked)
        result, rest = self._without_items(response_cls, asked), copy.copy(asked)
        any_failed = any_left = False
        for field in self.error_arrays(response_cls):
            for name in _item_arrays(asked, self._version):
                failed, left = self._split_array(getattr(asked, name) or (), element_of(field), topic)
                getattr(result, field.name).extend(failed)
                setattr(rest, name, left)
                any_failed, any_left = any_failed or bool(failed), any_left or bool(left)
        return (result if any_failed else None), (rest if any_left or not any_failed else None)

    def _without_items(self, response_cls: type[Struct], asked: object) -> Any:
        """A struct that contains structs with errors but has no error itself."""
        result = self.failed(response_cls, asked)
        code = _error_code_of(response_cls, self._version)
        if code is not None:
            setattr(result, code, Errors.NONE.code)
        if hasattr(result, "error_message"):
            result.error_message = next(field.default for field in response_cls.FIELDS if field.name == "error_message")
        return result

    def _split_array(
        self, items: Iterable[Any], response_cls: type[Struct], topic: str | None
    ) -> tuple[list[Any], list[Any]]:
        failed, left = [], []
        for item in items:
            response, rest = self.split(item, response_cls, topic)
            failed += [response] if response is not None else []
            left += [rest] if rest is not None else []
        return failed, left


def _error_code_of(cls: type[StructClass], version: int) -> str | None:
    return next((f.name for f in cls.FIELDS if f.name in ERROR_CODES and version in f.versions), None)


def _error_arrays(cls: type[StructClass], version: int) -> Iterator[Field]:
    """The arrays of a response struct that can contain errors, at any depth."""
    for field in cls.FIELDS:
        if version in field.versions and isinstance(field.type, Array) and isinstance(field.type.element, StructType):
            element = field.type.element.cls
            if _error_code_of(element, version) is not None or any(_error_arrays(element, version)):
                yield field


def _item_arrays(asked: Struct, version: int) -> list[str]:
    """The arrays of a request whose items have counterparts in the response."""
    return [
        field.name
        for field in type(asked).FIELDS
        if version in field.versions and isinstance(field.type, Array) and field.name not in _NOT_ASKED
    ]


def _has_items(request: Request, version: int) -> bool:
    return any(getattr(request, name) for name in _item_arrays(request, version))


def _is_position(name: str) -> bool:
    """Whether the field is an offset or a timestamp, for which "none" is -1, not 0."""
    return any(word in name for word in ("offset", "watermark", "timestamp"))


def _copy_identity(field: Field, asked: object, result: Struct, version: int) -> None:
    """Copy an identifying field from the request's item to the response's item."""
    if field.name not in _COPIED_TOO and not any(field.name in names for names in _SAME_THING):
        return
    if isinstance(field.type, Array):
        copies = [_copied(element_of(field), item, version) for item in getattr(asked, field.name)]
        setattr(result, field.name, copies)
        return
    same = next((names for names in _SAME_THING if field.name in names), ())
    if isinstance(asked, int | str):
        named = same is PARTITION_NAMES if isinstance(asked, int) else same in (TOPIC_NAMES, KEY_NAMES)
        value: Any = asked if named else None
    else:
        value = _value(asked, same or (field.name,))
    if value is not None:
        setattr(result, field.name, value)


def _copied(cls: type[Struct], item: object, version: int) -> Struct:
    copied = cls()
    for field in cls.FIELDS:
        _copy_identity(field, item, copied, version)
    return copied


def _value(asked: object, names: Iterable[str]) -> Any:
    return next((getattr(asked, name) for name in names if getattr(asked, name, None) is not None), None)


def _identity(item: Struct) -> tuple[object, ...]:
    return tuple(_value(item, names) for names in _SAME_THING)
