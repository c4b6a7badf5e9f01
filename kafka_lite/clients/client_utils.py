"""Addresses of brokers, as users write them.

Kafka 0.10.2: clients/.../clients/ClientUtils.java · book 2.1.1
"""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Iterable

from kafka_lite.common.config_def import ConfigError

logger = logging.getLogger(__name__)

BOOTSTRAP_SERVERS = "bootstrap.servers"
_HOST_AND_PORT = re.compile(r"\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)")


def parse_and_validate_addresses(urls: Iterable[str], key: str = BOOTSTRAP_SERVERS) -> list[tuple[str, int]]:
    """Host and port of each ``host:port`` whose host is known; the others are warned of.

    ``key`` is where they are configured. Raises ConfigError for text that is no address, and when no host is known.
    """
    addresses, texts = [], [url.strip() for url in urls if url.strip()]
    for text in texts:
        found = _HOST_AND_PORT.fullmatch(text)
        if found is None or not 0 < int(found[2]) < 65536:
            raise ConfigError(key, text, "an address is written host:port, with a port from 1 to 65535")
        host, port = found[1], int(found[2])
        try:
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError:
            logger.warning("Removing server %s from %s as DNS resolution failed for %s", text, key, host)
            continue
        addresses.append((host, port))
    if not addresses:
        raise ConfigError(key, ",".join(texts), "none of the hosts is known: is one misspelt?")
    return addresses
