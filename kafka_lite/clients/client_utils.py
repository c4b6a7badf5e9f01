"""Helpers for clients' configurations: broker addresses, and the network client.

Kafka 0.10.2: clients/.../clients/ClientUtils.java · book 2.1.1
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterable

from kafka_lite.clients.api_versions import ApiVersions
from kafka_lite.clients.bootstrap_servers import BOOTSTRAP_SERVERS, parse_bootstrap_servers
from kafka_lite.clients.client_metrics import ClientConfig, ClientMetrics
from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.network_client import NetworkClient
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.time import Time
from kafka_lite.network.channel_builder import ChannelBuilder
from kafka_lite.network.selector import Selector

logger = logging.getLogger(__name__)


def parse_and_validate_addresses(urls: str | Iterable[str], key: str = BOOTSTRAP_SERVERS) -> list[tuple[str, int]]:
    """Host and port of each server whose host can be resolved. Others are logged as a warning.

    ``key`` is their configuration key. Raises ConfigError for an invalid address, and if no host can be resolved.
    """
    addresses = parse_bootstrap_servers(urls, key)
    resolved = [address for address in addresses if _can_be_resolved(*address, key)]
    if not resolved:
        texts = ",".join(f"{host}:{port}" for host, port in addresses)
        raise ConfigError(key, texts, "none of the hosts can be resolved. Is one misspelt?")
    return resolved


def _can_be_resolved(host: str, port: int, key: str) -> bool:
    try:
        socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        logger.warning("Removing server %s:%d from %s as DNS resolution failed for %s", host, port, key, host)
        return False
    return True


def new_network_client(
    config: ClientConfig,
    metadata: Metadata,
    metrics: ClientMetrics,
    max_in_flight_requests_per_connection: int,
    time: Time,
    api_versions: ApiVersions | None = None,
    channel_builder: ChannelBuilder | None = None,
) -> NetworkClient:
    """Create a network client with its metrics; backoffs, buffer sizes and timeouts come from the configuration.

    ``channel_builder``: how its connections are protected; None: not at all.
    """
    selector = Selector(
        connections_max_idle_ms=config["connections.max.idle.ms"],
        time=time,
        counters=metrics.counters,
        channel_builder=channel_builder,
    )
    metrics.measure_selector(selector)
    return NetworkClient(
        selector,
        metadata,
        config["client.id"],
        max_in_flight_requests_per_connection=max_in_flight_requests_per_connection,
        reconnect_backoff_ms=config["reconnect.backoff.ms"],
        reconnect_backoff_max_ms=config["reconnect.backoff.max.ms"],
        socket_send_buffer_bytes=config["send.buffer.bytes"],
        socket_receive_buffer_bytes=config["receive.buffer.bytes"],
        request_timeout_ms=config["request.timeout.ms"],
        connection_setup_timeout_ms=config["socket.connection.setup.timeout.ms"],
        authenticates=channel_builder is not None,
        api_versions=api_versions,
        time=time,
    )
