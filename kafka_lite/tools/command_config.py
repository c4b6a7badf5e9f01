"""``--command-config FILE``: the client properties that the admin tools accept.

Kafka 0.10.2: clients/.../clients/admin/AdminClientConfig.java (since 0.11) · book 7.3.2
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kafka_lite.common.config_def import ConfigDef, Importance, Range, Type, ValidString
from kafka_lite.common.properties import load_properties
from kafka_lite.tools import terminal
from kafka_lite.tools.admin_channel import CLIENT_ID, AdminChannel

COMMAND_CONFIGS = (
    ConfigDef()
    .define("client.id", Type.STRING, CLIENT_ID, Importance.MEDIUM, "The name that the broker's log shows.")
    .define("request.timeout.ms", Type.INT, 30_000, Importance.MEDIUM, "How long to wait, ms.", Range.at_least(0))
    .define(
        "security.protocol",
        Type.STRING,
        "PLAINTEXT",
        Importance.MEDIUM,
        "How to talk to the brokers.",
        ValidString.in_("PLAINTEXT"),
    )
)
"""The keys that have an effect. As in Kafka, other keys are reported; bootstrap.servers is overridden by the flag."""


def add_command_config_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--command-config FILE``."""
    parser.add_argument(
        "--command-config",
        type=Path,
        metavar="FILE",
        help=f"properties of the client: {', '.join(key.name for key in COMMAND_CONFIGS)}",
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
    return AdminChannel(options.bootstrap_server, values["client.id"], values["request.timeout.ms"])
