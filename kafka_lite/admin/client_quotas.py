"""Quotas as administrators see them: entities of up to two parts, their nodes under /config, and their values.

Kafka 2.6: core/.../server/DynamicConfig.scala (Client, User, Ip), ZkAdminManager.scala (parseAndSanitizeQuotaEntity,
alterEntityQuotas); clients/.../common/quota/ClientQuotaEntity.java · book 10.1
"""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator, Mapping

from kafka_lite.admin.admin_utils import DEFAULT_ENTITY
from kafka_lite.common.errors import Errors
from kafka_lite.common.java.java_numbers import double_text
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.sanitizer import desanitize, sanitize

USER, CLIENT_ID, IP = "user", "client-id", "ip"
USERS, CLIENTS, IPS = "users", "clients", "ips"
PARTS = {USERS: USER, CLIENTS: CLIENT_ID, IPS: IP}
"""Folder of /config → the part of an entity that its nodes name."""

QuotaEntity = Mapping[str, str | None]
"""Part → its name, or None for the default: ``{"user": "alice", "client-id": None}``."""

CLIENT_QUOTAS: Mapping[str, type[int] | type[float]] = {
    "producer_byte_rate": int,
    "consumer_byte_rate": int,
    "request_percentage": float,
    "controller_mutation_rate": float,
}
"""The keys of users and client ids; those of whole numbers are int."""
IP_QUOTAS: Mapping[str, type[int] | type[float]] = {"connection_creation_rate": int}
TOLERANCE = 1e-6
"""How far a value may be from a whole number, where one is required: values are doubles on the wire."""
MAX_BY_KEY = {"connection_creation_rate": (1 << 31) - 1}


def keys_of(entity: QuotaEntity) -> Mapping[str, type[int] | type[float]]:
    """The keys that an entity may have."""
    return IP_QUOTAS if IP in entity else CLIENT_QUOTAS


def quota_path(entity: QuotaEntity) -> str:
    """The node of an entity, below /config. Raises INVALID_REQUEST."""
    nodes = {part: _node_name(part, name) for part, name in entity.items()}
    match sorted(nodes):
        case []:
            raise Errors.INVALID_REQUEST.exception("Invalid empty client quota entity")
        case ["client-id", "user"]:
            return f"{USERS}/{nodes[USER]}/{CLIENTS}/{nodes[CLIENT_ID]}"
        case ["user"]:
            return f"{USERS}/{nodes[USER]}"
        case ["client-id"]:
            return f"{CLIENTS}/{nodes[CLIENT_ID]}"
        case ["ip"]:
            _check_address(entity[IP])
            return f"{IPS}/{nodes[IP]}"
    raise Errors.INVALID_REQUEST.exception(
        "Invalid quota entity combination, IP entity should not be used with user/client ID entity."
    )


def _node_name(part: str, name: str | None) -> str:
    if part not in PARTS.values():
        raise Errors.INVALID_REQUEST.exception(f"Unhandled client quota entity type: {part}")
    if name == "":
        raise Errors.INVALID_REQUEST.exception(f"Empty {part} not supported")
    return DEFAULT_ENTITY if name is None else sanitize(name)


def _check_address(name: str | None) -> None:
    try:
        if name is not None:
            socket.getaddrinfo(name, None)
    except (OSError, UnicodeError):
        raise Errors.INVALID_REQUEST.exception(f"{name} is not a valid IP or resolvable host.") from None


def altered(entity: QuotaEntity, config: Mapping[str, str], changes: Mapping[str, float | None]) -> dict[str, str]:
    """A node's configuration with changed values; None removes one. Raises INVALID_REQUEST."""
    new = dict(config)
    for key, value in changes.items():
        if value is None:
            new.pop(key, None)
        else:
            new[key] = _stored_value(entity, key, value)
    return new


def _stored_value(entity: QuotaEntity, key: str, value: float) -> str:
    """A value as Kafka writes it: whole numbers without a fraction, others as Java does."""
    kind = keys_of(entity).get(key)
    if kind is None:
        raise Errors.INVALID_REQUEST.exception(f"Invalid configuration key {key}")
    if kind is float:
        return double_text(value)
    largest = MAX_BY_KEY.get(key, (1 << 63) - 1)
    whole = value if isinstance(value, int) else math.floor(value + TOLERANCE) if math.isfinite(value) else 0
    whole = min(whole, largest)  # the double of the largest LONG is larger than it
    if not abs(float(whole) - value) <= TOLERANCE:
        name = "INT" if key in MAX_BY_KEY else "LONG"
        raise Errors.INVALID_REQUEST.exception(f"Configuration {key} must be a {name} value")
    if key in MAX_BY_KEY and whole < 0:
        text = f"Invalid value {whole} for configuration {key}: Value must be at least 0"
        raise Errors.INVALID_CONFIG.exception(text)
    return str(whole)


def quotas_in(entity: QuotaEntity, config: Mapping[str, str]) -> dict[str, float]:
    """The values in a node, which may have others, such as a user's credentials."""
    keys = keys_of(entity)
    return {key: float(value) for key, value in config.items() if key in keys}


def entities_with_quotas(zk_client: KafkaZkClient) -> Iterator[tuple[QuotaEntity, dict[str, float]]]:
    """All entities that have a quota, with their values."""
    for entity, path in _entities(zk_client):
        quotas = quotas_in(entity, zk_client.get_entity_config(path))
        if quotas:
            yield entity, quotas


def _entities(zk_client: KafkaZkClient) -> Iterator[tuple[QuotaEntity, str]]:
    for folder, part in PARTS.items():
        for node in sorted(zk_client.get_entities(folder)):
            yield {part: name_of_node(node)}, f"{folder}/{node}"
    for user in sorted(zk_client.get_entities(USERS)):
        folder = f"{USERS}/{user}/{CLIENTS}"
        for client in sorted(zk_client.get_entities(folder)):
            yield {USER: name_of_node(user), CLIENT_ID: name_of_node(client)}, f"{folder}/{client}"


def name_of_node(node: str) -> str | None:
    """The name that a node stands for; None for the default."""
    return None if node == DEFAULT_ENTITY else desanitize(node)
