"""``--command-config FILE``: the client properties that the admin tools accept.

Kafka 0.10.2: clients/.../clients/admin/AdminClientConfig.java (since 0.11) · book 7.3.2
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from kafka_lite.clients.admin_client import ADMIN_CONFIG
from kafka_lite.clients.bootstrap_servers import BOOTSTRAP_SERVERS
from kafka_lite.common.properties import load_properties
from kafka_lite.security.channel_builders import client_channel_builder
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.common import terminal

NO_CONFIGS: Final[Mapping[str, object]] = MappingProxyType({})


def add_command_config_argument(parser: argparse.ArgumentParser, *flags: str) -> None:
    """Add ``--command-config FILE``, which some of Kafka's tools call by other names."""
    parser.add_argument(
        *(flags or ("--command-config",)),
        dest="command_config",
        type=Path,
        metavar="FILE",
        help="file of client configs: client.id, request.timeout.ms, security.protocol, and those of ssl. and sasl.",
    )


def command_configs(options: argparse.Namespace) -> dict[str, object]:
    """The properties of ``--command-config``. As in Kafka, keys without an effect are reported.

    Raises OSError if the file cannot be read.
    """
    properties: dict[str, object] = dict(load_properties(options.command_config)) if options.command_config else {}
    properties.pop(BOOTSTRAP_SERVERS, None)  # the flag overrides it
    for name in ADMIN_CONFIG.unused(properties):
        terminal.print_to_stderr(f"The configuration '{name}' was supplied but isn't a known config.")
    return properties


def new_admin_channel(bootstrap_servers: str, configs: Mapping[str, object] = NO_CONFIGS) -> AdminChannel:
    """A channel to these brokers, protected as the properties say. Raises ConfigError for an invalid value."""
    values = ADMIN_CONFIG.parse({**configs, BOOTSTRAP_SERVERS: bootstrap_servers})
    security = client_channel_builder(values, values["client.id"])
    return AdminChannel(bootstrap_servers, values["client.id"], values["request.timeout.ms"], security=security)


def admin_channel(options: argparse.Namespace) -> AdminChannel:
    """A channel to ``--bootstrap-server``, configured by ``--command-config``.

    Raises OSError if the file cannot be read, ConfigError for an invalid value.
    """
    return new_admin_channel(options.bootstrap_server, command_configs(options))
