"""Requests and responses on the wire in a few words, for runs that are recorded from their bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kafka_learn.recording.recorded_run import Detail
from kafka_learn.recording.summaries import fields
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.sendable import Buffer
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.protocol.framing import decode_request, decode_response
from kafka_lite.protocol.messages.api_00_produce import ProduceRequest, ProduceResponse
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest, FetchResponse
from kafka_lite.protocol.schema import Struct
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.record.records import batches

QUIET: Final = frozenset({ApiKey.API_VERSIONS, ApiKey.METADATA, ApiKey.HEARTBEAT, ApiKey.FIND_COORDINATOR})
"""Requests that say nothing about a run."""
WORDY: Final = ("client_id", "member_id", "group_instance_id", "rack_id", "host", "session_timeout_ms", "name")
ZOOKEEPER_WRITES: Final = {1: "create", 2: "delete", 5: "set", 14: "multi", 15: "create"}
"""Operations of ZooKeeper that change something."""


@dataclass
class Exchange:
    """A request whose response may come. ``is_quiet``: nothing of it need be shown."""

    api: str
    correlation_id: int
    is_quiet: bool
    key: int = -1
    version: int = -1


def request_words(frame: bytes) -> tuple[Exchange, str]:
    """A request in words. A frame that cannot be read is an exchange without a name."""
    try:
        header, request = decode_request(frame)
    except (KafkaError, SchemaError, ValueError):
        return Exchange("request", correlation_id(frame[4:]), is_quiet=False), f"{len(frame)} bytes"
    key = ApiKey(header.api_key)
    # A fetch is shown once its response has something.
    is_quiet = key in QUIET or key is ApiKey.FETCH
    exchange = Exchange(_name(key), header.correlation_id, is_quiet, key, header.api_version)
    if isinstance(request, ProduceRequest):
        return exchange, ", ".join(_produced(request))
    if isinstance(request, FetchRequest):
        return exchange, ", ".join(
            f"{topic.topic}-{each.partition} from {each.fetch_offset}"
            for topic in request.topics for each in topic.partitions
        )  # fmt: skip
    return exchange, _said(request)


def correlation_id(frame: bytes) -> int:
    """The correlation id at the beginning of a response."""
    return int.from_bytes(frame[:4], "big")


def response_words(exchange: Exchange, frame: bytes) -> str:
    """A response in words. A fetch with records or an error is not quiet any more."""
    try:
        _, response = decode_response(exchange.key, exchange.version, frame)
    except (KafkaError, SchemaError, ValueError):
        return f"{len(frame)} bytes"
    if isinstance(response, ProduceResponse):
        return ", ".join(
            f"{topic.name}-{each.index}: {_error(each.error_code) or f'offset {each.base_offset}'}"
            for topic in response.responses for each in topic.partition_responses
        )  # fmt: skip
    if isinstance(response, FetchResponse):
        words = list(_fetched(response))
        exchange.is_quiet = not words
        return ", ".join(words)
    return _said(response)


def _produced(request: ProduceRequest) -> Iterator[str]:
    for topic in request.topic_data:
        for each in topic.partition_data:
            yield f"{topic.name}-{each.index}: {_values(each.records)}"


def _fetched(response: FetchResponse) -> Iterator[str]:
    if response.error_code:
        yield _error(response.error_code)
    for topic in response.responses:
        for each in topic.partitions:
            if each.error_code:
                yield f"{topic.topic}-{each.partition_index}: {_error(each.error_code)}"
            elif values := _values(each.records):
                yield f"{topic.topic}-{each.partition_index}: {values}, HW {each.high_watermark}"


def _values(records: object) -> str:
    """The first and the last value of some records."""
    if not records:
        return ""
    data = bytes(records) if isinstance(records, bytes | bytearray | memoryview) else records.to_bytes()  # type: ignore[attr-defined]
    values = [record.value for batch in batches(data) for record in batch.records()]
    if not values:
        return ""
    first, last = _value(values[0]), _value(values[-1])
    return first if len(values) == 1 else f"{first} … {last}"


def _value(value: Buffer | None) -> str:
    """A record's value if it is text, else its length."""
    if value is None:
        return "null"
    text = bytes(value).decode(errors="replace")
    return text if text.isprintable() and "\ufffd" not in text else f"{len(bytes(value))} bytes"


def _said(message: Struct) -> str:
    found: Detail = fields(message, limit=4)
    words = []
    for name, value in found.items():
        if name == "error_code":
            words.append(_error(int(value)))
        elif name not in WORDY:
            words.append(f"{name} {value}")
    return ", ".join(filter(None, words))


def _error(code: int) -> str:
    return Errors.for_code(code).name if code else ""


def _name(key: ApiKey) -> str:
    """``LEADER_AND_ISR`` → ``LeaderAndIsr``."""
    return "".join(part.capitalize() for part in key.name.split("_"))


def zookeeper_words(frame: bytes) -> str | None:
    """The operation and the path of a request that changes a znode; None for another request."""
    operation = ZOOKEEPER_WRITES.get(int.from_bytes(frame[4:8], "big"))
    if operation is None or operation == "multi":
        return operation
    length = int.from_bytes(frame[8:12], "big")
    return f"{operation} {frame[12 : 12 + length].decode(errors='replace')}"
