"""The request log: one line for each completed request, with the time that it spent in each phase.

Off unless the logger ``kafka.request.logger`` has level DEBUG (the request's header and times) or TRACE (its fields,
too). ::

    Completed request:{api_key=3,api_version=9,correlation_id=2,client_id=c} -- {topics=[{name=t}],…} from connection
    127.0.0.1:9092-127.0.0.1:40404-0;totalTime:1.204,requestQueueTime:0.110,localTime:0.874,remoteTime:0.000,
    throttleTime:0.000,responseQueueTime:0.098,sendTime:0.122,securityProtocol:PLAINTEXT,principal:User:ANONYMOUS,
    listener:PLAINTEXT

(all in one line). Times are in ms, with fractions as in Kafka since 1.1.

Kafka 0.10.2: core/.../network/RequestChannel.scala (updateRequestMetrics) · book 2.3.3
"""

from __future__ import annotations

import logging

from kafka_lite.common.process.log_levels import TRACE
from kafka_lite.network.request import Request, RequestTimes
from kafka_lite.protocol.schema import Struct

request_logger = logging.getLogger("kafka.request.logger")

_LINE = (
    "Completed request:%s from connection %s;totalTime:%.3f,requestQueueTime:%.3f,localTime:%.3f,remoteTime:%.3f,"
    "throttleTime:%.3f,responseQueueTime:%.3f,sendTime:%.3f,securityProtocol:%s,principal:%s,listener:%s"
)


def log_completed(request: Request, times: RequestTimes) -> None:
    """Log one request."""
    request_logger.debug(
        _LINE,
        describe(request, details=request_logger.isEnabledFor(TRACE)),
        request.connection_id,
        times.total_ms,
        times.request_queue_ms,
        times.local_ms,
        times.remote_ms,
        times.throttle_ms,
        times.response_queue_ms,
        times.response_send_ms,
        request.security_protocol,
        request.principal,
        request.listener_name,
    )


def describe(request: Request, *, details: bool) -> str:
    """``{header}``, and with details ``{header} -- {body}``; records and other bytes are shown by their size."""
    header = struct_text(request.header, 1)
    if not details:
        return header
    # A request of an unknown version has an empty body, which version 0 describes.
    version = 0 if request.unsupported_api_version else request.header.api_version
    return f"{header} -- {struct_text(request.body, version)}"


def struct_text(struct: Struct, version: int) -> str:
    """The fields that a struct has in a version, in the notation of Kafka's ``Struct``: ``{acks=-1,timeout=1500}``."""
    shown = [f"{f.name}={_text(getattr(struct, f.name), version)}" for f in struct.FIELDS if version in f.versions]
    return "{" + ",".join(shown) + "}"


def _text(value: object, version: int) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Struct():
            return struct_text(value, version)
        case list() | tuple():
            return "[" + ",".join(_text(element, version) for element in value) + "]"
        case bytes() | bytearray():
            return f"<{len(value)} bytes>"
        case memoryview():
            return f"<{value.nbytes} bytes>"
        case _:
            return str(value)
