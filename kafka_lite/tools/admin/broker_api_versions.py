"""``kafka-lite broker-api-versions``: the requests and versions that every broker serves.

Kafka 0.10.2: core/.../admin/BrokerApiVersionsCommand.scala, bin/kafka-broker-api-versions.sh · book 2.3.5
"""

from __future__ import annotations

import argparse

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.common.terminal import on_terminal, print_table
from kafka_lite.tools.common.tool_errors import reports_errors

NAME = "broker-api-versions"
SUMMARY = "show the API versions that each broker supports"


_KNOWN = {key.value: key for key in ApiKey}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-broker-api-versions.sh."""
    parser.add_argument(
        "--bootstrap-server", required=True, metavar="HOST:PORT", help="brokers to connect to, separated by commas"
    )
    add_command_config_argument(parser)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print every broker's table."""
    with admin_channel(options) as channel:
        for broker_id, broker in sorted(channel.brokers.items()):
            rack = broker.rack if broker.rack is not None else "null"
            title = f"{broker.host}:{broker.port} (id: {broker_id} rack: {rack})"
            served = channel.api_versions(broker_id)
            if on_terminal():
                print_table(["key", "request", "served", "usable"], _rows(served), title=title, right=["key"])
            else:
                print(f"{title} -> (\n{api_lines(served)}\n)")
    return 0


def api_name(key: int) -> str:
    """``OffsetForLeaderEpoch`` for 23, as Kafka prints it; UNKNOWN for an unknown key."""
    if key not in _KNOWN:
        return "UNKNOWN"
    return "".join(word.capitalize() for word in _KNOWN[key].name.split("_"))


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def usable(key: int, served: tuple[int, int]) -> int | None:
    """The highest version that both this program and the broker support, or None."""
    spec = API_SPECS.get(_KNOWN[key]) if key in _KNOWN else None
    if spec is None:
        return None
    version = min(served[1], spec.max_version)
    return version if version >= max(served[0], spec.min_version) else None


def api_lines(served: dict[int, tuple[int, int]]) -> str:
    """The broker's requests by key, as Kafka's tool prints them; requests that only we support are UNSUPPORTED."""
    lines = []
    for key in sorted({*served, *API_SPECS}):
        if key not in served:
            lines.append(f"\t{api_name(key)}({key}): UNSUPPORTED")
            continue
        version = usable(key, served[key])
        text = f"\t{api_name(key)}({key}): {_range(*served[key])}"
        if key in _KNOWN:
            text += " [unusable: no common version]" if version is None else f" [usable: {version}]"
        lines.append(text)
    return ",\n".join(lines)


def _rows(served: dict[int, tuple[int, int]]) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for key, versions in sorted(served.items()):
        version = usable(key, versions)
        rows.append((key, api_name(key), _range(*versions), "" if version is None else version))
    return rows
