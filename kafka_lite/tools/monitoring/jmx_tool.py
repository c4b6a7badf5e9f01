"""``kafka-lite jmx``: prints bean attributes as CSV at regular intervals.

Kafka 0.10.2: core/.../tools/JmxTool.scala · book 2.3
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TextIO

from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.metrics.metric_name import MalformedObjectNameError, ObjectNamePattern
from kafka_lite.tools.admin.command_config import add_command_config_argument
from kafka_lite.tools.common.date_format import date_format
from kafka_lite.tools.common.terminal import on_terminal, print_to_stderr
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.monitoring.broker_beans import BrokerBeans, add_endpoint_arguments, find_endpoint

NAME = "jmx"
SUMMARY = "print a broker's metrics as CSV under Kafka's JMX names"

TIME = "time"
ALL_BEANS = "*:*"
WAIT_MS = 100
"""How long ``--wait`` waits between two attempts, as in Kafka."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka.tools.JmxTool, and those that choose the broker."""
    add_endpoint_arguments(parser)
    add_command_config_argument(parser)
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
    parser.add_argument(
        "--date-format",
        metavar="FORMAT",
        help="the time in Java's SimpleDateFormat, such as yyyy-MM-dd HH:mm:ss (default: ms since 1970)",
    )
    parser.add_argument(
        "--report-format",
        choices=["original", "csv", "tsv", "properties"],
        default="original",
        help="original: CSV with quoted names; properties: a line name=value for each attribute (default: original)",
    )
    parser.add_argument("--wait", action="store_true", help="wait until all beans of --object-name exist")


def _interval(text: str) -> int:
    value = int(text)
    if value != -1 and value < 100:
        raise argparse.ArgumentTypeError("-1, or at least 100 ms")
    return value


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print a line of names, then a line of values at each interval, until Ctrl-C or until the broker has ended."""
    patterns = [_checked(name) for name in options.object_name]
    wanted = [name.strip() for name in options.attributes.split(",")] if options.attributes else None
    date = date_format(options.date_format) if options.date_format else None
    once = options.reporting_interval == -1 or options.one_time.lower() == "true"
    endpoint = find_endpoint(options)
    if options.wait:
        _await_beans(endpoint, patterns)
    report = Report(options.report_format)
    if not once and on_terminal():
        print_to_stderr("A line every interval; Ctrl-C ends it, --one-time prints once.")
    while True:
        values = read_attributes(endpoint, patterns, wanted)
        now_ms = SYSTEM_TIME.milliseconds()
        report.print(date(now_ms) if date else str(now_ms), values)
        if once:
            return 0
        SYSTEM_TIME.sleep(options.reporting_interval)


def _await_beans(endpoint: BrokerBeans, patterns: Sequence[str]) -> None:
    while any(not endpoint.read(pattern) for pattern in patterns):
        SYSTEM_TIME.sleep(WAIT_MS)


class Report:
    """Prints attributes in one of Kafka's formats; the first reading decides which ones."""

    def __init__(self, report_format: str, out: TextIO | None = None) -> None:
        self._format = report_format
        self._out = out
        self._keys: list[str] | None = None

    def print(self, time: str, values: Mapping[str, str]) -> None:
        """Print a reading, after the names if it is the first. Raises ToolError if that one has no attributes."""
        if self._keys is None:
            if not values:
                raise ToolError("No bean has this name and such an attribute.")
            self._keys = sorted(values)
            self._print_names([TIME, *self._keys])
        # A bean that no longer exists, such as a deleted topic's, leaves its column empty.
        cells = [time, *(values.get(key, "") for key in self._keys)]
        if self._format == "properties":
            lines = [f"{key}={value}" for key, value in zip([TIME, *self._keys], cells, strict=True)]
            self._print("\n".join(lines))
        else:
            self._print(self._separator.join(cells))

    def _print_names(self, names: Sequence[str]) -> None:
        if self._format == "original":
            self._print(",".join(f'"{name}"' for name in names))
        elif self._format != "properties":
            self._print(self._separator.join(names))

    @property
    def _separator(self) -> str:
        return "\t" if self._format == "tsv" else ","

    def _print(self, text: str) -> None:
        print(text, file=self._out, flush=True)


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
