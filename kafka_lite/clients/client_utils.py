"""Helpers for clients' configurations: broker addresses, and the network client.

Kafka 0.10.2: clients/.../clients/ClientUtils.java · book 2.1.1
"""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Iterable

from kafka_lite.clients.api_versions import ApiVersions
from kafka_lite.clients.client_metrics import ClientConfig, ClientMetrics
from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.network_client import NetworkClient
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.time import Time
from kafka_lite.network.selector import Selector

logger = logging.getLogger(__name__)

BOOTSTRAP_SERVERS = "bootstrap.servers"
_HOST_AND_PORT = re.compile(r"\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)")


def parse_and_validate_addresses(urls: Iterable[str], key: str = BOOTSTRAP_SERVERS) -> list[tuple[str, int]]:
    """Host and port of each ``host:port`` whose host can be resolved. Others are logged as a warning.

    ``key`` is their configuration key. Raises ConfigError for an invalid address, and if no host can be resolved.
    """
    addresses, texts = [], [url.strip() for url in urls if url.strip()]
    for text in texts:
        found = _HOST_AND_PORT.fullmatch(text)
        if found is None or not 0 < int(found[2]) < 65536:
            raise ConfigError(key, text, "an address must be host:port with a port from 1 to 65535")
        host, port = found[1], int(found[2])
        try:
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError:
            logger.warning("Removing server %s from %s as DNS resolution failed for %s", text, key, host)
            continue
        addresses.append((host, port))
    if not addresses:
        raise ConfigError(key, ",".join(texts), "none of the hosts can be resolved. Is one misspelt?")
    return addresses


def new_network_client(
    config: ClientConfig,
    metadata: Metadata,
    metrics: ClientMetrics,
    max_in_flight_requests_per_connection: int,
    time: Time,
    api_versions: ApiVersions | None = None,
) -> NetworkClient:
    """A network client with the configured backoffs, buffer sizes and timeouts, and with metrics."""
    selector = Selector(connections_max_idle_ms=config["connections.max.idle.ms"], time=time, counters=metrics.counters)
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
        api_versions=api_versions,
        time=time,
    )
