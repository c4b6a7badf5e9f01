"""Refuses requests about kinds of groups that are switched off.

Kafka 4.1: core/.../server/KafkaApis.scala (handleConsumerGroupHeartbeat, handleShareGroupHeartbeat and others)
· book 2.3.5
"""

from __future__ import annotations

from typing import Any, Protocol

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.server.apis.api_handler import Handler, HandlerWrapper, Respond
from kafka_lite.server.auth.refusals import refused


class Switch(Protocol):
    """Switches a kind of groups on and off."""

    @property
    def apis(self) -> frozenset[ApiKey]:
        """The requests about them."""

    @property
    def refusal(self) -> Errors | None:
        """The error of these requests now; None while the groups are on."""


def switched(*switches: Switch) -> HandlerWrapper:
    """Puts a check in front of handlers: UNSUPPORTED_VERSION, before the rights of the client are looked at."""
    by_api = {api_key: switch for switch in switches for api_key in switch.apis}

    def wrap(api_key: ApiKey, handler: Handler) -> Handler:
        switch = by_api.get(api_key)
        if switch is None:
            return handler

        def handle(request: Request, body: Any, respond: Respond) -> None:
            error = switch.refusal
            if error is None:
                handler(request, body, respond)
            else:
                respond(refused(request, body, error))

        return handle

    return wrap
