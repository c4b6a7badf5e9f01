"""Looks at a group all the time: each partition has one owner at most."""

from __future__ import annotations

import threading
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.support.patience import patient_s
from tests.support.patient_clients import answer


class GroupWatcher(threading.Thread):
    """A thread that describes the group again and again, and fails at its end if a partition had two owners."""

    def __init__(self, bootstrap_servers: str, group: str) -> None:
        super().__init__(name="watcher", daemon=True)
        self._admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})
        self._group = group
        self._stopping = threading.Event()
        self.looks = 0
        self.shared: list[object] = []

    def run(self) -> None:
        while not self._stopping.wait(0.05):
            try:
                members = answer(self._admin.describe_consumer_groups([self._group])[self._group]).members
            except KafkaException:
                continue  # the coordinator is moving
            owned = [tp.partition for member in members for tp in member.assignment.topic_partitions]
            self.looks += 1
            if len(owned) != len(set(owned)):
                self.shared.append([(m.client_id, m.assignment.topic_partitions) for m in members])

    def stop(self) -> None:
        self._stopping.set()
        self.join(patient_s(60))
        assert self.shared == []
        assert self.looks > 10

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
