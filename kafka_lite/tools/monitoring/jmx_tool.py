"""``kafka-lite jmx``: prints bean attributes as CSV at regular intervals.

Kafka 0.10.2: core/.../tools/JmxTool.scala · book 2.3
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.metrics.metric_name import MalformedObjectNameError, ObjectNamePattern
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.monitoring.broker_beans import BrokerBeans, add_endpoint_arguments, find_endpoint

NAME = "jmx"
SUMMARY = "print a broker's metrics as CSV under Kafka's JMX names"

TIME = "time"
ALL_BEANS = "*:*"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka.tools.JmxTool, and those that choose the broker."""
    add_endpoint_arguments(parser)
    parser.add_argument(
        "--object-name",
        action="append",
        default=[],
        metavar="NAME",
        help="a bean, or a pattern with * (default: all); may be repeated",
    )
    parser.add_argument("--attributes", metavar="A,B", help="only these attributes (default: all)")
    parser.add_argument(
        "--reporting-interval",
        type=_interval,
        default=2000,
        metavar="MS",
        help="time between two lines; -1: print once (default: 2000)",
    )
    parser.add_argument(
        "--one-time", nargs="?", const="true", default="false", metavar="BOOLEAN", help="print once and exit"
    )


def _interval(text: str) -> int:
    value = int(text)
    if value != -1 and value < 100:
        raise argparse.ArgumentTypeError("-1, or at least 100 ms")
    return value


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print a line of names, then a line of values at each interval until Ctrl-C."""
    endpoint = find_endpoint(options)
    patterns = [_checked(name) for name in options.object_name]
    wanted = [name.strip() for name in options.attributes.split(",")] if options.attributes else None
    keys: list[str] | None = None
    once = options.reporting_interval == -1 or options.one_time.lower() == "true"
    while True:
        values = read_attributes(endpoint, patterns, wanted)
        if keys is None:
            keys = sorted(values)
            if not keys:
                raise ToolError("No bean has this name and such an attribute.")
            print(",".join(f'"{key}"' for key in [TIME, *keys]))
        # A bean that no longer exists, such as a deleted topic's, leaves its column empty.
        print(",".join([str(SYSTEM_TIME.milliseconds()), *(values.get(key, "") for key in keys)]), flush=True)
        if once:
            return 0
        SYSTEM_TIME.sleep(options.reporting_interval)


def _checked(name: str) -> str:
    try:
        ObjectNamePattern.parse(name)
    except MalformedObjectNameError as error:
        raise ToolError(f"--object-name {error}") from None
    return name


def read_attributes(endpoint: BrokerBeans, patterns: Sequence[str], wanted: Sequence[str] | None) -> dict[str, str]:
    """``bean:attribute`` → value as text."""
    return {
        f"{bean}:{attribute}": _text(value)
        for pattern in patterns or [ALL_BEANS]
        for bean, attributes in endpoint.read(pattern).items()
        for attribute, value in attributes.items()
        if wanted is None or attribute in wanted
    }


def _text(value: object) -> str:
    return "NaN" if value is None else str(value)
