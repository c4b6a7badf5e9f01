"""``kafka-lite cluster-start``: several brokers on this machine, to try out what happens if one of them dies.

Kafka has no such tool; the book starts each broker in a terminal of its own · book 1.4.2
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from platformdirs import user_data_dir

from kafka_lite.common.errors import KafkaError
from kafka_lite.tools.common import terminal
from kafka_lite.tools.server.foreground import (
    add_log_config_argument,
    add_override_argument,
    overrides,
    run_in_foreground,
)
from kafka_lite.tools.server.local_cluster import LocalCluster

NAME = "cluster-start"
SUMMARY = "start several brokers and a ZooKeeper, each in its own process"

DEFAULT_DIRECTORY = Path(user_data_dir("kafka-lite", appauthor=False)) / "cluster"
WATCH_S = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How many brokers, where they listen, and where their files are."""
    parser.add_argument("--brokers", type=int, default=3, metavar="N", help="number of brokers (default: 3)")
    parser.add_argument(
        "--port", type=int, default=9092, metavar="PORT", help="port of broker 0; the others count up (default: 9092)"
    )
    parser.add_argument("--zookeeper-port", type=int, default=2181, metavar="PORT", help="default: 2181")
    parser.add_argument(
        "--dir",
        type=Path,
        default=DEFAULT_DIRECTORY,
        metavar="FOLDER",
        help="where all files are (default: %(default)s)",
    )
    add_override_argument(parser)
    add_log_config_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Run the cluster until it is stopped; see ``run_in_foreground``."""

    def create() -> ForegroundCluster:
        if options.brokers < 1:
            raise KafkaError(f"--brokers {options.brokers}: a cluster has at least one")
        settings = overrides(options.override)
        for key in ("broker.id", "listeners", "log.dirs", "zookeeper.connect"):
            if key in settings:
                raise KafkaError(f"--override {key}: it differs from broker to broker; use --port, --dir or --brokers")
        return ForegroundCluster(
            LocalCluster(options.dir, options.brokers, options.port, options.zookeeper_port, settings)
        )

    return run_in_foreground(NAME, create, options.log_config)


class ForegroundCluster:
    """A LocalCluster that ends with Ctrl-C."""

    def __init__(self, cluster: LocalCluster) -> None:
        self._cluster = cluster

    def startup(self) -> None:
        """Start ZooKeeper and the brokers."""
        self._cluster.start()

    def ready_line(self) -> str:
        """Addresses, processes, and commands to try."""
        from kafka_lite import __version__

        cluster, command = self._cluster, terminal.own_command()
        started = terminal.styled(f"kafka_lite {__version__} cluster started", "bold green")
        lines = [
            f"{started}: bootstrap servers {cluster.bootstrap_servers}, ZooKeeper {cluster.zookeeper_connect}, "
            f"files in {cluster.folder}"
        ]
        lines += [
            f"  broker {broker_id}: {broker.bootstrap_servers}, process {broker.process.pid}, log {broker.log_file}"
            for broker_id, broker in cluster.brokers.items()
        ]
        victim, (broker_id, broker) = max(cluster.brokers), max(cluster.brokers.items())
        servers = f"--bootstrap-server {cluster.bootstrap_servers}"
        lines += [
            "Try, in another terminal:",
            f"  {command} topics {servers} --create --topic orders --partitions 3",
            f"  {command} top --cluster {servers}",
            f"  {f'kill -9 {broker.process.pid}':<40}# broker {victim} dies; watch the leaders and ISRs",
            f"  {command} server-start {cluster.broker_folder(broker_id)}/server.properties   # and returns",
            "Ctrl-C stops everything.",
        ]
        return "\n".join(lines)

    def await_shutdown(self, timeout_s: float) -> bool:
        """Report brokers that end; the cluster does not stop by itself. Raises KafkaError if ZooKeeper ends."""
        time.sleep(min(timeout_s, WATCH_S))
        self._cluster.watch(self._report)
        return False

    def _report(self, broker_id: int, exit_code: int | None) -> None:
        how = (
            f"was killed by signal {-exit_code}" if exit_code is not None and exit_code < 0 else f"ended ({exit_code})"
        )
        properties = self._cluster.broker_folder(broker_id) / "server.properties"
        print(
            f"Broker {broker_id} {how}. Start it again: {terminal.own_command()} server-start {properties}", flush=True
        )

    def shutdown(self) -> None:
        """Stop all brokers, then ZooKeeper."""
        self._cluster.stop()
