"""How a broker's persister finds share coordinators, and how many partitions its own coordinator has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from unittest.mock import MagicMock
from uuid import UUID

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_names import SHARE_GROUP_STATE_TOPIC_NAME
from kafka_lite.coordinator.share.persister import PartitionErrorData, PartitionStateData, SharePartitionKey
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.protocol.messages.api_06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
)
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.startup.share_coordination import ShareCoordination

ME, OTHER, DEAD = 1, 2, 9
KEY = SharePartitionKey("group", UUID(int=2**64), 0)
KEYS = {"zookeeper.connect": "zk", "broker.id": str(ME), "share.coordinator.state.topic.num.partitions": "4"}


class Broker:
    """Broker 1, and what the controller has told it of ``__share_group_state``."""

    def __init__(self) -> None:
        self.cache = MetadataCache(ME)
        self.created: list[str] = []
        self.creation_error: Exception | None = None
        self.share = ShareCoordination(
            KafkaConfig(KEYS, do_log=False),
            MagicMock(),
            self.cache,
            self._create,
            Metrics(),
            MockTime(),
        )

    def _create(self, topic: str) -> None:
        self.created.append(topic)
        if self.creation_error is not None:
            raise self.creation_error

    def hears(self, leaders: Mapping[int, int]) -> None:
        """Brokers 1 and 2 are alive, and partitions have these leaders."""
        brokers = [UpdateMetadataBroker(id=each, v0_host="127.0.0.1", v0_port=each) for each in (ME, OTHER)]
        states = [
            UpdateMetadataPartitionState(
                topic_name=SHARE_GROUP_STATE_TOPIC_NAME,
                partition_index=number,
                leader=leader,
                isr=[leader],
                replicas=[leader],
            )
            for number, leader in leaders.items()
        ]
        self.cache.update_cache(UpdateMetadataRequest(ungrouped_partition_states=states, live_brokers=brokers))


@pytest.fixture
def broker() -> Iterator[Broker]:
    made = Broker()
    yield made
    made.share.shutdown()


@pytest.mark.parametrize(("leader", "expected"), [(ME, ME), (OTHER, OTHER), (DEAD, None), (-1, None)])
def test_the_coordinator_is_the_leader_that_is_alive(broker: Broker, leader: int, expected: int | None) -> None:
    broker.hears(dict.fromkeys(range(3), leader))
    assert broker.share.coordinator_of(KEY) == expected
    assert not broker.created


def test_the_key_determines_the_partition(broker: Broker) -> None:
    """The hashes of keys that end in two consecutive digits differ by one."""
    broker.hears({0: ME, 1: OTHER})
    found = [broker.share.coordinator_of(KEY._replace(partition=number)) for number in range(4)]
    assert found in ([ME, OTHER, ME, OTHER], [OTHER, ME, OTHER, ME])


def test_a_missing_topic_is_created_once_the_cluster_is_known(broker: Broker) -> None:
    assert broker.share.coordinator_of(KEY) is None
    assert not broker.created
    broker.hears({})
    assert broker.share.coordinator_of(KEY) is None
    assert broker.created == [SHARE_GROUP_STATE_TOPIC_NAME]


@pytest.mark.parametrize(
    "failure",
    [
        Errors.TOPIC_ALREADY_EXISTS.exception(),
        Errors.INVALID_REPLICATION_FACTOR.exception(),
        ConnectionError("no ZooKeeper"),
    ],
)
def test_a_topic_that_cannot_be_created_is_tried_again(broker: Broker, failure: Exception) -> None:
    broker.creation_error = failure
    broker.hears({})
    for _ in range(2):
        assert broker.share.coordinator_of(KEY) is None
    assert len(broker.created) == 2


def test_its_own_coordinator_is_asked_without_a_connection(broker: Broker) -> None:
    broker.hears({0: ME})
    told: list[Mapping[TopicIdPartition, PartitionErrorData]] = []
    partition = TopicIdPartition(KEY.topic_id, KEY.partition)
    broker.share.coordinator.startup(1)
    broker.share.coordinator.on_election(0, 0)
    broker.share.coordinator._partitions._led[0] = SimpleNamespace(  # type: ignore[assignment]
        leader_epoch=0,
        state=SimpleNamespace(initialize_state=lambda _key, _data, respond: respond(PartitionErrorData())),
    )
    broker.share.coordinator._partitions._loading.clear()
    broker.share.persister.initialize_state("group", {partition: PartitionStateData(0, 0)}, told.append)
    assert told == [{partition: PartitionErrorData()}]
