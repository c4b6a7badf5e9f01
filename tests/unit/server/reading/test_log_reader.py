"""Reading from a follower, and being sent there: over real logs, without a socket (KIP-392)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.errors import Errors
from kafka_lite.common.security.kafka_principal import ANONYMOUS
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.protocol.messages.api_06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataRequest,
)
from kafka_lite.server.fetch_params import ClientMetadata, FetchParams, FetchPartition
from kafka_lite.server.reading.replica_selector import (
    PartitionView,
    RackAwareReplicaSelector,
    ReplicaSelector,
    ReplicaView,
)
from tests.support.replica_managers import TP, Broker, offsets, only

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
LEADER, FOLLOWER, OTHER = 1, 2, 3
NEAR_LEADER, NEAR_FOLLOWER, ELSEWHERE = (
    ClientMetadata(rack, "reader", "127.0.0.1", ANONYMOUS, "PLAINTEXT") for rack in ("r1", "r2", "r9")
)


def names_brokers(broker: Broker, *ids: int) -> None:
    """The controller tells of these brokers, each in a rack of its own."""
    alive = [
        UpdateMetadataBroker(
            id=each, rack=f"r{each}",
            endpoints=[UpdateMetadataEndpoint(port=9000 + each, host="h", listener="PLAINTEXT", security_protocol=0)],
        )
        for each in ids
    ]  # fmt: skip
    broker.metadata_cache.update_cache(UpdateMetadataRequest(live_brokers=alive))


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """Broker 1, which knows the racks of the others, and sends consumers to them."""
    broker = Broker(tmp_path / "logs", properties={"replica.selector.class": RACK_AWARE, "broker.rack": "r1"})
    names_brokers(broker, LEADER, FOLLOWER)
    yield broker
    broker.close()


def follower_fetches(broker: Broker, offset: int, log_start_offset: int = 0, replica_id: int = FOLLOWER) -> None:
    params = FetchParams(replica_id, 0, 1, 1 << 20, hard_max_bytes=False)
    broker.replicas.fetch_messages(params, [(TP, FetchPartition(offset, 1 << 20, log_start_offset))], lambda _: None)


def preferred(broker: Broker, client: ClientMetadata | None, offset: int = 0) -> int | None:
    broker.fetched.clear()
    broker.fetch(TP, offset, client=client)
    result = only(broker.fetched)
    assert result.error is Errors.NONE
    assert (result.preferred_read_replica is None) == bool(offsets(result))
    return result.preferred_read_replica


class TestTheLeader:
    """It sends consumers to the follower in their rack."""

    @pytest.fixture(autouse=True)
    def _three_records(self, broker: Broker) -> None:
        broker.lead(TP, isr=(LEADER, FOLLOWER))
        broker.produce(TP, 3, acks=1)
        follower_fetches(broker, 3)

    def test_a_consumer_in_a_followers_rack_is_sent_there(self, broker: Broker) -> None:
        assert preferred(broker, NEAR_FOLLOWER) == FOLLOWER

    def test_the_response_has_the_bounds_of_the_log_and_comes_at_once(self, broker: Broker) -> None:
        broker.fetch(TP, 0, min_bytes=1000, max_wait_ms=10_000, client=NEAR_FOLLOWER)
        result = only(broker.fetched)
        assert (result.high_watermark, result.last_stable_offset, result.log_start_offset) == (3, 3, 0)

    @pytest.mark.parametrize("client", [NEAR_LEADER, ELSEWHERE, None], ids=["near", "far", "before Fetch 11"])
    def test_others_read_here(self, broker: Broker, client: ClientMetadata | None) -> None:
        assert preferred(broker, client) is None

    def test_a_follower_is_never_sent_elsewhere(self, broker: Broker) -> None:
        broker.fetch(TP, 0, replica_id=FOLLOWER)
        assert only(broker.fetched).preferred_read_replica is None

    def test_a_follower_that_has_not_got_there_yet_is_not_preferred(self, broker: Broker) -> None:
        broker.produce(TP, 3, acks=1)
        broker.fetch(TP, 4, client=NEAR_FOLLOWER)
        assert only(broker.fetched).preferred_read_replica is None

    def test_a_follower_whose_log_starts_later_is_not_preferred(self, broker: Broker) -> None:
        follower_fetches(broker, 3, log_start_offset=2)
        assert preferred(broker, NEAR_FOLLOWER, 1) is None
        assert preferred(broker, NEAR_FOLLOWER, 2) == FOLLOWER

    def test_a_follower_outside_the_isr_is_not_preferred(self, broker: Broker) -> None:
        broker.lead(TP, isr=(LEADER,), epoch=1, replicas=(FOLLOWER,))
        assert preferred(broker, NEAR_FOLLOWER) is None

    def test_a_follower_that_is_not_alive_is_not_preferred(self, broker: Broker) -> None:
        names_brokers(broker, LEADER, OTHER)
        assert preferred(broker, NEAR_FOLLOWER) is None

    def test_a_client_of_another_epoch_gets_its_error(self, broker: Broker) -> None:
        broker.fetch(TP, 0, client=NEAR_FOLLOWER, epoch=5)
        assert only(broker.fetched).error is Errors.UNKNOWN_LEADER_EPOCH


class Failing(ReplicaSelector):
    """A selector with a bug."""

    def select(self, *_: object) -> ReplicaView | None:
        raise ZeroDivisionError


class LastOne(RackAwareReplicaSelector):
    """Prefers what Kafka's would not."""

    def select(self, _partition: object, _client: object, partition_view: PartitionView) -> ReplicaView | None:
        return partition_view.replicas[-1]


@pytest.mark.parametrize(("name", "error", "chosen"), [("Failing", 1, None), ("LastOne", 0, FOLLOWER)])
def test_a_selector_of_the_user_decides(tmp_path: Path, name: str, error: int, chosen: int | None) -> None:
    """A bug of it is an error of the broker, as in Kafka: the client asks again."""
    broker = Broker(tmp_path / "logs", properties={"replica.selector.class": f"{__name__}.{name}"})
    names_brokers(broker, LEADER, FOLLOWER)
    broker.lead(TP, isr=(LEADER, FOLLOWER))
    follower_fetches(broker, 0)
    broker.fetch(TP, 0, client=ELSEWHERE)
    result = only(broker.fetched)
    assert (result.error is Errors.UNKNOWN_SERVER_ERROR, result.preferred_read_replica) == (bool(error), chosen)
    broker.close()


def test_without_a_selector_every_consumer_reads_from_the_leader(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "logs")
    names_brokers(broker, LEADER, FOLLOWER)
    broker.lead(TP, isr=(LEADER, FOLLOWER))
    broker.produce(TP, 3, acks=1)
    follower_fetches(broker, 3)
    assert preferred(broker, NEAR_FOLLOWER) is None
    broker.close()


class TestAFollower:
    """It serves consumers since Fetch 11 up to the high watermark that it knows."""

    @pytest.fixture
    def following(self, broker: Broker) -> Partition:
        """Broker 1 has five records, of which it knows two to be committed; broker 2 leads."""
        broker.lead(TP)
        broker.produce(TP, 5)
        broker.lead(TP, leader=FOLLOWER, isr=(LEADER, FOLLOWER), epoch=3)
        partition = broker.replicas.get_partition(TP)
        assert partition is not None
        self.commit(partition, 2)
        return partition

    @staticmethod
    def commit(partition: Partition, offset: int) -> None:
        replica = partition.get_replica()
        assert replica is not None
        replica.high_watermark = LogOffsetMetadata(offset)

    def test_a_consumer_reads_up_to_its_high_watermark(self, broker: Broker, following: Partition) -> None:
        broker.fetch(TP, 0, client=NEAR_LEADER, max_bytes=10_000)
        result = only(broker.fetched)
        assert (result.error, result.high_watermark, result.preferred_read_replica) == (Errors.NONE, 2, None)

    @pytest.mark.usefixtures("following")
    def test_a_consumer_before_fetch_11_does_not(self, broker: Broker) -> None:
        broker.fetch(TP, 0)
        assert only(broker.fetched).error is Errors.NOT_LEADER_OR_FOLLOWER

    @pytest.mark.usefixtures("following")
    def test_another_follower_does_not(self, broker: Broker) -> None:
        broker.fetch(TP, 0, replica_id=OTHER)
        assert only(broker.fetched).error is Errors.NOT_LEADER_OR_FOLLOWER

    @pytest.mark.usefixtures("following")
    @pytest.mark.parametrize(
        ("epoch", "error"),
        [(-1, Errors.NONE), (3, Errors.NONE), (2, Errors.FENCED_LEADER_EPOCH), (4, Errors.UNKNOWN_LEADER_EPOCH)],
    )
    def test_the_epoch_must_be_the_same(self, broker: Broker, epoch: int, error: Errors) -> None:
        broker.fetch(TP, 0, client=NEAR_LEADER, epoch=epoch)
        assert only(broker.fetched).error is error

    @pytest.mark.usefixtures("following")
    @pytest.mark.parametrize(("offset", "error"), [(5, Errors.NONE), (6, Errors.OFFSET_OUT_OF_RANGE)])
    def test_an_offset_beyond_its_log_is_out_of_range(self, broker: Broker, offset: int, error: Errors) -> None:
        broker.fetch(TP, offset, client=NEAR_LEADER)
        assert only(broker.fetched).error is error

    def test_a_consumer_that_has_seen_more_waits_for_the_high_watermark(
        self, broker: Broker, following: Partition
    ) -> None:
        """The leader had committed more when it was read: nothing is wrong, and asking again at once is no use."""
        broker.fetch(TP, 4, max_wait_ms=60_000, client=NEAR_LEADER)
        broker.replicas.complete_delayed_requests(TP)
        assert broker.fetched == []
        self.commit(following, 5)
        broker.replicas.complete_delayed_requests(TP)
        assert offsets(only(broker.fetched))[-1] == 4, "the batch with it"

    def test_a_waiting_consumer_learns_that_the_replica_has_gone(self, broker: Broker, following: Partition) -> None:
        broker.fetch(TP, 2, max_wait_ms=60_000, client=NEAR_LEADER)
        assert broker.fetched == []
        broker.stop(TP, delete=True)
        assert only(broker.fetched).error is Errors.UNKNOWN_TOPIC_OR_PARTITION
        assert only(broker.fetched).aborted_transactions == [], "not null, as in Kafka"
