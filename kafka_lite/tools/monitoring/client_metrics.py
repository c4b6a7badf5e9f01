"""``kafka-lite client-metrics``: which metrics clients push to brokers, and what they have pushed.

Kafka 3.7: tools/.../tools/ClientMetricsCommand.java, bin/kafka-client-metrics.sh, KIP-714 · book 10.1
"""

from __future__ import annotations

import argparse
import time
import uuid
from collections.abc import Mapping

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.uuids import encode_uuid
from kafka_lite.protocol.messages.api_32_describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafka_lite.protocol.messages.api_74_list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kafka_lite.server.admin.alter_config_ops import AlterConfigOp
from kafka_lite.server.client_telemetry.client_metrics_configs import MATCHED_ATTRIBUTES
from kafka_lite.tools.admin.admin_channel import AdminChannel, check_error
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.admin.described_configs import described_configs
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.monitoring.broker_beans import Attributes, Beans, find_endpoint

NAME = "client-metrics"
SUMMARY = "choose which metrics clients push to brokers, and watch what they have pushed"

ACTIONS = ("alter", "delete", "describe", "list", "watch")
USED = {
    "alter": ("name", "generate_name", "interval", "match", "metrics"),
    "delete": ("name",),
    "describe": ("name",),
    "list": (),
    "watch": ("metrics_url", "once"),
}
"""The flags that have a meaning for an action; another one is a mistake, and refused."""
CLIENT_METRICS_RESOURCE = 16
KEYS = {"interval": "interval.ms", "metrics": "metrics", "match": "match"}
BEANS = "kafka.client:type=client-telemetry,*"
WATCH_INTERVAL_S = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-client-metrics.sh, and ``--watch``."""
    parser.add_argument(
        "--bootstrap-server", metavar="HOST:PORT", help="brokers to connect to; for --watch one on this machine"
    )
    add_command_config_argument(parser)
    actions = parser.add_mutually_exclusive_group(required=True)
    actions.add_argument("--alter", action="store_true", help="create or change a subscription")
    actions.add_argument("--delete", action="store_true", help="end a subscription")
    actions.add_argument("--describe", action="store_true", help="show a subscription, or all of them")
    actions.add_argument("--list", action="store_true", help="list the names of all subscriptions")
    actions.add_argument("--watch", action="store_true", help="show what clients have pushed to a broker")
    parser.add_argument("--name", help="the name of a subscription")
    parser.add_argument("--generate-name", action="store_true", help="let --alter make up a name")
    parser.add_argument("--interval", type=int, metavar="MS", help="how often clients push, in milliseconds")
    attributes = ", ".join(MATCHED_ATTRIBUTES)
    parser.add_argument(
        "--match", metavar="K=V,K=V", help=f"which clients push: regular expressions of {attributes} (default: all)"
    )
    parser.add_argument("--metrics", metavar="M,M", help="prefixes of the names of metrics; * for all")
    parser.add_argument("--metrics-url", metavar="URL", help="HTTP address of the broker that --watch reads")
    parser.add_argument("--once", action="store_true", help="let --watch print once and end")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Do the one action."""
    action = next(name for name in ACTIONS if getattr(options, name))
    _check_flags(options, action)
    if action == "watch":
        _watch(options)
        return 0
    with admin_channel(options) as channel:
        match action:
            case "alter":
                _alter(channel, options)
            case "delete":
                _delete(channel, options.name)
            case "describe":
                _describe(channel, [options.name] if options.name else _names(channel))
            case _:
                print("\n".join(_names(channel)))
    return 0


def _check_flags(options: argparse.Namespace, action: str) -> None:
    """Raise ToolError for a flag that is missing, or has no meaning here."""
    everything = sorted({name for names in USED.values() for name in names})
    wrong = [_flag(name) for name in everything if name not in USED[action] and getattr(options, name)]
    if wrong:
        raise ToolError(f"--{action} does not take {' or '.join(wrong)}")
    if action != "watch" and not options.bootstrap_server:
        raise ToolError("--bootstrap-server must be specified.")
    if action == "alter" and bool(options.name) == options.generate_name:
        raise ToolError("One of --name or --generate-name must be specified with --alter.")
    if action == "delete" and not options.name:
        raise ToolError("A client metrics resource name must be specified with --delete.")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


# ── subscriptions


def _alter(channel: AdminChannel, options: argparse.Namespace) -> None:
    name = encode_uuid(uuid.uuid4()) if options.generate_name else options.name
    given = {key: getattr(options, flag) for flag, key in KEYS.items() if getattr(options, flag) is not None}
    _change(channel, name, {key: None if value == "" else str(value) for key, value in given.items()})
    print(f"Altered client metrics config for {name}.")


def _delete(channel: AdminChannel, name: str) -> None:
    _change(channel, name, dict.fromkeys(_config(channel, name)))
    print(f"Deleted client metrics config for {name}.")


def _change(channel: AdminChannel, name: str, values: Mapping[str, str | None]) -> None:
    """Set or, with None, delete keys."""
    configs = [
        AlterableConfig(
            name=key, config_operation=AlterConfigOp.DELETE if value is None else AlterConfigOp.SET, value=value
        )
        for key, value in values.items()
    ]
    resource = AlterConfigsResource(resource_type=CLIENT_METRICS_RESOURCE, resource_name=name, configs=configs)
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    for result in channel.send(request, IncrementalAlterConfigsResponse).responses:
        check_error(result.error_code, result.error_message or Errors.for_code(result.error_code).message)


def _describe(channel: AdminChannel, names: list[str]) -> None:
    for name in names:
        print(f"Client metrics configs for {name} are:")
        for key, value in _config(channel, name).items():
            print(f"  {key}={value}")


def _config(channel: AdminChannel, name: str) -> dict[str, str | None]:
    resource = DescribeConfigsResource(
        resource_type=CLIENT_METRICS_RESOURCE, resource_name=name, configuration_keys=None
    )
    (result,) = described_configs(channel, DescribeConfigsRequest(resources=[resource]))
    return {entry.name: entry.value for entry in result.configs}


def _names(channel: AdminChannel) -> list[str]:
    request = ListConfigResourcesRequest(resource_types=[CLIENT_METRICS_RESOURCE])
    response = channel.send(request, ListConfigResourcesResponse)
    check_error(response.error_code, Errors.for_code(response.error_code).message)
    return [resource.resource_name for resource in response.config_resources]


# ── what has been pushed


def _watch(options: argparse.Namespace) -> None:
    endpoint = find_endpoint(options)
    while True:
        print(shown(endpoint.read(BEANS)), flush=True)
        if options.once:
            return
        time.sleep(WATCH_INTERVAL_S)


def shown(beans: Beans) -> str:
    """The values of each client, one a line."""
    if not beans:
        return "No client has pushed metrics to this broker."
    return "\n".join(line for name, values in sorted(beans.items()) for line in [name, *_lines(values)])


def _lines(values: Attributes) -> list[str]:
    width = max(map(len, values), default=0)
    return [f"  {name:<{width}}  {value}" for name, value in sorted(values.items())]
