"""A topic that a group of workers keeps its state in: how it is created and checked.

Kafka 2.6: connect/runtime/.../connect/storage/KafkaTopicBasedBackingStore.java (topicInitializer, since 3.0),
connect/runtime/.../connect/runtime/distributed/DistributedConfig.java (topicSettings) · book 8.3.6
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.connect.runtime.topic_admin import COMPACTED, TopicAdmin


@dataclass(frozen=True)
class InternalTopic:
    """A compacted topic: the newest record of each key is what the group of workers knows.

    With ``cleanup.policy=delete``, the brokers' default, its connectors or offsets would be gone after a week. (0.10.2
    neither creates nor checks these topics. It leaves one that is missing to the brokers, which make it with that
    default.)
    """

    name: str
    setting: str
    """The configuration key by which a worker names the topic, such as ``config.storage.topic``."""
    purpose: str
    """The kind of data, for error messages: ``connector configurations``."""
    partitions: int
    """-1 for the brokers' default."""
    replication_factor: int
    """-1 for the brokers' default."""
    configs: Mapping[str, str]
    """More settings of the topic."""

    def create_or_check(self, admin: TopicAdmin) -> None:
        """Create the topic, or check the one that exists. Raises ConnectError."""
        configs = {**self.configs, **COMPACTED}
        if not admin.create_with_retry(self.name, self.partitions, self.replication_factor, configs):
            admin.verify_only_compact(self.name, self.setting, self.purpose)
