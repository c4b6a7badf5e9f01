"""The broker's listeners: parsed from their keys, and checked against each other.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (getListeners, getAdvertisedListeners) · book 2.3.4
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from kafka_lite.cluster.end_point import EndPoint, EndPointError
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.network.acceptor import Listener
from kafka_lite.network.channel_builder import ClientChannelBuilder
from kafka_lite.security.channel_builders import SERVED_PROTOCOLS, inter_broker_channel_builder, server_channel_builder
from kafka_lite.security.sasl_channel_builder import SaslServices
from kafka_lite.server.config.listener_configs import listener_values


def pairs_of(name: str, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Parse the key's value ``a:b,c:d``; the last colon of an entry separates. Raises ConfigError."""
    entries = [entry.strip() for entry in values[name].split(",") if entry.strip()]
    if any(":" not in entry for entry in entries):
        raise ConfigError(name, values[name], "must be a list of key:value, separated by commas")
    return [(left.strip(), right.strip()) for left, _, right in (entry.rpartition(":") for entry in entries)]


def _plaintext(host: str, port: int) -> str:
    """The listener that the old keys of host and port describe. An IPv6 address gets the brackets it needs there."""
    return f"PLAINTEXT://[{host}]:{port}" if ":" in host else f"PLAINTEXT://{host}:{port}"


class Listeners:
    """Where the broker listens, what it tells others, and which listener other brokers use. Raises ConfigError."""

    def __init__(self, values: Mapping[str, Any], original: Mapping[str, object]) -> None:
        """``values``: the parsed value of each key; ``original``: the keys that were set."""
        self.values = values
        self.original = original
        self.security_protocol_map = self._security_protocol_map()
        self.listeners = self._listeners()
        self._require_served_protocols()
        self.advertised = self._advertised_listeners()
        self.inter_broker_name = self._inter_broker_listener_name()
        self._validate()

    def protected(self, sasl: SaslServices | None = None) -> tuple[Listener, ...]:
        """The listeners as the network layer opens them. Raises ConfigError for keys that cannot be loaded."""
        return tuple(
            Listener(
                end_point.host,
                end_point.port,
                end_point.listener_name,
                end_point.security_protocol.name,
                server_channel_builder(
                    end_point.security_protocol,
                    end_point.listener_name,
                    listener_values(self.values, self.original, end_point.listener_name),
                    sasl,
                    functools.partial(listener_values, self.values, self.original, end_point.listener_name),
                ),
            )
            for end_point in self.listeners
        )

    def inter_broker_security(self, client_id: str) -> ClientChannelBuilder | None:
        """How connections to other brokers are protected; None for PLAINTEXT. Raises ConfigError."""
        name, mechanism = self.inter_broker_name, self.values["sasl.mechanism.inter.broker.protocol"]
        protocol = self.security_protocol_map[name]
        values = listener_values(self.values, self.original, name, mechanism)
        return inter_broker_channel_builder(protocol, mechanism, values, client_id)

    def _require_served_protocols(self) -> None:
        """Check this first: other errors, such as of the listener between brokers, would only follow from it."""
        served = " and ".join(protocol.name for protocol in SERVED_PROTOCOLS)
        for end_point in self.listeners:
            self._require(
                end_point.security_protocol in SERVED_PROTOCOLS,
                "listeners",
                f"{end_point.listener_name} uses {end_point.security_protocol.name}; only {served} are supported yet",
            )

    def _validate(self) -> None:
        names = [end_point.listener_name for end_point in self.listeners]
        advertised = [end_point.listener_name for end_point in self.advertised]
        self._require(
            set(advertised) <= set(names),
            "advertised.listeners",
            f"may contain only listener names of listeners: {', '.join(names)}",
        )
        by_protocol = self.values["inter.broker.listener.name"] is None
        between_key = "security.inter.broker.protocol" if by_protocol else "inter.broker.listener.name"
        self._require(
            self.inter_broker_name in advertised,
            between_key,
            f"must name an advertised listener: one of {', '.join(advertised)}",
        )

    def _require(self, condition: bool, name: str, message: str) -> None:
        if not condition:
            raise ConfigError(name, self.values[name], message)

    def _security_protocol_map(self) -> dict[str, SecurityProtocol]:
        name = "listener.security.protocol.map"
        try:
            return {
                listener.upper(): SecurityProtocol.for_name(protocol)
                for listener, protocol in pairs_of(name, self.values)
            }
        except ValueError as error:
            raise ConfigError(name, self.values[name], str(error)) from None

    def _end_points(self, name: str, text: str) -> list[EndPoint]:
        """Parse listeners. Their names and (except for port 0) ports must be different, as in Kafka."""
        try:
            found = [EndPoint.parse(uri, self.security_protocol_map) for uri in text.split(",") if uri.strip()]
        except EndPointError as error:
            raise ConfigError(name, text, str(error)) from None
        ports = [end_point.port for end_point in found if end_point.port != 0]
        if not found:
            raise ConfigError(name, text, "must contain at least one listener NAME://host:port")
        if len({end_point.listener_name for end_point in found}) < len(found):
            raise ConfigError(name, text, "Each listener must have a different name")
        if name == "listeners" and len(set(ports)) < len(ports):
            raise ConfigError(name, text, "Each listener must have a different port")
        return found

    def _listeners(self) -> list[EndPoint]:
        """``listeners``; if only the old ``host.name`` or ``port`` is set, one PLAINTEXT listener from these."""
        v = self.values
        if "listeners" not in self.original and ("host.name" in self.original or "port" in self.original):
            return self._end_points("listeners", _plaintext(v["host.name"], v["port"]))
        return self._end_points("listeners", v["listeners"])

    def _advertised_listeners(self) -> list[EndPoint]:
        """``advertised.listeners``; otherwise from the old host and port keys; otherwise ``listeners``."""
        v = self.values
        name = "advertised.listeners"
        if v[name] is not None:
            advertised = self._end_points(name, v[name])
        elif v["advertised.host.name"] is not None or v["advertised.port"] is not None:
            host, port = v["advertised.host.name"] or v["host.name"], v["advertised.port"] or v["port"]
            advertised = self._end_points(name, _plaintext(host, port))
        else:
            name, advertised = "listeners", self.listeners
        if any(end_point.host in ("0.0.0.0", "::") for end_point in advertised):
            message = "clients cannot connect to a wildcard address: name the host in advertised.listeners"
            raise ConfigError(name, v[name], message)
        return advertised

    def _inter_broker_listener_name(self) -> str:
        name, protocol_key = "inter.broker.listener.name", "security.inter.broker.protocol"
        if self.values[name] is None:
            try:
                return SecurityProtocol.for_name(self.values[protocol_key]).name
            except ValueError as error:
                raise ConfigError(protocol_key, self.values[protocol_key], str(error)) from None
        if protocol_key in self.original:
            raise ConfigError(name, self.values[name], f"Only one of {name} and {protocol_key} should be set")
        return str(self.values[name]).upper()
