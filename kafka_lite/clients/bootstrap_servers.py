"""Parses the addresses of brokers that users give to clients and tools: the one place that does.

Kafka 0.10.2: clients/.../common/utils/Utils.java (getHost, getPort); clients/.../clients/ClientUtils.java · book 2.1.1
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.security_protocol import SecurityProtocol

BOOTSTRAP_SERVERS = "bootstrap.servers"

_SERVER = re.compile(
    r"(?:(?P<protocol>\w+)://)?(?:\[(?P<ipv6>[^\[\]/]+)\]|(?P<host>[\w\-%.:]+)):(?P<port>[0-9]{1,10})", re.A
)


def parse_bootstrap_servers(servers: str | Iterable[str], key: str = BOOTSTRAP_SERVERS) -> list[tuple[str, int]]:
    """Host and port of each server: ``host:port`` or ``PLAINTEXT://host:port``, with IPv6 addresses in brackets.

    Servers in one text are separated by commas; spaces around them do not count. Nothing is resolved. ``key`` is their
    configuration key, for errors. Raises ConfigError for a server that is not of this form, for a protocol that this
    client does not speak, and if there is no server at all.
    """
    texts = servers.split(",") if isinstance(servers, str) else servers
    found = [_parse(text.strip(), key) for text in texts if text.strip()]
    if not found:
        raise ConfigError(key, "''", "there must be at least one host:port")
    return found


def _parse(text: str, key: str) -> tuple[str, int]:
    match = _SERVER.fullmatch(text)
    if match is None or not 0 < int(match["port"]) < 65536:
        raise ConfigError(key, text, "an address must be host:port with a port from 1 to 65535")
    protocol = (match["protocol"] or SecurityProtocol.PLAINTEXT.name).upper()
    if protocol in (SecurityProtocol.SSL.name, SecurityProtocol.SASL_PLAINTEXT.name, SecurityProtocol.SASL_SSL.name):
        advice = (
            "write host:port; producers and consumers use TLS with security.protocol=SSL, everything else needs a "
            "PLAINTEXT listener, and SASL is not supported yet"
        )
        raise ConfigError(key, text, advice)
    if protocol != SecurityProtocol.PLAINTEXT.name:
        raise ConfigError(key, text, "an address must be host:port or PLAINTEXT://host:port")
    return match["ipv6"] or match["host"], int(match["port"])
