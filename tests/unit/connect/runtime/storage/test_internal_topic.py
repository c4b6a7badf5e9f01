from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.storage.internal_topic import InternalTopic

TOPIC = InternalTopic(
    name="connect-configs", setting="config.storage.topic", purpose="connector configurations", partitions=1,
    replication_factor=3, configs={"min.insync.replicas": "2", "cleanup.policy": "delete"},
)  # fmt: skip


class FakeAdmin:
    def __init__(self, *, exists: bool, is_compacted: bool = True) -> None:
        self.exists, self.is_compacted = exists, is_compacted
        self.calls: list[tuple[Any, ...]] = []

    def create_with_retry(self, *arguments: Any) -> bool:
        self.calls.append(arguments)
        return not self.exists

    def verify_only_compact(self, *arguments: Any) -> bool:
        self.calls.append(arguments)
        if not self.is_compacted:
            raise ConnectError("not compacted")
        return True


CREATED = ("connect-configs", 1, 3, {"min.insync.replicas": "2", "cleanup.policy": "compact"})


def test_a_topic_that_is_missing_is_created_compacted() -> None:
    admin = FakeAdmin(exists=False)
    TOPIC.create_or_check(admin)  # type: ignore[arg-type]
    assert admin.calls == [CREATED]


def test_one_that_is_there_has_to_be_compacted() -> None:
    admin = FakeAdmin(exists=True)
    TOPIC.create_or_check(admin)  # type: ignore[arg-type]
    assert admin.calls == [CREATED, ("connect-configs", "config.storage.topic", "connector configurations")]
    with pytest.raises(ConnectError, match="not compacted"):
        TOPIC.create_or_check(FakeAdmin(exists=True, is_compacted=False))  # type: ignore[arg-type]
