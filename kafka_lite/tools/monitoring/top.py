"""``kafka-lite top``: a live view of a broker (topics, rates, request times), its clients and their quotas, a cluster
(leaders, ISRs, lag), or its transactions.

Kafka has no such tool; its users look at the beans with jconsole or a dashboard · book 2.3, 6.2
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.tools.admin.command_config import NO_CONFIGS, add_command_config_argument, command_configs
from kafka_lite.tools.common.terminal import on_terminal
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.monitoring.broker_beans import Beans, BrokerBeans, add_endpoint_arguments, find_endpoint
from kafka_lite.tools.monitoring.cluster_reader import ClusterReader
from kafka_lite.tools.monitoring.cluster_snapshot import ClusterState, cluster_snapshot
from kafka_lite.tools.monitoring.top_snapshot import snapshot_of
from kafka_lite.tools.server.running_brokers import RunningBroker, RunningBrokers

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

NAME = "top"
SUMMARY = "watch a broker (topics, rates, request times by phase) or a cluster (leaders, ISRs, consumer lag)"

WIDTH_OF_PIPES = 120
MAX_WIDTH_OF_PIPES = 4_000
"""Characters of a line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags that choose the broker and the interval."""
    add_endpoint_arguments(parser)
    parser.add_argument(
        "--cluster",
        action="store_true",
        help="watch the cluster of --bootstrap-server, which may be on other machines and may be several, separated by "
        "commas; the default if several of your brokers are running here",
    )
    parser.add_argument(
        "--transactions",
        action="store_true",
        help="watch the transactions of the cluster of --bootstrap-server: those that are open for the longest first",
    )
    add_command_config_argument(parser)
    parser.add_argument(
        "--clients",
        action="store_true",
        help="watch the clients of a broker that has quotas: those that are throttled for the longest first",
    )
    parser.add_argument(
        "--interval", type=_seconds, default=2.0, metavar="SECONDS", help="time between two refreshes (default: 2)"
    )
    parser.add_argument("--once", action="store_true", help="print once and exit; the default without a terminal")
    parser.add_argument("--partitions", action="store_true", help="show each topic's partitions")


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
    """Show the broker, its clients, the cluster or its transactions until Ctrl-C, or once."""
    watch: AnyWatch
    if options.clients:
        watch = ClientsWatch(find_endpoint(options))
    elif options.transactions:
        options.cluster = True
        watch = TransactionsWatch(_cluster_to_watch(options), SYSTEM_TIME, command_configs(options))
    elif servers := _cluster_to_watch(options):
        watch = ClusterWatch(ClusterReader(servers, command_configs(options)), SYSTEM_TIME)
    else:
        watch = Watch(find_endpoint(options), SYSTEM_TIME, options.partitions)
    if options.once or not on_terminal():
        _print_once(watch)
    else:
        _refresh(watch, options.interval)
    return 0


def _cluster_to_watch(options: argparse.Namespace, brokers: RunningBrokers | None = None) -> str:
    """The bootstrap servers of the cluster to watch; empty if it is a single broker. Raises ToolError."""
    servers: str = options.bootstrap_server or ""
    if options.metrics_url or not (options.cluster or "," in servers or not servers):
        return ""
    if servers:
        return servers
    running = (brokers or RunningBrokers()).find()
    if options.cluster and not running:
        raise ToolError("You have no broker running on this machine: use --bootstrap-server to name the cluster.")
    return ",".join(_address(broker) for broker in running) if options.cluster or len(running) > 1 else ""


def _address(broker: RunningBroker) -> str:
    """The first listener's ``host:port``."""
    return broker.facts.get("listeners", "").partition(" (")[0]


def _print_once(watch: AnyWatch) -> None:
    from rich.console import Console

    console = Console(highlight=False, width=None if on_terminal() else WIDTH_OF_PIPES)
    frame = watch.only_frame(console)
    if not on_terminal():  # a pipe has no width: a program could not use a truncated name
        unbounded = console.options.update(max_width=MAX_WIDTH_OF_PIPES)
        console.width = max(WIDTH_OF_PIPES, console.measure(frame, options=unbounded).maximum)
    console.print(frame)


def _refresh(watch: AnyWatch, interval_s: float) -> None:
    """Use the terminal's alternate screen, so that its previous contents are restored at the end."""
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
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

    def only_frame(self, console: Console) -> RenderableType:
        """The current view with all rows. Raises ToolError."""
        from kafka_lite.tools.monitoring.top_view import view

        snapshot = snapshot_of(self._endpoint.read())
        return view(snapshot, console, partitions=self._partitions, url=self._endpoint.url)

    def next_frame(self, console: Console) -> RenderableType:
        """The current view, or the reason if the broker does not respond (ToolError in the first frame)."""
        from rich.console import Group
        from rich.text import Text

        from kafka_lite.tools.monitoring.top_view import LINES_AROUND, view

        try:
            beans, now_ms = self._endpoint.read(), self._time.hi_res_ms()
        except ToolError as error:
            if self._before is None:
                raise
            return Group(Text(str(error), "bold red"), Text("Waiting for it to come back. Ctrl-C exits.", "dim"))
        over_s = (now_ms - self._before_ms) / 1000
        snapshot = snapshot_of(beans, self._before, over_s)
        self._before, self._before_ms = beans, now_ms
        max_rows = max(console.height - LINES_AROUND, 2)
        return view(snapshot, console, partitions=self._partitions, url=self._endpoint.url, max_rows=max_rows)


class ClusterWatch:
    """Produces frames of a cluster; keeps the previous state to compute rates."""

    def __init__(self, reader: ClusterReader, time: Time) -> None:
        self._reader = reader
        self._time = time
        self._before: ClusterState | None = None
        self._before_ms = 0.0

    def only_frame(self, _console: Console) -> RenderableType:
        """The current view with all rows. Raises ConnectionError or ToolError."""
        from kafka_lite.tools.monitoring.cluster_view import cluster_view

        try:
            return cluster_view(cluster_snapshot(self._reader.read()))
        finally:
            self._reader.close()

    def next_frame(self, console: Console) -> RenderableType:
        """The current view, or the reason if no broker responds (which is raised in the first frame)."""
        from rich.console import Group
        from rich.text import Text

        from kafka_lite.tools.monitoring.cluster_view import LINES_AROUND, cluster_view

        try:
            state, now_ms = self._reader.read(), self._time.hi_res_ms()
        except (ConnectionError, ToolError) as error:
            if self._before is None:
                raise
            return Group(Text(str(error), "bold red"), Text("Waiting for a broker to come back. Ctrl-C exits.", "dim"))
        snapshot = cluster_snapshot(state, self._before, (now_ms - self._before_ms) / 1000)
        self._before, self._before_ms = state, now_ms
        return cluster_view(snapshot, max(console.height - LINES_AROUND, 2))


class TransactionsWatch:
    """Produces frames of the transactions of a cluster."""

    def __init__(self, bootstrap_servers: str, time: Time, configs: Mapping[str, object] = NO_CONFIGS) -> None:
        from kafka_lite.tools.monitoring.transactions_view import TransactionsReader

        self._reader = TransactionsReader(bootstrap_servers, configs)
        self._time = time

    def only_frame(self, _console: Console) -> RenderableType:
        """The current view with all rows. Raises ConnectionError or ToolError."""
        from kafka_lite.tools.monitoring.transactions_view import transactions_view

        return transactions_view(self._reader.read(), self._time.milliseconds())

    def next_frame(self, console: Console) -> RenderableType:
        """The current view, or the reason if a broker does not respond."""
        from rich.text import Text

        from kafka_lite.tools.monitoring.transactions_view import LINES_AROUND, transactions_view

        try:
            rows = self._reader.read()
        except (ConnectionError, ToolError) as error:
            return Text(str(error), "bold red")
        return transactions_view(rows, self._time.milliseconds(), max(console.height - LINES_AROUND, 2))


class ClientsWatch:
    """Produces frames of the clients of a broker."""

    def __init__(self, endpoint: BrokerBeans) -> None:
        self._endpoint = endpoint

    def only_frame(self, _console: Console) -> RenderableType:
        """The current view with all rows. Raises ToolError."""
        from kafka_lite.tools.monitoring.clients_view import clients_snapshot, clients_view

        return clients_view(clients_snapshot(self._endpoint.read()))

    def next_frame(self, console: Console) -> RenderableType:
        """The current view, or the reason if the broker does not respond."""
        from rich.text import Text

        from kafka_lite.tools.monitoring.clients_view import LINES_AROUND, clients_snapshot, clients_view

        try:
            beans = self._endpoint.read()
        except ToolError as error:
            return Text(str(error), "bold red")
        return clients_view(clients_snapshot(beans), max(console.height - LINES_AROUND, 2))


AnyWatch = Watch | ClusterWatch | TransactionsWatch | ClientsWatch
