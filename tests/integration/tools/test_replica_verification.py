"""replica-verification on three brokers, and its comparison."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.admin.replica_verification import Batch, Fetched, Replicas, Verification
from kafka_lite.tools.main import main
from tests.support.brokers import TP, Brokers, three_brokers
from tests.support.eventually import eventually

CRC_POSITION = 17


@pytest.fixture
def brokers(tmp_path: Path) -> Iterator[Brokers]:
    with three_brokers(tmp_path) as brokers:
        yield brokers


def test_equal_replicas_are_verified_and_a_difference_is_reported(
    brokers: Brokers, capsys: pytest.CaptureFixture[str]
) -> None:
    brokers.create_topic("orders", {0: [0, 1, 2]})
    brokers.create_topic("other", {0: [1, 2]})
    for number in range(3):
        brokers.produce(*map(str, range(number * 10, number * 10 + 10)))
    # The followers' high watermarks follow the leader's with the next fetch.
    eventually(lambda: all(_high_watermark(brokers, each) == 30 for each in range(3)))
    verify = ["replica-verification", "--broker-list", brokers.bootstrap_servers, "--once", "--time", "-2"]
    assert main(verify) == 0
    out = capsys.readouterr().out
    assert "verification process is started." in out
    assert "max lag is 0 for partition" in out
    assert "among 2 partitions" in out

    log = brokers.log(2).dir / f"{0:020}.log"
    content = bytearray(log.read_bytes())
    content[CRC_POSITION] ^= 0xFF
    log.write_bytes(content)
    assert main([*verify, "--topic-white-list", "orders"]) == 1
    out = capsys.readouterr().out
    assert "partition orders-0 has unmatched checksum at offset 0; replica 0's checksum" in out
    assert "; replica 2's checksum" in out
    assert out.count("unmatched") == 1
    assert main([*verify, "--topic-white-list", "other"]) == 0


def _high_watermark(brokers: Brokers, broker_id: int) -> int:
    replica = brokers.partition(broker_id, TP).get_replica()
    assert replica is not None
    return replica.high_watermark.message_offset


def test_a_follower_can_be_read_by_tools(brokers: Brokers, capfd: pytest.CaptureFixture[str]) -> None:
    brokers.create_topic("orders", {0: [0, 1, 2]})
    brokers.produce("one", "two")
    eventually(lambda: _high_watermark(brokers, 1) == 2)
    shell = ["simple-consumer-shell", "--broker-list", brokers.bootstrap_servers, "--topic", "orders"]
    assert main([*shell, "--partition", "0", "--replica", "1", "--offset", "-2", "--no-wait-at-logend"]) == 0
    assert capfd.readouterr().out.splitlines()[:2] == ["one", "two"]


def test_a_partition_whose_broker_is_dead_cannot_be_verified(
    brokers: Brokers, capsys: pytest.CaptureFixture[str]
) -> None:
    brokers.create_topic("orders", {0: [0, 1, 2]})
    brokers.stop(2)
    eventually(brokers.know_each_other)
    assert main(["replica-verification", "--broker-list", brokers.bootstrap_servers, "--once"]) == 1
    assert "Cannot verify orders-0: broker 2 is not alive" in capsys.readouterr().err


def verification() -> Verification:
    return Verification({TP: Replicas(0, [0, 1])}, {TP: 0})


def fetched(*batches: tuple[int, int, int], high_watermark: int = 100) -> Fetched:
    return Fetched(high_watermark, [Batch(*batch) for batch in batches])


def test_replicas_are_compared_up_to_what_all_have_committed() -> None:
    check = verification()
    ahead, behind = fetched((0, 5, 1), (5, 9, 2)), fetched((0, 5, 1), (5, 9, 7), high_watermark=5)
    assert list(check.compare(TP, {0: ahead, 1: behind})) == []
    assert check.offsets == {TP: 5}
    assert check.report() == f"max lag is 95 for partition {TP} at offset 5 among 1 partitions"


def test_different_offsets_end_the_comparison_of_a_partition() -> None:
    check = verification()
    (line,) = check.compare(TP, {0: fetched((0, 5, 1)), 1: fetched((2, 5, 1))})
    assert line == "partition orders-0: replica 0's offset 0 doesn't match replica 1's offset 2"
    assert check.stopped == {TopicPartition("orders", 0)}
    assert check.unmatched == 1
