"""Who gets a producer id, and of which partitions a broker can tell the producers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_coordinator import InitProducerIdResult
from kafka_lite.protocol.messages import api_22_init_producer_id as init_producer_id
from kafka_lite.protocol.messages import api_61_describe_producers as describe_producers
from kafka_lite.server.apis.producer_id_apis import ProducerIdApis

HERE, NO_LOG, ELSEWHERE, NOWHERE, OFFLINE = range(5)


def entry(first_offset: int | None) -> SimpleNamespace:
    return SimpleNamespace(
        producer_id=70,
        producer_epoch=3,
        last_seq=9,
        last_timestamp=1234,
        coordinator_epoch=8,
        current_txn_first_offset=first_offset,
    )


class Apis:
    def __init__(self) -> None:
        self.error = Errors.NONE
        self.initialized: list[tuple[Any, ...]] = []
        self.producers: dict[int, Any] = {70: entry(None)}
        anything = cast(Any, self)
        self.apis = ProducerIdApis(anything, anything, anything)

    def generate_producer_id(self) -> int:
        if self.error is not Errors.NONE:
            raise self.error.exception()
        return 1000

    def handle_init_producer_id(self, *arguments: Any) -> None:
        *asked, send = arguments
        self.initialized.append(tuple(asked))
        send(InitProducerIdResult(ProducerIdAndEpoch(70, 4), self.error))

    def get_partition(self, topic_partition: TopicPartition) -> Any:
        log = SimpleNamespace(producer_state=SimpleNamespace(active_producers=self.producers))
        logs = {HERE: log, NO_LOG: None}
        index = topic_partition.partition
        return SimpleNamespace(log=logs[index]) if index in logs else None

    def get_leader_partition(self, topic_partition: TopicPartition) -> Any:
        reasons = {
            ELSEWHERE: Errors.NOT_LEADER_OR_FOLLOWER,
            NOWHERE: Errors.UNKNOWN_TOPIC_OR_PARTITION,
            OFFLINE: Errors.KAFKA_STORAGE_ERROR,
        }
        raise reasons[topic_partition.partition].exception()

    def init(self, version: int = 4, **fields: Any) -> tuple[Errors, int, int]:
        request = SimpleNamespace(header=SimpleNamespace(api_version=version))
        responses: list[Any] = []
        body = init_producer_id.InitProducerIdRequest(**fields)
        self.apis.handle_init_producer_id(cast(Any, request), body, responses.append)
        (response,) = responses
        return Errors.for_code(response.error_code), response.producer_id, response.producer_epoch

    def describe(self, *partitions: int, topic: str = "t") -> list[Any]:
        asked = describe_producers.TopicRequest(name=topic, partition_indexes=list(partitions))
        responses: list[Any] = []
        self.apis.handle_describe_producers(
            cast(Any, None), describe_producers.DescribeProducersRequest(topics=[asked]), responses.append
        )
        ((described,),) = [response.topics for response in responses]
        assert described.name == topic
        assert [each.partition_index for each in described.partitions] == list(partitions)
        return cast("list[Any]", described.partitions)


@pytest.fixture
def apis() -> Apis:
    return Apis()


@pytest.mark.parametrize("named", [{}, {"producer_id": 5, "producer_epoch": 2}])
def test_a_producer_without_a_transactional_id_gets_a_new_id(apis: Apis, named: dict[str, int]) -> None:
    assert apis.init(transactional_id=None, **named) == (Errors.NONE, 1000, 0)
    assert apis.initialized == []


def test_without_a_block_of_ids_the_producer_gets_the_error(apis: Apis) -> None:
    apis.error = Errors.COORDINATOR_LOAD_IN_PROGRESS
    assert apis.init(transactional_id=None) == (Errors.COORDINATOR_LOAD_IN_PROGRESS, -1, -1)


@pytest.mark.parametrize("named", [{"producer_id": 5}, {"producer_epoch": 2}])
@pytest.mark.parametrize("transactional_id", ["x", None])
def test_an_id_without_an_epoch_is_invalid_and_so_is_an_epoch_without_an_id(
    apis: Apis, named: dict[str, int], transactional_id: str | None
) -> None:
    assert apis.init(transactional_id=transactional_id, **named) == (Errors.INVALID_REQUEST, -1, -1)
    assert apis.initialized == []


@pytest.mark.parametrize(
    ("named", "expected"), [({}, None), ({"producer_id": 70, "producer_epoch": 3}, ProducerIdAndEpoch(70, 3))]
)
def test_the_coordinator_decides_about_transactional_ids(
    apis: Apis, named: dict[str, int], expected: ProducerIdAndEpoch | None
) -> None:
    assert apis.init(transactional_id="x", transaction_timeout_ms=500, **named) == (Errors.NONE, 70, 4)
    assert apis.initialized == [("x", 500, expected)]


@pytest.mark.parametrize(("version", "told"), [(3, Errors.INVALID_PRODUCER_EPOCH), (4, Errors.PRODUCER_FENCED)])
def test_old_producers_learn_of_a_fence_as_an_invalid_epoch(apis: Apis, version: int, told: Errors) -> None:
    apis.error = Errors.PRODUCER_FENCED
    assert apis.init(version, transactional_id="x")[0] is told


@pytest.mark.parametrize(("first_offset", "told"), [(None, -1), (0, 0), (55, 55)])
def test_a_producer_is_described_with_its_open_transaction(apis: Apis, first_offset: int | None, told: int) -> None:
    apis.producers = {70: entry(first_offset)}
    (found,) = apis.describe(HERE)
    (producer,) = found.active_producers
    assert found.error_code == 0
    assert (producer.producer_id, producer.producer_epoch, producer.last_sequence) == (70, 3, 9)
    assert (producer.last_timestamp, producer.coordinator_epoch) == (1234, 8)
    assert producer.current_txn_start_offset == told


def test_producers_of_partitions_that_are_not_here_are_unknown(apis: Apis) -> None:
    found = apis.describe(HERE, NO_LOG, ELSEWHERE, NOWHERE, OFFLINE)
    assert [Errors.for_code(each.error_code) for each in found] == [
        Errors.NONE,
        Errors.NOT_LEADER_OR_FOLLOWER,
        Errors.NOT_LEADER_OR_FOLLOWER,
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
        Errors.KAFKA_STORAGE_ERROR,
    ]
    assert not any(each.active_producers for each in found[1:])


def test_a_topic_with_an_illegal_name_is_refused(apis: Apis) -> None:
    (found,) = apis.describe(HERE, topic="a b")
    assert Errors.for_code(found.error_code) is Errors.INVALID_TOPIC_EXCEPTION
