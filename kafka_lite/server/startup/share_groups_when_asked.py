"""Share groups in a broker until somebody has one: handlers that make what serves them, and nothing more.

What serves share groups is some fifty modules, with threads and metrics of their own. Share groups are off by default,
so most brokers run without any of it.

Kafka 4.1: core/.../server/BrokerServer.scala (createShareCoordinator, sharePartitionManager) · book 10.3
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING
from uuid import UUID

from kafka_lite.common.time import Time
from kafka_lite.common.topic_names import SHARE_GROUP_STATE_TOPIC_NAME
from kafka_lite.coordinator.share.persister import Persister
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.server.apis.api_handler import Handler
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.startup.made_when_asked import MadeWhenAsked, late_handler
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

if TYPE_CHECKING:
    from kafka_lite.server.apis.share.share_fetch_apis import ShareFetchApis
    from kafka_lite.server.apis.share.share_group_apis import ShareGroupApis
    from kafka_lite.server.apis.share.share_group_offset_apis import ShareGroupOffsetApis
    from kafka_lite.server.apis.share.share_state_apis import ShareStateApis
    from kafka_lite.server.startup.share_coordination import ShareCoordination


class LateShareCoordination:
    """``ShareCoordination``, made when this broker first leads a partition of ``__share_group_state``, or a share group
    first needs the state of a partition."""

    def __init__(
        self,
        config: KafkaConfig,
        replica_manager: ReplicaManager,
        metadata_cache: MetadataCache,
        create_topic: Callable[[str], None],
        metrics: Metrics,
        time: Time,
    ) -> None:
        """The same arguments."""
        self._num_partitions = config.share_coordinator.state_topic_num_partitions

        def make() -> ShareCoordination:
            from kafka_lite.server.startup.share_coordination import ShareCoordination

            made = ShareCoordination(config, replica_manager, metadata_cache, create_topic, metrics, time)
            made.coordinator.startup(self._num_partitions)
            return made

        self.coordination = MadeWhenAsked(make)
        """Calling it returns what is made late."""

    def startup(self, zk_client: KafkaZkClient) -> None:
        """An existing topic ``__share_group_state`` determines the number of its partitions."""
        assignment = zk_client.get_topic_assignment(SHARE_GROUP_STATE_TOPIC_NAME)
        if assignment is not None:
            self._num_partitions = len(assignment.partitions)

    def shutdown(self) -> None:
        """Stop asking and serving."""
        if self.coordination.made is not None:
            self.coordination.made.shutdown()

    def persister(self) -> Persister:
        """The keeper of the states of share groups."""
        return self.coordination().persister

    def on_election(self, partition: int, leader_epoch: int) -> None:
        """This broker leads a partition of the topic."""
        self.coordination().coordinator.on_election(partition, leader_epoch)

    def on_resignation(self, partition: int, leader_epoch: int | None) -> None:
        """Another broker leads it, or none."""
        if self.coordination.made is not None:
            self.coordination.made.coordinator.on_resignation(partition, leader_epoch)

    def on_topics_deleted(self, topic_ids: Collection[UUID]) -> None:
        """Forget the state of these topics."""
        if self.coordination.made is not None:
            self.coordination.made.coordinator.on_topics_deleted(topic_ids)

    def share_state_apis(self) -> ShareStateApis:
        """Handlers of requests to the coordinator."""
        return self.coordination().share_state_apis()


def share_handlers(
    states: Callable[[], ShareStateApis],
    groups: Callable[[], ShareGroupApis],
    offsets: Callable[[], ShareGroupOffsetApis],
    fetch: Callable[[], ShareFetchApis],
) -> dict[ApiKey, Handler]:
    """The handlers of all requests about share groups; each asks for its object when the first request has come."""
    return {
        ApiKey.SHARE_GROUP_HEARTBEAT: late_handler(lambda: groups().handle_heartbeat),
        ApiKey.SHARE_GROUP_DESCRIBE: late_handler(lambda: groups().handle_describe),
        ApiKey.SHARE_FETCH: late_handler(lambda: fetch().handle_share_fetch),
        ApiKey.SHARE_ACKNOWLEDGE: late_handler(lambda: fetch().handle_share_acknowledge),
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: late_handler(lambda: offsets().handle_describe),
        ApiKey.ALTER_SHARE_GROUP_OFFSETS: late_handler(lambda: offsets().handle_alter),
        ApiKey.DELETE_SHARE_GROUP_OFFSETS: late_handler(lambda: offsets().handle_delete),
        ApiKey.INITIALIZE_SHARE_GROUP_STATE: late_handler(lambda: states().handle_initialize),
        ApiKey.READ_SHARE_GROUP_STATE: late_handler(lambda: states().handle_read),
        ApiKey.WRITE_SHARE_GROUP_STATE: late_handler(lambda: states().handle_write),
        ApiKey.DELETE_SHARE_GROUP_STATE: late_handler(lambda: states().handle_delete),
        ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: late_handler(lambda: states().handle_read_summary),
    }
