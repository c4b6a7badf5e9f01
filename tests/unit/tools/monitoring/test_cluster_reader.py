"""The state of a cluster, from brokers whose responses are written down."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_16_list_groups import ListGroupsResponse
from kafka_lite.protocol.messages.api_35_describe_log_dirs import DescribeLogDirsResponse
from kafka_lite.tools.monitoring import cluster_reader
from kafka_lite.tools.monitoring.cluster_reader import ClusterReader
from kafka_lite.tools.monitoring.cluster_snapshot import ClusterState
from tests.support.scripted_channel import ScriptedChannel, log_dir, metadata, offsets

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
Read = Callable[[DescribeLogDirsResponse], ClusterState]


class Channel(ScriptedChannel):
    def connect(self) -> None:
        self.refresh()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Read:
    def read(log_dirs: DescribeLogDirsResponse) -> ClusterState:
        channel = Channel(metadata(P0, P1), offsets({P0: 3, P1: 4}), ListGroupsResponse(groups=[]), log_dirs)
        monkeypatch.setattr(cluster_reader, "new_admin_channel", lambda *_, **__: channel)
        return ClusterReader("127.0.0.1:1").read()

    return read


def test_the_size_of_a_broker_is_that_of_all_its_log_directories(read: Read) -> None:
    state = read(DescribeLogDirsResponse(results=[log_dir("/a", {P0: 7}), log_dir("/b", {P1: 5})]))
    assert (state.sizes, state.problems) == ({1: 12}, [])


def test_a_log_directory_that_cannot_be_read_is_a_problem_that_is_shown(read: Read) -> None:
    offline = log_dir("/b", {}, Errors.KAFKA_STORAGE_ERROR)
    state = read(DescribeLogDirsResponse(results=[log_dir("/a", {P0: 7}), offline]))
    assert (state.sizes, state.problems) == ({1: 7}, ["log directory /b of broker 1: KAFKA_STORAGE_ERROR"])


def test_a_broker_that_refuses_to_describe_its_log_directories_has_no_size(read: Read) -> None:
    state = read(DescribeLogDirsResponse(error_code=Errors.CLUSTER_AUTHORIZATION_FAILED.code, results=[]))
    assert state.sizes == {}
    (problem,) = state.problems
    assert problem.startswith("size of broker 1: CLUSTER_AUTHORIZATION_FAILED: ")
