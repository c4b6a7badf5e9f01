"""A leader whose disk is full while followers have room: they lead, and an idempotent producer goes on."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka import Producer

from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.full_disk import FullDisk
from tests.support.patience import patient_s


def test_followers_with_room_lead_and_an_idempotent_producer_goes_on(tmp_path: Path, full_disk: FullDisk) -> None:
    with Cluster(brokers=3, data_dir=tmp_path) as cluster:
        cluster.create_topic("orders", partitions=1)
        full = cluster.leader_of("orders", 0)
        failures: list[object] = []
        producer = Producer(
            {"bootstrap.servers": cluster.bootstrap_servers, "enable.idempotence": True, "message.timeout.ms": 60_000}
        )

        def produce(number: int) -> None:
            producer.produce(
                "orders", b"%d" % number, on_delivery=lambda error, _: failures.append(error) if error else None
            )
            assert producer.flush(patient_s(60)) == 0

        produce(0)
        full_disk.fill(full.server.log_manager.log_dirs[0])
        for number in range(1, 20):
            produce(number)
        assert failures == []
        assert cluster.leader_of("orders", 0) is not full
        assert cluster.values("orders", 0) == [b"%d" % number for number in range(20)]
        others = [each.id for each in cluster.brokers if each is not full]
        cluster.wait_for_isr("orders", 0, brokers=others)
        full_disk.make_room()
        eventually(lambda: not full.server.log_manager.log_dir_failure_channel.full_log_dirs)
        cluster.wait_for_isr("orders", 0)
        produce(20)
        assert failures == []
