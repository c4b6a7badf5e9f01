"""``kafka-lite features``: shows and changes the feature levels of a cluster.

Kafka 4.1: tools/.../tools/FeatureCommand.java, bin/kafka-features.sh · book 7.1.2
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import kafka_lite
from kafka_lite.common.errors import Errors
from kafka_lite.controller.feature_control import UpgradeType
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.api_57_update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.common.terminal import on_terminal, print_table
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.server import release_features

NAME = "features"
SUMMARY = "show the features that all brokers agree on, and upgrade, downgrade or disable them"

MAX_LEVEL = 2**15 - 1
HEAD = ["feature", "supported from", "to", "finalized", "epoch"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-features.sh."""
    parser.add_argument(
        "--bootstrap-server", required=True, metavar="HOST:PORT", help="brokers to connect to, separated by commas"
    )
    add_command_config_argument(parser)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("describe", help="show the levels that a broker supports, and those that are finalized")
    for name, effect in (("upgrade", "raise"), ("downgrade", "lower")):
        command = commands.add_parser(name, help=f"{effect} the levels of features in the whole cluster")
        command.add_argument(
            "--feature", action="append", default=[], metavar="NAME=LEVEL", help="for example transaction.version=2"
        )
        _add_switches(command, with_unsafe=name == "downgrade")
    disable = commands.add_parser("disable", help="turn features off: a downgrade to level 0")
    disable.add_argument("--feature", action="append", default=[], metavar="NAME", help="the feature")
    _add_switches(disable, with_unsafe=True)
    mapping = commands.add_parser("version-mapping", help="show the levels that belong to a release of Kafka")
    mapping.add_argument(
        "--release-version",
        metavar="VERSION",
        help=f"from {release_features.VERSIONS[0]} on, by default {release_features.LATEST_PRODUCTION}",
    )
    dependencies = commands.add_parser("feature-dependencies", help="show which features a level needs")
    dependencies.add_argument(
        "--feature", action="append", required=True, metavar="NAME=LEVEL", help="for example metadata.version=5"
    )


def _add_switches(parser: argparse.ArgumentParser, *, with_unsafe: bool) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only check whether it is possible")
    if with_unsafe:
        parser.add_argument("--unsafe", action="store_true", help="even if metadata may be lost")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Describe, update, or look up what is known of releases; returns 1 if an update failed."""
    if options.command in _LOOK_UPS:
        _LOOK_UPS[options.command](options)
        return 0
    with admin_channel(options) as channel:
        if options.command == "describe":
            describe(channel)
            return 0
        levels = _levels(options.command, options.feature)
        kind = UpgradeType.UPGRADE
        if options.command != "upgrade":
            kind = UpgradeType.UNSAFE_DOWNGRADE if options.unsafe else UpgradeType.SAFE_DOWNGRADE
        return update(channel, options.command, levels, kind, dry_run=options.dry_run)


def _map_version(options: argparse.Namespace) -> None:
    for line in release_features.version_mapping(options.release_version):
        print(line)


def _show_dependencies(options: argparse.Namespace) -> None:
    for given in options.feature:
        for line in release_features.feature_dependencies(*_name_and_level(given)):
            print(line)


_LOOK_UPS = {"version-mapping": _map_version, "feature-dependencies": _show_dependencies}
"""The commands that ask no broker, although Kafka's tool wants to be told one."""


def describe(channel: AdminChannel) -> None:
    """Print what one broker supports and knows to be finalized, in the order of the names."""
    request = ApiVersionsRequest(client_software_name="kafka-lite", client_software_version=kafka_lite.__version__)
    response = channel.send(request, ApiVersionsResponse)
    finalized = {each.name: each.max_version_level for each in response.finalized_features}
    epoch = "-" if response.finalized_features_epoch < 0 else str(response.finalized_features_epoch)
    rows = [
        (each.name, each.min_version, each.max_version, finalized.get(each.name, 0), epoch)
        for each in sorted(response.supported_features, key=lambda each: each.name)
    ]
    if on_terminal():
        print_table(HEAD, rows)
        return
    for name, oldest, newest, level, known in rows:
        print(
            f"Feature: {name}\tSupportedMinVersion: {oldest}\tSupportedMaxVersion: {newest}\t"
            f"FinalizedVersionLevel: {level}\tEpoch: {known}"
        )


def _levels(command: str, given: list[str]) -> dict[str, int]:
    """The levels by feature. Raises ToolError."""
    levels: dict[str, int] = {}
    for each in given:
        name, level = (each, 0) if command == "disable" else _name_and_level(each)
        if name in levels:
            raise ToolError(f"Feature {name} was specified more than once.")
        levels[name] = level
    if not levels:
        raise ToolError(f"You must specify at least one feature to {command}")
    return levels


def _name_and_level(text: str) -> tuple[str, int]:
    name, equals, level = text.partition("=")
    if not equals:
        raise ToolError(f"Can't parse feature=level string {text}: equals sign not found.")
    try:
        number = int(level)
    except ValueError:
        number = MAX_LEVEL + 1
    if not -MAX_LEVEL - 1 <= number <= MAX_LEVEL:
        raise ToolError(f"Can't parse feature=level string {text}: unable to parse {level.strip()} as a short.")
    return name.strip(), number


def update(channel: AdminChannel, command: str, levels: Mapping[str, int], kind: UpgradeType, *, dry_run: bool) -> int:
    """Have the controller finalize the levels, all or none, and print what came of each. Raises ToolError."""
    updates = [
        FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=int(kind))
        for name, level in levels.items()
    ]
    request = UpdateFeaturesRequest(feature_updates=updates, validate_only=dry_run)
    response = channel.send_to_controller(request, UpdateFeaturesResponse, "results")
    is_refused = response.error_code != Errors.NONE.code
    for name, level in sorted(levels.items()):
        to_level = "" if command == "disable" else f" to {level}"
        if is_refused:
            message = response.error_message or Errors.for_code(response.error_code).message
            print(f"{'Can' if dry_run else 'Could'} not {command} {name}{to_level}. {message}")
        else:
            print(f"{name} {'can be' if dry_run else 'was'} {_DONE[command]}{to_level}.")
    if is_refused:
        raise ToolError(f"{len(levels)} out of {len(levels)} operation(s) failed.")
    return 0


_DONE = {"upgrade": "upgraded", "downgrade": "downgraded", "disable": "disabled"}
