"""The controller's requests: bytes sent by a Kafka 0.10.2.2 cluster, stale epochs, missing partitions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.errors import Errors
from kafka_lite.common.process.log_levels import TRACE
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import decode_request, decode_response, encode_response
from kafka_lite.protocol.messages.api_04_leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from kafka_lite.protocol.messages.api_05_stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from kafka_lite.protocol.messages.api_06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from kafka_lite.protocol.messages.api_07_controlled_shutdown import ControlledShutdownRequest
from kafka_lite.server.apis.replication_apis import ReplicationApis
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.testing.replica_managers import new_replica_manager, new_replica_state_changes

RECORDED = json.loads((Path(__file__).parents[3] / "data" / "inter-broker-0.10.2.json").read_text())
OFFSETS = "__consumer_offsets"
OWN_EPOCH = 70
"""The broker epoch of each broker that is registered."""
STALE, NOT_HERE = Errors.STALE_CONTROLLER_EPOCH.code, Errors.UNKNOWN_TOPIC_OR_PARTITION.code


class Broker:
    """Handlers over a replica manager with real logs; ``told`` records the coordinator's and others' notifications."""

    def __init__(self, directory: Path, broker_id: int = 1) -> None:
        self.told: list[tuple[Any, ...]] = []
        time = MockTime()
        scheduler = MockScheduler(time)
        config = KafkaConfig({"broker.id": broker_id, "zookeeper.connect": "embedded", "log.dirs": str(directory)})
        self.logs = LogManager([directory], {}, LogConfig(), scheduler, time)
        self.logs.startup()
        self.replicas = new_replica_manager(config, self.logs, scheduler, time)
        self.replicas.startup()
        self.cache = MetadataCache(broker_id)
        coordinators = {"__consumer_offsets": self.coordinator(), "__transaction_state": self.coordinator("txn ")}
        offsets = SimpleNamespace(handle_deleted_partitions=lambda deleted: self.told.append(("deleted", *deleted)))
        controller = SimpleNamespace(shutdown_broker=self.shutdown_broker)
        self.remaining: list[TopicPartition] = []
        apis = ReplicationApis(
            new_replica_state_changes(self.replicas, LogConfig()),
            self.cache,
            coordinators,
            cast(Any, offsets),
            cast(Any, controller),
            lambda topic: self.told.append(("changed", topic)),
            lambda listener: self.told.append(("metadata", listener)),
            lambda: self.told.append(("controller", "log directories")),
            lambda: OWN_EPOCH,
            {9: OWN_EPOCH}.get,
            lambda topic_ids: self.told.extend(("topic", topic_id) for topic_id in topic_ids),
        )
        self.handlers = {
            ApiKey.LEADER_AND_ISR: apis.handle_leader_and_isr,
            ApiKey.STOP_REPLICA: apis.handle_stop_replica,
            ApiKey.UPDATE_METADATA: apis.handle_update_metadata,
            ApiKey.CONTROLLED_SHUTDOWN: apis.handle_controlled_shutdown,
        }
        self.check_head = apis.check_head

    def coordinator(self, kind: str = "") -> Any:
        return SimpleNamespace(
            on_election=lambda index, epoch: self.told.append((f"{kind}elected", index, epoch)),
            on_resignation=lambda index, epoch: self.told.append((f"{kind}resigned", index, epoch)),
        )

    def shutdown_broker(self, broker_id: int, respond: Any) -> None:
        """As a controller that knows broker 9 only."""
        respond(*((Errors.NONE, self.remaining) if broker_id == 9 else (Errors.BROKER_NOT_AVAILABLE, ())))

    def ask(self, body: Any, version: int = 0) -> Any:
        responses: list[Any] = []
        request = SimpleNamespace(listener_name="INTERNAL", header=SimpleNamespace(api_version=version))
        self.handlers[body.API_KEY](cast(Any, request), body, responses.append)
        (response,) = responses
        return response

    def exchange(self, frame: bytes) -> bytes:
        header, body = decode_request(frame)
        parts = encode_response(self.ask(body, header.api_version), header.api_version, header.correlation_id)
        return b"".join(cast(list[bytes], parts))

    def lead(self, topic: str = "t", index: int = 0, leader: int = 1, **fields: Any) -> list[int]:
        controller = fields.pop("controller_epoch", 1)
        state = partition_state(topic, index, leader, **fields)
        request = LeaderAndIsrRequest(controller_id=1, controller_epoch=controller, ungrouped_partition_states=[state])
        return codes(self.ask(request))

    def partition(self, topic: str = "t", index: int = 0) -> Partition | None:
        return self.replicas.get_partition(TopicPartition(topic, index))

    def close(self) -> None:
        self.replicas.shutdown()
        self.logs.shutdown()


def partition_state(
    topic: str = "t", index: int = 0, leader: int = 1, epoch: int = 0, replicas: tuple[int, ...] = (1, 2)
) -> LeaderAndIsrPartitionState:
    return LeaderAndIsrPartitionState(
        topic_name=topic, partition_index=index, controller_epoch=1, leader=leader, leader_epoch=epoch,
        isr=list(replicas), partition_epoch=0, replicas=list(replicas),
    )  # fmt: skip


def codes(response: Any) -> list[int]:
    return [response.error_code, *(result.error_code for result in response.partition_errors)]


def stop(*names: tuple[str, int], delete: bool = True, epoch: int = 1) -> StopReplicaRequest:
    partitions = [StopReplicaPartitionV0(topic_name=topic, partition_index=index) for topic, index in names]
    return StopReplicaRequest(
        controller_id=1, controller_epoch=epoch, delete_partitions=delete, ungrouped_partitions=partitions
    )


def metadata(leader: int = 1, epoch: int = 1) -> UpdateMetadataRequest:
    state = UpdateMetadataPartitionState(
        topic_name="t", partition_index=0, controller_epoch=epoch, leader=leader, leader_epoch=0, isr=[1], replicas=[1]
    )
    broker = UpdateMetadataBroker(id=1, v0_host="h", v0_port=9092)
    return UpdateMetadataRequest(
        controller_id=1, controller_epoch=epoch, ungrouped_partition_states=[state], live_brokers=[broker]
    )


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    broker = Broker(tmp_path / "logs")
    yield broker
    broker.close()


# ── recorded bytes ────────────────────────────────────────────────────────────────────────────────────────────────────


def recorded_for(broker_id: int) -> list[dict[str, Any]]:
    """The requests of the recorded cluster's controllers to a broker, in order, and its responses."""
    to_it = f"-> broker {broker_id}"
    return [pair for pair in RECORDED if pair["api_key"] in (4, 5, 6) and pair["direction"].endswith(to_it)]


def in_order(response: Any) -> Any:
    """In Kafka, the order of a response's partitions is that of a hash map."""
    if hasattr(response, "partition_errors"):
        response.partition_errors.sort(key=lambda result: (result.topic_name, result.partition_index))
    return response


@pytest.mark.parametrize("broker_id", [1, 2, 3])
def test_recorded_requests_get_the_responses_of_a_real_broker(tmp_path: Path, broker_id: int) -> None:
    broker = Broker(tmp_path, broker_id)
    pairs = recorded_for(broker_id)
    assert {pair["api_key"] for pair in pairs} == {4, 5, 6}
    for pair in pairs:
        key, version, frame = ApiKey(pair["api_key"]), pair["version"], bytes.fromhex(pair["request_hex"])
        expected = bytes.fromhex(pair["response_hex"])
        refused = [p for p in pair["response"].get("partitions", ()) if p["error_code"] == STALE]
        for topic, index in [(p["topic"], p["partition"]) for p in refused]:
            # An earlier request, which is not in the recording, had this leader epoch. The leader was alive then.
            _, body = decode_request(frame)
            assert isinstance(body, LeaderAndIsrRequest)
            states = [s for s in body.partition_states() if (s.topic_name, s.partition_index) == (topic, index)]
            alive = [LeaderAndIsrLiveLeader(broker_id=state.leader, host_name="127.0.0.1", port=1) for state in states]
            epoch = body.controller_epoch
            earlier = LeaderAndIsrRequest(controller_epoch=epoch, ungrouped_partition_states=states, live_leaders=alive)
            broker.ask(earlier)
        found = broker.exchange(frame)
        assert len(found) == len(expected)
        correlation_id, response = decode_response(key, version, found)
        expected_id, expected_response = decode_response(key, version, expected)
        assert (correlation_id, in_order(response)) == (expected_id, in_order(expected_response)), pair["name"]
    broker.close()


def test_a_stale_controller_gets_the_recorded_response(tmp_path: Path) -> None:
    names = ("UpdateMetadata v3 from 9 with the new epoch", "UpdateMetadata with an old controller epoch")
    broker = Broker(tmp_path, 1)
    for name in names:
        pair = next(pair for pair in RECORDED if pair["name"] == name)
        assert broker.exchange(bytes.fromhex(pair["request_hex"])).hex() == pair["response_hex"]
    assert pair["response"] == {"error_code": STALE}
    broker.close()


def test_recorded_requests_to_a_broker_are_carried_out(tmp_path: Path) -> None:
    """Broker 9 was a script; our broker must be able to carry out what the real controller requested."""
    broker = Broker(tmp_path, 9)
    for pair in recorded_for(9):
        response = decode_response(
            ApiKey(pair["api_key"]), pair["version"], broker.exchange(bytes.fromhex(pair["request_hex"]))
        )[1]
        assert response.error_code == 0  # type: ignore[attr-defined]
        if pair["name"] == "delete topic f9 (9 alive)":
            assert not broker.cache.contains("f9")
        elif pair["name"] == "re-register" and pair["api_key"] == ApiKey.STOP_REPLICA and pair["request"]["partitions"]:
            gone = pair["request"]["delete_partitions"]
            for name in pair["request"]["partitions"]:
                assert (broker.partition(name["topic"], name["partition"]) is None) == gone
    broker.close()


@pytest.mark.parametrize("name", ["ControlledShutdown v1 of 9 to the controller", "delete topic f9 (9 alive)"])
def test_recorded_controlled_shutdowns(broker: Broker, name: str) -> None:
    """Version 1, and version 0, whose header has no client id."""
    pair = next(pair for pair in RECORDED if pair["api_key"] == 7 and pair["name"] == name)
    assert broker.exchange(bytes.fromhex(pair["request_hex"])).hex() == pair["response_hex"]


# ── broker epochs ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("epoch", "is_stale"), [(-1, False), (69, True), (70, False), (71, False)])
def test_a_request_for_an_earlier_run_of_the_broker_is_rejected(broker: Broker, epoch: int, is_stale: bool) -> None:
    expected = Errors.STALE_BROKER_EPOCH.code if is_stale else 0
    topics = [LeaderAndIsrTopicState(topic_name="t", partition_states=[partition_state()])]
    requests = [
        LeaderAndIsrRequest(controller_epoch=1, broker_epoch=epoch, topic_states=topics),
        UpdateMetadataRequest(controller_epoch=1, broker_epoch=epoch),
        StopReplicaRequest(controller_epoch=1, broker_epoch=epoch),
        ControlledShutdownRequest(broker_id=9, broker_epoch=epoch),
    ]
    assert [broker.ask(request).error_code for request in requests] == [expected] * 4
    assert (broker.partition() is None) == is_stale


# ── LeaderAndIsr ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_partition_without_our_replica_is_unknown(broker: Broker) -> None:
    assert broker.lead(replicas=(2, 3)) == [0, NOT_HERE]
    assert broker.partition() is None


def test_only_an_older_leader_epoch_is_worth_a_warning(broker: Broker, caplog: pytest.LogCaptureFixture) -> None:
    """A new controller repeats the state of every partition to every broker."""
    broker.lead(epoch=3)
    with caplog.at_level("INFO"):
        assert broker.lead(epoch=3, controller_epoch=2) == [0, STALE]
        assert not caplog.records
        assert broker.lead(epoch=2, controller_epoch=2) == [0, STALE]
    (warning,) = caplog.records
    assert "leader epoch 2 is not higher than the current leader epoch 3" in warning.message
    caplog.clear()
    with caplog.at_level(TRACE, "state.change.logger"):
        broker.lead(epoch=3, controller_epoch=2)
    assert any("epoch 3 is not higher" in each.message for each in caplog.records)


def test_leader_and_isr_of_a_stale_controller_is_rejected(broker: Broker) -> None:
    assert broker.lead(controller_epoch=2) == [0, 0]
    assert broker.lead(index=1, controller_epoch=1) == [STALE]
    assert broker.partition(index=1) is None


def test_leader_and_isr_with_partitions_flat_and_grouped_by_topic(broker: Broker) -> None:
    topics = [LeaderAndIsrTopicState(topic_name="t", partition_states=[partition_state(index=i) for i in (0, 1)])]
    assert codes(broker.ask(LeaderAndIsrRequest(controller_epoch=1, topic_states=topics))) == [0, 0, 0]
    assert broker.partition(index=1) is not None
    assert broker.lead() == [0, STALE]  # the same leader epoch


def test_groups_follow_the_leaders_of_their_partitions(broker: Broker) -> None:
    assert broker.lead(OFFSETS, 0, leader=1, epoch=5) == [0, 0]
    assert broker.lead(OFFSETS, 1, leader=2, epoch=6) == [0, 0]
    assert broker.lead(OFFSETS, 0, leader=1, epoch=5) == [0, STALE]
    assert broker.lead("other", 0, leader=1, epoch=5) == [0, 0]
    assert broker.told == [("elected", 0, 5), ("resigned", 1, 6)]


def test_transactional_ids_follow_the_leaders_of_their_partitions(broker: Broker) -> None:
    assert broker.lead("__transaction_state", 0, leader=1, epoch=5) == [0, 0]
    assert broker.lead("__transaction_state", 1, leader=2, epoch=6) == [0, 0]
    broker.ask(stop(("__transaction_state", 0)))
    assert broker.told == [("txn elected", 0, 5), ("txn resigned", 1, 6), ("txn resigned", 0, None)]


# ── StopReplica ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_deleted_partition_loses_its_log(broker: Broker) -> None:
    broker.lead()
    assert codes(broker.ask(stop(("t", 0)))) == [0, 0]
    assert broker.partition() is None
    assert broker.logs.get_log(TopicPartition("t", 0)) is None


def test_a_stopped_partition_keeps_its_leader(broker: Broker) -> None:
    broker.lead()
    assert codes(broker.ask(stop(("t", 0), delete=False))) == [0, 0]
    assert broker.replicas.get_leader_log(TopicPartition("t", 0))
    assert broker.lead() == [0, STALE]  # it keeps its leader epoch, too


def test_stopping_an_unknown_partition_is_no_error(broker: Broker) -> None:
    assert codes(broker.ask(stop(("t", 0), ("t", 1)))) == [0, 0, 0]
    assert codes(broker.ask(stop(delete=False))) == [0]


def test_a_log_without_a_partition_is_deleted(broker: Broker) -> None:
    """The log of a topic that was deleted while this broker was down."""
    left = TopicPartition("t", 0)
    broker.logs.get_or_create_log(left, LogConfig())
    assert codes(broker.ask(stop(left))) == [0, 0]
    assert broker.logs.get_log(left) is None


def test_stop_replica_of_a_stale_controller_is_rejected(broker: Broker) -> None:
    broker.lead(controller_epoch=2)
    assert codes(broker.ask(stop(("t", 0), epoch=1))) == [STALE]
    assert broker.partition() is not None


@pytest.mark.parametrize(
    "fields",
    [
        {"delete_partitions": True, "topics": [StopReplicaTopicV1(name="t", partition_indexes=[0])]},
        {"topic_states": [StopReplicaTopicState(topic_name="t", partition_states=[
            StopReplicaPartitionState(partition_index=0, delete_partition=True)])]},
    ],
)  # fmt: skip
def test_stop_replica_of_later_versions(broker: Broker, fields: dict[str, Any]) -> None:
    broker.lead()
    assert codes(broker.ask(StopReplicaRequest(controller_epoch=1, **fields))) == [0, 0]
    assert broker.partition() is None


def test_groups_of_deleted_partitions_are_unloaded(broker: Broker) -> None:
    broker.ask(stop((OFFSETS, 2), ("other", 2), delete=False))
    assert broker.told == []
    broker.ask(stop((OFFSETS, 2), ("other", 2)))
    assert broker.told == [("resigned", 2, None)]
    broker.lead(controller_epoch=9)
    broker.ask(stop((OFFSETS, 3)))  # of a stale controller
    assert broker.told == [("resigned", 2, None)]


# ── UpdateMetadata ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_metadata_of_the_controller_is_cached(broker: Broker) -> None:
    assert broker.ask(metadata()).error_code == 0
    assert broker.cache.contains("t")
    assert broker.cache.await_snapshot(lambda metadata: 1 in metadata.alive_brokers, timeout_s=0)
    assert not broker.cache.await_snapshot(lambda metadata: 2 in metadata.alive_brokers, timeout_s=0)
    assert broker.told == [("changed", "t"), ("metadata", "INTERNAL")]


def test_metadata_of_a_stale_controller_is_rejected(broker: Broker) -> None:
    broker.lead(controller_epoch=2)
    assert broker.ask(metadata(epoch=1)).error_code == STALE
    assert not broker.cache.contains("t")
    assert broker.told == []
    assert broker.ask(metadata(epoch=3)).error_code == 0
    assert broker.lead(index=1, controller_epoch=2) == [STALE]  # all three kinds of requests share the epoch


def test_offsets_of_deleted_partitions_are_dropped(broker: Broker) -> None:
    broker.ask(metadata())
    broker.told.clear()
    assert broker.ask(metadata(leader=-2)).error_code == 0
    assert broker.told == [("deleted", TopicPartition("t", 0)), ("changed", "t"), ("metadata", "INTERNAL")]


def test_coordinators_hear_of_the_ids_of_deleted_topics(broker: Broker) -> None:
    def told(leader: int) -> list[Any]:
        broker.told.clear()
        state = UpdateMetadataTopicState(
            topic_name="t", topic_id=UUID(int=7), partition_states=metadata(leader).ungrouped_partition_states
        )
        request = metadata()
        request.ungrouped_partition_states, request.topic_states = [], [state]
        assert broker.ask(request, 7).error_code == 0
        return [each for each in broker.told if each[0] == "topic"]

    assert told(leader=1) == []
    assert told(leader=-2) == [("topic", UUID(int=7))]
    assert told(leader=-2) == []


# ── ControlledShutdown ────────────────────────────────────────────────────────────────────────────────────────────────


def test_controlled_shutdown_lists_the_partitions_that_could_not_be_moved(broker: Broker) -> None:
    broker.remaining = [TopicPartition("t", 3)]
    response = broker.ask(ControlledShutdownRequest(broker_id=9))
    assert response.error_code == 0
    assert [(p.topic_name, p.partition_index) for p in response.remaining_partitions] == [("t", 3)]


def test_controlled_shutdown_of_an_unknown_broker(broker: Broker) -> None:
    response = broker.ask(ControlledShutdownRequest(broker_id=8))
    assert (response.error_code, response.remaining_partitions) == (Errors.BROKER_NOT_AVAILABLE.code, [])


@pytest.mark.parametrize(
    ("topic", "index"), [("../../escape", 0), ("..", 0), ("", 0), ("a/b", 0), ("x" * 250, 0), ("t", -1)]
)
def test_names_that_are_no_folders_are_refused_without_a_traceback(
    tmp_path: Path, broker: Broker, caplog: pytest.LogCaptureFixture, topic: str, index: int
) -> None:
    led, stopped = partition_state(topic, index), StopReplicaTopicV1(name=topic, partition_indexes=[index])
    known = UpdateMetadataPartitionState(topic_name=topic, partition_index=index, leader=1, isr=[1], replicas=[1])
    folders = sorted(tmp_path.parent.rglob("*"))
    for body in (
        LeaderAndIsrRequest(controller_id=1, controller_epoch=1, ungrouped_partition_states=[partition_state(), led]),
        StopReplicaRequest(controller_id=1, controller_epoch=1, delete_partitions=True, topics=[stopped]),
        UpdateMetadataRequest(controller_id=1, controller_epoch=1, ungrouped_partition_states=[known]),
    ):
        assert broker.ask(body).error_code == Errors.INVALID_TOPIC_EXCEPTION.code
    assert [record.exc_info for record in caplog.records] == [None] * 3
    assert sorted(tmp_path.parent.rglob("*")) == folders
    assert not broker.cache.contains(topic)
    assert broker.partition() is None, "nothing of such a request is done"


def test_the_response_names_topics_by_id_from_version_5_on(broker: Broker) -> None:
    state, topic_id = partition_state(), UUID(int=7)
    topic = LeaderAndIsrTopicState(topic_name="t", topic_id=topic_id, partition_states=[state])
    response = broker.ask(LeaderAndIsrRequest(controller_id=1, controller_epoch=1, topic_states=[topic]), 5)
    assert response.partition_errors == []
    (found,) = response.topics
    assert (found.topic_id, [each.error_code for each in found.partition_errors]) == (topic_id, [0])
    response.encode(5)


# ---- heads -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest])
def test_the_head_of_a_request_is_refused_for_its_epochs_only(broker: Broker, kind: Any) -> None:
    def refusal(**epochs: int) -> list[int]:
        responses: list[Any] = []
        broker.check_head(cast(Any, SimpleNamespace(connection_id="c")), kind(**epochs), responses.append)
        return [response.error_code for response in responses]

    assert broker.lead(controller_epoch=3) == [0, 0]
    assert refusal(controller_epoch=2) == [STALE]
    assert refusal(controller_epoch=3) == refusal(controller_epoch=4) == []
    assert refusal(controller_epoch=3, broker_epoch=OWN_EPOCH) == refusal(controller_epoch=3, broker_epoch=-1) == []
    assert refusal(controller_epoch=3, broker_epoch=OWN_EPOCH - 1) == [Errors.STALE_BROKER_EPOCH.code]
    assert broker.partition() is not None, "nothing is done"
