"""A cluster as MirrorAdmin shows it, without a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.source_connector import SourceConnector
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.mirror.connectors.mirror_admin import NewTopic
from kafka_lite.mirror.connectors.topic_config_sync import ConfigEntry
from kafka_lite.security.authorizer.acl_binding import AclBinding

BOTH = {
    "name": "copy", "source.cluster.alias": "west", "target.cluster.alias": "east",
    "source.cluster.bootstrap.servers": "w:1", "target.cluster.bootstrap.servers": "e:1",
}  # fmt: skip


class FakeCluster:
    """Topics and groups. ``is_down``: no broker responds; ``is_old``: its brokers are of before 2.3."""

    def __init__(self, **topics: int) -> None:
        self.by_name = {name.replace("_", "."): count for name, count in topics.items()}
        self.configs: dict[str, list[ConfigEntry]] = {}
        self.created: dict[str, NewTopic] = {}
        self.compacted: dict[str, int] = {}
        self.altered: dict[str, dict[str, str | None]] = {}
        self.refused: set[str] = set()
        self.acls: list[AclBinding] | None = None
        self.created_acls: list[AclBinding] = []
        self.offsets: dict[str, dict[TopicPartition, OffsetAndMetadata]] = {}
        self.states: dict[str, str] = {}
        self.is_down = self.is_old = False
        self.replaced: dict[str, dict[str, str]] = {}

    def _respond(self) -> None:
        if self.is_down:
            raise ConnectError("The cluster does not respond")

    def topics(self) -> dict[str, int]:
        self._respond()
        return dict(self.by_name)

    def ensure_compacted(self, topic: str, replication_factor: int) -> None:
        self._respond()
        self.compacted[topic] = replication_factor

    def create_topics(self, topics: Mapping[str, NewTopic]) -> dict[str, str]:
        self._respond()
        accepted = {topic: new for topic, new in topics.items() if topic not in self.refused}
        self.created |= accepted
        self.by_name |= {topic: new.partitions for topic, new in accepted.items()}
        return {topic: "no" for topic in topics if topic in self.refused}

    def create_partitions(self, counts: Mapping[str, int]) -> dict[str, str]:
        self._respond()
        self.by_name |= counts
        return {}

    def topic_configs(self, topics: Iterable[str]) -> dict[str, list[ConfigEntry]]:
        self._respond()
        return {topic: self.configs.get(topic, []) for topic in topics}

    def alter_topic_configs(self, changes: Mapping[str, Mapping[str, str | None]]) -> dict[str, str]:
        self._respond()
        if self.is_old:
            raise ApiError(Errors.UNSUPPORTED_VERSION)
        self.altered |= {topic: dict(of_topic) for topic, of_topic in changes.items()}
        return {}

    def replace_topic_configs(self, configs: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
        self._respond()
        self.replaced |= {topic: dict(of_topic) for topic, of_topic in configs.items()}
        return {}

    def topic_acls(self) -> list[AclBinding] | None:
        self._respond()
        return self.acls

    def create_acls(self, bindings: Sequence[AclBinding]) -> dict[str, str]:
        self._respond()
        names = {each.pattern.name for each in bindings}
        self.created_acls += [each for each in bindings if each.pattern.name not in self.refused]
        return dict.fromkeys(names & self.refused, "no")

    def groups(self) -> list[str]:
        self._respond()
        return sorted(self.offsets)

    def group_state(self, group: str) -> str:
        self._respond()
        return self.states.get(group, "Empty" if group in self.offsets else "Dead")

    def group_offsets(self, group: str) -> dict[TopicPartition, OffsetAndMetadata]:
        self._respond()
        return dict(self.offsets.get(group, {}))

    def commit(self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        self._respond()
        if self.states.get(group, "Empty") not in ("Empty", "Dead"):
            raise ApiError(Errors.UNKNOWN_MEMBER_ID)
        self.offsets.setdefault(group, {}).update(offsets)


class FakeClusters:
    """Both clusters of a mirror, and what a connector asks of the runtime."""

    def __init__(self, source: FakeCluster | None = None, target: FakeCluster | None = None) -> None:
        self.source = source or FakeCluster()
        self.target = target or FakeCluster()
        self.client_ids: list[object] = []
        self.reconfigurations = 0
        self.raised: list[BaseException] = []

    def admin(self, config: Mapping[str, object]) -> FakeCluster:
        """Kafka's MirrorAdmin of the cluster that the configuration names."""
        self.client_ids.append(config["client.id"])
        return {"w:1": self.source, "e:1": self.target}[str(config["bootstrap.servers"])]

    def initialize(self, connector: SourceConnector) -> None:
        """Be the connector's context."""
        connector.initialize(self)  # type: ignore[arg-type]  # the part that it calls

    def request_task_reconfiguration(self) -> None:
        self.reconfigurations += 1

    def raise_error(self, error: BaseException) -> None:
        self.raised.append(error)
