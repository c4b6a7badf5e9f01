"""The log directories of replicas, from brokers whose responses are written down."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_35_describe_log_dirs import DescribeLogDirsResponse
from kafka_lite.tools.admin.log_dir_moves import ReplicaLogDirs
from kafka_lite.tools.admin.reassignment_service import BrokerReassignmentService
from kafka_lite.tools.common.tool_errors import ToolError
from tests.support.scripted_channel import ScriptedChannel, log_dir, metadata

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
REPLICAS = [(1, P0), (1, P1)]
UNKNOWN = ReplicaLogDirs(None, None)


def service(*directories: DescribeLogDirsResponse) -> BrokerReassignmentService:
    return BrokerReassignmentService(ScriptedChannel(metadata(P0, P1), *directories))


def test_a_replica_has_its_directory_and_the_one_to_which_it_moves() -> None:
    brokers = service(
        DescribeLogDirsResponse(results=[log_dir("/a", {P0: 7, P1: 5}), log_dir("/b", {P0: 3}, is_future=True)])
    )
    assert brokers.log_dirs(REPLICAS) == {(1, P0): ReplicaLogDirs("/a", "/b"), (1, P1): ReplicaLogDirs("/a", None)}
    assert brokers.sizes(["t"]) == {(1, P0): 7, (1, P1): 5}


def test_replicas_in_an_offline_directory_are_in_no_live_one() -> None:
    offline = log_dir("/b", {}, Errors.KAFKA_STORAGE_ERROR)
    brokers = service(DescribeLogDirsResponse(results=[offline, log_dir("/a", {P0: 7})]))
    assert brokers.log_dirs(REPLICAS) == {(1, P0): ReplicaLogDirs("/a", None), (1, P1): UNKNOWN}
    assert brokers.sizes(["t"]) == {(1, P0): 7}


def test_another_error_of_a_directory_is_not_read_as_absence() -> None:
    failed = log_dir("/b", {}, Errors.UNKNOWN_SERVER_ERROR)
    brokers = service(DescribeLogDirsResponse(results=[log_dir("/a", {P0: 7}), failed]))
    for ask in (lambda: brokers.log_dirs(REPLICAS), lambda: brokers.sizes(["t"])):
        with pytest.raises(ToolError, match="broker 1, log directory /b: UNKNOWN_SERVER_ERROR: "):
            ask()


def test_a_broker_that_refuses_the_request_is_not_read_as_a_broker_without_replicas() -> None:
    brokers = service(DescribeLogDirsResponse(error_code=Errors.CLUSTER_AUTHORIZATION_FAILED.code, results=[]))
    for ask in (lambda: brokers.log_dirs(REPLICAS), lambda: brokers.sizes(["t"])):
        with pytest.raises(ToolError, match="CLUSTER_AUTHORIZATION_FAILED: "):
            ask()
