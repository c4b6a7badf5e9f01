"""``kafka-lite preferred-replica-election``: elect preferred leaders through ZooKeeper.

Kafka 0.10.2: core/.../admin/PreferredReplicaLeaderElectionCommand.scala, bin/kafka-preferred-replica-election.sh
· book 7.1.6
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kafka_lite.tools.admin.partition_json import read_partitions
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.zookeeper.zookeeper_session import zookeeper_client
from kafka_lite.zookeeper.admin_requests import AdminRequests
from kafka_lite.zookeeper.data import encode_partitions
from kafka_lite.zookeeper.zk_errors import NodeExistsError

NAME = "preferred-replica-election"
SUMMARY = "give leaderships back to the preferred replicas, through ZooKeeper"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-preferred-replica-election.sh."""
    parser.add_argument("--zookeeper", required=True, metavar="HOST:PORT[/PATH]", help="the cluster's ZooKeeper")
    parser.add_argument(
        "--path-to-json-file",
        type=Path,
        metavar="FILE",
        help='{"partitions":[{"topic":"t","partition":0}]} (default: all partitions)',
    )


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Write the request; the controller does the rest, and deletes it."""
    with zookeeper_client(options.zookeeper) as zk_client:
        if options.path_to_json_file is not None:
            partitions = read_partitions(options.path_to_json_file)
        else:
            partitions = sorted(zk_client.get_replica_assignment(zk_client.get_all_topics()))
        requests = AdminRequests(zk_client.zookeeper)
        try:
            requests.create_preferred_replica_election(partitions)
        except NodeExistsError:
            current = ",".join(map(str, sorted(requests.get_preferred_replica_election() or ())))
            message = f"Preferred replica leader election currently in progress for {current}. Aborting operation"
            raise ToolError(message) from None
        print(f"Created preferred replica election path with {encode_partitions(partitions).decode()}")
        print(f"Successfully started preferred replica election for partitions {','.join(map(str, partitions))}")
    return 0
