"""The types that all handlers have in common.

Kafka 0.10.2: core/.../server/KafkaApis.scala · book 2.3.5
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Response

Respond = Callable[[Response | None], None]
"""Sends the response. ``None`` sends nothing and keeps the connection open (acks=0)."""

Handler = Callable[[Request, Any, Respond], None]
"""Takes a request, its decoded body and ``respond``. Calls ``respond`` once, now or later and in any thread."""

HandlerWrapper = Callable[[ApiKey, Handler], Handler]
"""Wraps a handler. Test brokers use it to record requests and to inject faults."""

_NO_ERROR: Final = Errors.NONE


@dataclass(frozen=True)
class ApiRange:
    """The versions of an API that this broker serves."""

    min_version: int
    max_version: int


def error_for_version(error: Errors, version: int, later: Mapping[Errors, tuple[int, Errors]]) -> Errors:
    """The error, or its replacement in versions that do not have it.

    ``later``: error -> (first version that has it, the replacement before).
    """
    if error is _NO_ERROR:
        return error
    first_version, earlier = later.get(error, (0, error))
    return error if version >= first_version else earlier
