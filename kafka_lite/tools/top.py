"""``kafka-lite top``: a live view of a broker: topics with their rates, requests with their phases.

Kafka has no such tool; its users look at the beans with jconsole or a dashboard · book 2.3
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.tools.broker_beans import Beans, BrokerBeans, add_endpoint_arguments, find_endpoint
from kafka_lite.tools.terminal import on_terminal
from kafka_lite.tools.tool_errors import ToolError, reports_errors
from kafka_lite.tools.top_snapshot import snapshot_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

NAME = "top"
SUMMARY = "watch a broker at work: topics, rates, requests by phase, purgatories"

WIDTH_OF_PIPES = 120


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags that choose the broker and the interval."""
    add_endpoint_arguments(parser)
    parser.add_argument("--interval", type=_seconds, default=2.0, metavar="SECONDS", help="how often (default: 2)")
    parser.add_argument("--once", action="store_true", help="print one picture and end, as without a terminal")
    parser.add_argument("--partitions", action="store_true", help="show each partition of the topics")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.1 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0.1 to 3600")
    return value


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Show the broker until Ctrl-C, or once."""
    endpoint = find_endpoint(options)
    if options.once or not on_terminal():
        _print_once(endpoint, options.partitions)
    else:
        _watch(endpoint, options.interval, options.partitions)
    return 0


def _print_once(endpoint: BrokerBeans, partitions: bool) -> None:
    from rich.console import Console

    from kafka_lite.tools.top_view import view

    console = Console(highlight=False, width=None if on_terminal() else WIDTH_OF_PIPES)
    console.print(view(snapshot_of(endpoint.read()), console, partitions=partitions, url=endpoint.url))


def _watch(endpoint: BrokerBeans, interval_s: float, partitions: bool) -> None:
    """Use the terminal's alternate screen, so that its previous contents are restored at the end."""
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    watch = Watch(endpoint, SYSTEM_TIME, partitions)
    with Live(watch.next_frame(console), console=console, screen=True, auto_refresh=False) as live:
        try:
            while True:
                SYSTEM_TIME.sleep(interval_s * 1000)
                live.update(watch.next_frame(console), refresh=True)
        except KeyboardInterrupt:
            return


class Watch:
    """Produces frames; keeps the previous beans to compute rates."""

    def __init__(self, endpoint: BrokerBeans, time: Time, partitions: bool) -> None:
        self._endpoint = endpoint
        self._time = time
        self._partitions = partitions
        self._before: Beans | None = None
        self._before_ms = 0.0

    def next_frame(self, console: Console) -> RenderableType:
        """The current view, or the reason if the broker does not respond (ToolError in the first frame)."""
        from rich.console import Group
        from rich.text import Text

        from kafka_lite.tools.top_view import LINES_AROUND, view

        try:
            beans, now_ms = self._endpoint.read(), self._time.hi_res_ms()
        except ToolError as error:
            if self._before is None:
                raise
            return Group(Text(str(error), "bold red"), Text("Waiting for it. Ctrl-C ends.", "dim"))
        over_s = (now_ms - self._before_ms) / 1000
        snapshot = snapshot_of(beans, self._before, over_s)
        self._before, self._before_ms = beans, now_ms
        max_rows = max(console.height - LINES_AROUND, 2)
        return view(snapshot, console, partitions=self._partitions, url=self._endpoint.url, max_rows=max_rows)
