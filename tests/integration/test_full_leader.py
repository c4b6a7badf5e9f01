"""A leader whose disk is full while followers have room: they lead, and an idempotent producer goes on."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kafka_lite.log.dirs.room import PROBE_FILE
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually


class FullDirectory:
    """Stands in for ``os.pwrite``: while it is full, the files of one log directory do not grow."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = ""
        self._pwrite = os.pwrite
        monkeypatch.setattr(os, "pwrite", self.pwrite)

    def pwrite(self, fd: int, data: memoryview, position: int) -> int:
        path = os.readlink(f"/proc/self/fd/{fd}") if self.directory else ""
        grows = position + len(data) > os.fstat(fd).st_size
        if self.directory and path.startswith(self.directory) and (grows or path.endswith(PROBE_FILE)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._pwrite(fd, data, position)


def test_followers_with_room_lead_and_an_idempotent_producer_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDirectory(monkeypatch)
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
            assert producer.flush(60) == 0

        produce(0)
        disk.directory = str(full.server.log_manager.log_dirs[0])
        for number in range(1, 20):
            produce(number)
        assert failures == []
        assert cluster.leader_of("orders", 0) is not full
        assert cluster.values("orders", 0) == [b"%d" % number for number in range(20)]
        others = [each.id for each in cluster.brokers if each is not full]
        cluster.wait_for_isr("orders", 0, brokers=others)
        disk.directory = ""
        eventually(lambda: not full.server.log_manager.log_dir_failure_channel.full_log_dirs)
        cluster.wait_for_isr("orders", 0)
        produce(20)
        assert failures == []
