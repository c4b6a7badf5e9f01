"""``--command-config FILE``: the client properties that the admin tools accept.

Kafka 0.10.2: clients/.../clients/admin/AdminClientConfig.java (since 0.11) · book 7.3.2
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kafka_lite.common.config_def import ConfigDef, Importance, Range, Type
from kafka_lite.common.properties import load_properties
from kafka_lite.security.channel_builders import CLIENT_SECURITY_CONFIG, client_channel_builder
from kafka_lite.tools.admin.admin_channel import CLIENT_ID, AdminChannel
from kafka_lite.tools.common import terminal

COMMAND_CONFIGS = (
    ConfigDef()
    .define("client.id", Type.STRING, CLIENT_ID, Importance.MEDIUM, "Client id shown in the broker's log.")
    .define("request.timeout.ms", Type.INT, 30_000, Importance.MEDIUM, "How long to wait, ms.", Range.at_least(0))
    .include(CLIENT_SECURITY_CONFIG)
)
"""The keys that have an effect. As in Kafka, other keys are reported; bootstrap.servers is overridden by the flag."""


def add_command_config_argument(parser: argparse.ArgumentParser, flag: str = "--command-config") -> None:
    """Add ``--command-config FILE``, which some of Kafka's tools call by another name."""
    parser.add_argument(
        flag,
        dest="command_config",
        type=Path,
        metavar="FILE",
        help="file of client configs: client.id, request.timeout.ms, security.protocol, and those of ssl. and sasl.",
    )


def admin_channel(options: argparse.Namespace) -> AdminChannel:
    """A channel to ``--bootstrap-server``, configured by ``--command-config``.

    Raises OSError if the file cannot be read, ConfigError for an invalid value.
    """
    properties = load_properties(options.command_config) if options.command_config else {}
    properties.pop("bootstrap.servers", None)
    for name in COMMAND_CONFIGS.unused(properties):
        terminal.print_to_stderr(f"The configuration '{name}' was supplied but isn't a known config.")
    values = COMMAND_CONFIGS.parse(properties)
    security = client_channel_builder(values, values["client.id"])
    return AdminChannel(options.bootstrap_server, values["client.id"], values["request.timeout.ms"], security=security)
