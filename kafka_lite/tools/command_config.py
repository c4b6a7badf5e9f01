"""``--command-config FILE``: what Kafka's administrators' tools take from a file of the client's properties.

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
"""The keys that have an effect. Others are told of, as Kafka does, and bootstrap.servers gives way to the flag."""


def add_command_config_argument(parser: argparse.ArgumentParser) -> None:
    """``--command-config FILE``."""
    parser.add_argument(
        "--command-config",
        type=Path,
        metavar="FILE",
        help=f"properties of the client: {', '.join(key.name for key in COMMAND_CONFIGS)}",
    )


def admin_channel(options: argparse.Namespace) -> AdminChannel:
    """The channel to ``--bootstrap-server``, as ``--command-config`` wants it.

    Raises OSError for a file that cannot be read, ConfigError for a bad value.
    """
    properties = load_properties(options.command_config) if options.command_config else {}
    properties.pop("bootstrap.servers", None)
    for name in COMMAND_CONFIGS.unused(properties):
        terminal.print_to_stderr(f"The configuration '{name}' was supplied but isn't a known config.")
    values = COMMAND_CONFIGS.parse(properties)
    return AdminChannel(options.bootstrap_server, values["client.id"], values["request.timeout.ms"])
