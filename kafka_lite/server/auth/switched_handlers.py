"""Refuses requests about share groups while those are switched off.

Kafka 4.1: core/.../server/KafkaApis.scala (handleShareGroupHeartbeat and others) · book 2.3.5
"""

from __future__ import annotations

from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.server.apis.api_handler import Handler, HandlerWrapper, Respond
from kafka_lite.server.apis.share.share_group_switch import OF_SHARE_GROUPS, ShareGroupSwitch
from kafka_lite.server.auth.refusals import refused


def switched(switch: ShareGroupSwitch) -> HandlerWrapper:
    """Puts a check in front of handlers: UNSUPPORTED_VERSION, before the rights of the client are looked at."""

    def wrap(api_key: ApiKey, handler: Handler) -> Handler:
        if api_key not in OF_SHARE_GROUPS:
            return handler

        def handle(request: Request, body: Any, respond: Respond) -> None:
            if switch.is_on:
                handler(request, body, respond)
            else:
                respond(refused(request, body, Errors.UNSUPPORTED_VERSION))

        return handle

    return wrap
