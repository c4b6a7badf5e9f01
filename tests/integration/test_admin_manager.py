"""The admin manager and the config manager, with controller and embedded ZooKeeper, but without logs or sockets."""

import queue
import time

import pytest

from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.common.time import SYSTEM_TIME, MockTime
from kafka_lite.controller.controller_config import ControllerConfig
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrResponse
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest, StopReplicaResponse
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_lite.protocol.messages.api_32_describe_configs import DescribeConfigsResource
from kafka_lite.protocol.messages.api_33_alter_configs import AlterableConfig, AlterConfigsResource
from kafka_lite.protocol.messages.api_37_create_partitions import CreatePartitionsAssignment, CreatePartitionsTopic
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import AlterableConfig as ConfigOp
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import AlterConfigsResource as IncrementalResource
from kafka_lite.server.admin.admin_manager import AdminManager
from kafka_lite.server.admin.config_admin_manager import BROKER_RESOURCE, TOPIC_RESOURCE, ConfigAdminManager
from kafka_lite.server.dynamic.config_handler import BrokerConfigHandler, TopicConfigHandler
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.dynamic.dynamic_config_manager import DynamicConfigManager
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.quotas.controller_mutation_quota_manager import (
    ControllerMutationQuota,
    UnboundedControllerMutationQuota,
)
from kafka_lite.server.quotas.quota_factory import quota_managers
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import ZkConnectionError
from tests.support.controllers import new_controller
from tests.support.eventually import eventually
from tests.support.patience import patient_s

SETTINGS = {
    "zookeeper.connect": "x",
    "broker.id": "1",
    "num.partitions": "2",
    "log.retention.hours": "1",
    "background.threads": "11",
    "ssl.key.password": "secret",
}


class OneBroker:
    """Assembles these parts as KafkaServer does."""

    def __init__(self, connect_string):
        self.config = KafkaConfig(SETTINGS)
        self.zk = KafkaZkClient(connect_string)
        self.zk.start()
        self.zk.create_persistent_paths()
        self.cache = MetadataCache(1)
        self.dynamic = DynamicBrokerConfig(self.config)
        self.admin = self.new_admin_manager()
        self.configs = ConfigAdminManager(self.config, self.cache, self.zk, self.dynamic)
        end_point = EndPoint("127.0.0.1", 9092, "PLAINTEXT", SecurityProtocol.PLAINTEXT)
        self.zk.register_broker(1, Broker(1, (end_point,)).to_registration())
        defaults = self.config.log_config_map()
        self.topic_configs, self.elections = queue.Queue(), queue.Queue()
        self.mutations: ControllerMutationQuota = UnboundedControllerMutationQuota()
        self.quotas = quota_managers(self.config, MockTime(), Metrics())
        handlers = {
            "topics": TopicConfigHandler(
                lambda topic, c: self.topic_configs.put((topic, c)), lambda: defaults, self.elections.put, self.quotas
            ),
            "brokers": BrokerConfigHandler(self.dynamic, self.quotas),
        }
        self.config_manager = DynamicConfigManager(self.zk, handlers)
        self.config_manager.startup()
        self.controller = new_controller(
            ControllerConfig(1, topic_defaults=lambda: defaults),
            self.zk,
            self.send,
            self.admin.try_complete_delayed_topic_operations,
        )
        self.controller.startup()
        assert self.controller.await_active(60)
        eventually(lambda: self.cache.get_alive_brokers())

    def new_admin_manager(self):
        return AdminManager(
            self.config,
            self.cache,
            self.zk,
            self.dynamic,
            SYSTEM_TIME,
            lambda _topic: False,
            lambda _topic: None,
        )

    def send(self, _broker_id, request):
        if isinstance(request, StopReplicaRequest):
            return StopReplicaResponse()
        if isinstance(request, UpdateMetadataRequest):
            self.cache.update_cache(request)
            for topic in {partition.topic for partition, _ in request.partition_states()}:
                self.admin.try_complete_delayed_topic_operations(topic)
            return UpdateMetadataResponse()
        return LeaderAndIsrResponse()

    def close(self):
        self.controller.shutdown()
        self.admin.shutdown()
        self.zk.close()

    def create(self, *topics, timeout_ms=60_000, validate_only=False):
        answers = queue.Queue()
        self.admin.create_topics(timeout_ms, topics, validate_only, self.mutations, answers.put)
        return answers.get(timeout=patient_s(60))

    def delete(self, *topics, timeout_ms=60_000):
        answers = queue.Queue()
        self.admin.delete_topics(timeout_ms, topics, self.mutations, answers.put)
        return answers.get(timeout=patient_s(60))

    def enlarge(self, *topics, validate_only=False):
        answers = queue.Queue()
        self.admin.create_partitions(60_000, topics, validate_only, self.mutations, answers.put)
        return answers.get(timeout=patient_s(60))


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with EmbeddedZooKeeper(tmp_path_factory.mktemp("zk"), force_sync=False) as server:
        broker = OneBroker(server.connect_string)
        yield broker
        broker.close()


def topic(name, partitions=1, replicas=1, assignments=(), **configs):
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[CreatableReplicaAssignment(partition_index=p, broker_ids=b) for p, b in assignments],
        configs=[CreatableTopicConfig(name=k.replace("_", "."), value=v) for k, v in configs.items()],
    )


def error_of(result):
    return Errors.for_code(result.error_code)


def test_create_waits_for_leaders_and_returns_the_resulting_topic(broker):
    (result,) = broker.create(topic("made", -1, -1, cleanup_policy="compact"))
    assert error_of(result) is Errors.NONE
    assert (result.num_partitions, result.replication_factor) == (2, 1)
    configs = {entry.name: (entry.value, entry.config_source) for entry in result.configs}
    assert configs["cleanup.policy"] == ("compact", 1)
    assert configs["retention.ms"] == ("3600000", 5)  # not 4: it is log.retention.hours that is set
    assert configs["segment.bytes"] == ("1073741824", 5)
    assert set(broker.cache.get_partitions("made")) == {0, 1}
    assert broker.zk.get_entity_config("topics/made") == {"cleanup.policy": "compact"}


def test_validate_only_creates_nothing(broker):
    (result,) = broker.create(topic("thought.of"), validate_only=True)
    assert error_of(result) is Errors.NONE
    assert not broker.zk.topic_exists("thought.of")


def test_a_manual_assignment_is_applied(broker):
    (result,) = broker.create(topic("manual", -1, -1, [(0, [1]), (1, [1])]))
    assert error_of(result) is Errors.NONE
    assert broker.zk.get_topic_assignment("manual").partitions == {0: [1], 1: [1]}


@pytest.mark.parametrize(
    ("wish", "error", "says"),
    [
        (topic("made"), Errors.TOPIC_ALREADY_EXISTS, "Topic 'made' already exists."),
        (topic("a b"), Errors.INVALID_TOPIC_EXCEPTION, "Topic name is invalid"),
        (topic("no", 0), Errors.INVALID_PARTITIONS, "larger than 0"),
        (topic("no", 1, 0), Errors.INVALID_REPLICATION_FACTOR, "larger than 0"),
        (topic("no", 1, 2), Errors.INVALID_REPLICATION_FACTOR, "available brokers: 1"),
        (topic("no", 1, 1, [(0, [1])]), Errors.INVALID_REQUEST, "Both cannot be used"),
        (topic("no", -1, -1, [(0, [1, 1])]), Errors.INVALID_REPLICA_ASSIGNMENT, "Duplicate"),
        (topic("no", -1, -1, [(1, [1])]), Errors.INVALID_REPLICA_ASSIGNMENT, "0-based"),
        (topic("no", -1, -1, [(0, [1]), (1, [1, 2])]), Errors.INVALID_REPLICA_ASSIGNMENT, "same number"),
        (topic("no", -1, -1, [(0, [])]), Errors.INVALID_REPLICA_ASSIGNMENT, "larger than 0"),
        (topic("no", no_such="1"), Errors.INVALID_CONFIG, "Unknown topic config name: no.such"),
        (topic("no", retention_mss="1"), Errors.INVALID_CONFIG, "retention.mss. Did you mean 'retention.ms'?"),
        (topic("no", retention_ms="soon"), Errors.INVALID_CONFIG, "retention.ms"),
        (topic("no", retention_ms=None), Errors.INVALID_REQUEST, "Null value"),
    ],
)
def test_invalid_topics_are_rejected(broker, wish, error, says):
    if wish.name == "made" and not broker.zk.topic_exists("made"):
        broker.create(topic("made"))
    (result,) = broker.create(wish)
    assert error_of(result) is error
    assert says in result.error_message
    assert not broker.zk.topic_exists("no")


def test_topics_whose_metric_names_collide_are_rejected(broker):
    broker.create(topic("col_lide"))
    (result,) = broker.create(topic("col.lide"))
    assert error_of(result) is Errors.INVALID_TOPIC_EXCEPTION
    assert "collides with existing topics: col_lide" in result.error_message


def test_an_invalid_topic_does_not_affect_the_others(broker):
    good, bad = broker.create(topic("good"), topic("bad", 0))
    assert (error_of(good), error_of(bad)) == (Errors.NONE, Errors.INVALID_PARTITIONS)


def test_create_with_a_timeout_of_zero_times_out(broker):
    (result,) = broker.create(topic("later"), timeout_ms=0)
    assert error_of(result) is Errors.REQUEST_TIMED_OUT
    eventually(lambda: broker.cache.contains("later"))


def test_delete_waits_for_the_deletion(broker):
    broker.create(topic("doomed"))
    gone, never = broker.delete("doomed", "never")
    assert (error_of(gone), error_of(never)) == (Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION)
    assert not broker.cache.contains("doomed")
    eventually(lambda: not broker.zk.topic_exists("doomed"))


def test_a_topic_that_is_being_deleted_cannot_be_created(broker):
    broker.zk.zookeeper.create("/admin/delete_topics/dying", b"")
    eventually(lambda: not broker.zk.is_topic_marked_for_deletion("dying"))


def test_partitions_are_added(broker):
    broker.create(topic("grows"))
    (result,) = broker.enlarge(CreatePartitionsTopic(name="grows", count=3, assignments=None), validate_only=True)
    assert error_of(result) is Errors.NONE
    assert len(broker.cache.get_partitions("grows")) == 1
    (result,) = broker.enlarge(CreatePartitionsTopic(name="grows", count=3, assignments=None))
    assert error_of(result) is Errors.NONE
    assert len(broker.cache.get_partitions("grows")) == 3
    by_hand = [CreatePartitionsAssignment(broker_ids=[1])]
    (result,) = broker.enlarge(CreatePartitionsTopic(name="grows", count=4, assignments=by_hand))
    assert error_of(result) is Errors.NONE


@pytest.mark.parametrize(
    ("name", "count", "replicas", "error", "says"),
    [
        ("never", 5, None, Errors.UNKNOWN_TOPIC_OR_PARTITION, "does not exist"),
        ("small", 2, None, Errors.INVALID_PARTITIONS, "already has 2"),
        ("small", 1, None, Errors.INVALID_PARTITIONS, "not be an increase"),
        ("small", 3, [[9]], Errors.INVALID_REPLICA_ASSIGNMENT, "Unknown broker"),
        ("small", 3, [[1], [1]], Errors.INVALID_REPLICA_ASSIGNMENT, "by 1 but 2"),
        ("small", 3, [[1, 1]], Errors.INVALID_REPLICA_ASSIGNMENT, "Duplicate"),
        ("small", 3, [[]], Errors.INVALID_REPLICA_ASSIGNMENT, "replication factor"),
    ],
)
def test_invalid_partition_additions_are_rejected(broker, name, count, replicas, error, says):
    if not broker.zk.topic_exists("small"):
        broker.create(topic("small", 2))
    by_hand = None if replicas is None else [CreatePartitionsAssignment(broker_ids=r) for r in replicas]
    (result,) = broker.enlarge(CreatePartitionsTopic(name=name, count=count, assignments=by_hand))
    assert error_of(result) is error
    assert says in result.error_message


def test_auto_topic_creation(broker, caplog):
    broker.admin.auto_create_topic("__consumer_offsets")
    assert "Created __consumer_offsets with 1 replicas instead of 3: no more brokers were alive" in caplog.text
    broker.admin.auto_create_topic("asked.for")
    eventually(lambda: len(broker.cache.get_partitions("__consumer_offsets")) == 50)
    eventually(lambda: len(broker.cache.get_partitions("asked.for")) == 2)
    assert broker.zk.get_topic_assignment("__consumer_offsets").partitions[7] == [1]
    assert broker.zk.get_entity_config("topics/__consumer_offsets") == {
        "compression.type": "producer",
        "cleanup.policy": "compact",
        "segment.bytes": "104857600",
    }
    broker.admin.auto_create_topic("__transaction_state")
    assert broker.zk.get_entity_config("topics/__transaction_state") == {
        "compression.type": "uncompressed",
        "cleanup.policy": "compact",
        "min.insync.replicas": "1",
        "segment.bytes": "104857600",
        "unclean.leader.election.enable": "false",
    }
    broker.admin.auto_create_topic("__share_group_state")
    assert broker.zk.get_entity_config("topics/__share_group_state") == {
        "cleanup.policy": "delete",
        "compression.type": "producer",
        "min.insync.replicas": "1",
        "retention.ms": "-1",
        "segment.bytes": "104857600",
    }


def test_at_most_ten_thousand_partitions_are_created_at_once(broker):
    results = broker.create(topic("many", 10_000), topic("too.many", 10_001), validate_only=True)
    assert [error_of(result) for result in results] == [Errors.NONE, Errors.POLICY_VIOLATION]


def test_a_broker_that_stops_creates_nothing_more(broker):
    admin, answers = broker.new_admin_manager(), []
    admin.begin_shutdown()
    with pytest.raises(ApiError) as info:
        admin.auto_create_topic("late")
    assert info.value.error is Errors.LEADER_NOT_AVAILABLE
    admin.create_topics(60_000, [topic("late")], False, UnboundedControllerMutationQuota(), answers.extend)
    assert [error_of(result) for result in answers] == [Errors.NOT_CONTROLLER]
    assert not broker.zk.topic_exists("late")
    admin.shutdown()


def test_a_closed_connection_to_zookeeper_sends_clients_to_another_broker(broker, monkeypatch):
    def closed(_entity):
        raise ZkConnectionError("closed")

    monkeypatch.setattr(broker.zk, "get_entity_config", closed)
    assert error_of(increment(broker, BROKER_RESOURCE, "1", (0, "num.io.threads", "9"))) is Errors.NOT_CONTROLLER


# ------------------------------------------------------------------------------------------------------ configurations


def describe(broker, kind, name, keys=None, **kwargs):
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
    (result,) = broker.configs.describe_configs([resource], **kwargs)
    return result


def test_describe_a_topic(broker):
    broker.create(topic("told", retention_ms="5"))
    result = describe(
        broker, TOPIC_RESOURCE, "told", ["retention.ms"], include_synonyms=True, include_documentation=True
    )
    (entry,) = result.configs
    assert (entry.value, entry.config_source, entry.config_type, entry.read_only) == ("5", 1, 5, False)
    assert [(s.name, s.value, s.source) for s in entry.synonyms] == [
        ("retention.ms", "5", 1),
    ]  # not log.retention.hours, since log.retention.ms is not set
    assert "deleted" in entry.documentation
    everything = describe(broker, TOPIC_RESOURCE, "told")
    assert len(everything.configs) >= 24
    assert describe(broker, TOPIC_RESOURCE, "told", []) == everything, "an empty list asks for all keys"
    assert not any(entry.synonyms or entry.documentation for entry in everything.configs)
    names = [entry.name for entry in everything.configs]
    assert names == sorted(names), "sorted, whether set or not"


def test_describe_a_broker(broker):
    result = describe(broker, BROKER_RESOURCE, "1", include_synonyms=True)
    entries = {entry.name: entry for entry in result.configs}
    assert (entries["num.partitions"].value, entries["num.partitions"].config_source) == ("2", 4)
    assert (entries["num.io.threads"].value, entries["num.io.threads"].config_source) == ("8", 5)
    assert not entries["num.io.threads"].read_only
    assert entries["num.network.threads"].read_only
    assert entries["ssl.key.password"].is_sensitive
    assert entries["ssl.key.password"].value is None
    assert [synonym.value for synonym in entries["ssl.key.password"].synonyms] == [None]
    assert not entries["leader.replication.throttled.rate"].read_only
    hours = [("log.retention.hours", "1", 4), ("log.retention.hours", "168", 5)]
    assert [(s.name, s.value, s.source) for s in entries["log.retention.hours"].synonyms] == hours
    assert (entries["log.retention.ms"].synonyms, entries["log.retention.ms"].config_source) == ([], 5)
    assert entries["log.dirs"].synonyms == []  # not log.dir


def test_a_custom_config_is_described_without_its_value(broker):
    assert error_of(alter(broker, BROKER_RESOURCE, "1", my_plugin="secret")) is Errors.NONE
    assert error_of(alter(broker, BROKER_RESOURCE, "", my_other_plugin="secret")) is Errors.NONE
    assert broker.zk.get_entity_config("brokers/1") == {"my.plugin": "secret"}
    eventually(lambda: broker.dynamic.broker_configs and broker.dynamic.default_configs)
    (entry,) = describe(broker, BROKER_RESOURCE, "1", ["my.plugin"], include_synonyms=True).configs
    assert (entry.value, entry.is_sensitive, entry.read_only, entry.config_type) == (None, True, True, 0)
    assert [(s.name, s.value, s.source) for s in entry.synonyms] == [("my.plugin", None, 2)]
    (entry,) = describe(broker, BROKER_RESOURCE, "").configs
    assert (entry.name, entry.value, entry.is_sensitive, entry.config_source) == ("my.other.plugin", None, True, 3)
    for name in ("1", ""):
        assert error_of(alter(broker, BROKER_RESOURCE, name)) is Errors.NONE
    eventually(lambda: not broker.dynamic.broker_configs and not broker.dynamic.default_configs)


def test_each_source_of_a_broker_config_keeps_its_value(broker):
    broker.dynamic.update_default({"background.threads": "12"})
    broker.dynamic.update_broker({"background.threads": "13"})
    (entry,) = describe(broker, BROKER_RESOURCE, "1", ["background.threads"], include_synonyms=True).configs
    assert [(s.value, s.source) for s in entry.synonyms] == [("13", 2), ("12", 3), ("11", 4), ("10", 5)]
    broker.dynamic.update_broker({})
    broker.dynamic.update_default({})


@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [
        (TOPIC_RESOURCE, "never", Errors.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC_RESOURCE, "a b", Errors.INVALID_TOPIC_EXCEPTION),
        (BROKER_RESOURCE, "2", Errors.INVALID_REQUEST),
        (BROKER_RESOURCE, "x", Errors.INVALID_REQUEST),
        (8, "2", Errors.INVALID_REQUEST),
        (99, "g", Errors.INVALID_REQUEST),
    ],
)
def test_unknown_resources_cannot_be_described(broker, kind, name, error):
    assert error_of(describe(broker, kind, name)) is error


def alter(broker, kind, name, validate_only=False, **configs):
    entries = [AlterableConfig(name=k.replace("_", "."), value=v) for k, v in configs.items()]
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=entries)
    (result,) = broker.configs.alter_configs([resource], validate_only)
    return result


def increment(broker, kind, name, *ops, validate_only=False):
    resource = IncrementalResource(
        resource_type=kind,
        resource_name=name,
        configs=[ConfigOp(name=n, config_operation=operation, value=value) for operation, n, value in ops],
    )
    (result,) = broker.configs.incremental_alter_configs([resource], validate_only)
    return result


def test_altering_a_topic_config_changes_its_logs(broker):
    broker.create(topic("altered", retention_ms="5"))
    assert error_of(alter(broker, TOPIC_RESOURCE, "altered", validate_only=True, retention_ms="6")) is Errors.NONE
    assert broker.zk.get_entity_config("topics/altered") == {"retention.ms": "5"}
    assert error_of(alter(broker, TOPIC_RESOURCE, "altered", segment_bytes="1000")) is Errors.NONE
    assert broker.zk.get_entity_config("topics/altered") == {"segment.bytes": "1000"}
    name, config = broker.topic_configs.get(timeout=patient_s(60))
    assert (name, config.segment_bytes, config.retention_ms) == ("altered", 1000, 3_600_000)
    result = increment(broker, TOPIC_RESOURCE, "altered", (2, "cleanup.policy", "compact"), (1, "segment.bytes", None))
    assert error_of(result) is Errors.NONE
    name, config = broker.topic_configs.get(timeout=patient_s(60))
    assert (config.cleanup_policy, config.segment_bytes) == (["delete", "compact"], 1 << 30)
    result = increment(broker, TOPIC_RESOURCE, "altered", (0, "retention.ms", "7"), validate_only=True)
    assert error_of(result) is Errors.NONE
    assert broker.zk.get_entity_config("topics/altered") == {"cleanup.policy": "delete,compact"}


def test_a_list_is_appended_to_what_the_broker_has_by_default(broker):
    broker.create(topic("lists"))
    broker.dynamic.update_default({"log.cleanup.policy": "compact"})
    assert error_of(increment(broker, TOPIC_RESOURCE, "lists", (2, "cleanup.policy", "delete"))) is Errors.NONE
    assert broker.zk.get_entity_config("topics/lists") == {"cleanup.policy": "compact,delete"}
    broker.dynamic.update_default({})
    broker.topic_configs.get(timeout=patient_s(60))


@pytest.mark.parametrize(
    ("kind", "name", "configs", "error", "says"),
    [
        (TOPIC_RESOURCE, "never", {"retention_ms": "1"}, Errors.UNKNOWN_TOPIC_OR_PARTITION, "never"),
        (TOPIC_RESOURCE, "target", {"no_such": "1"}, Errors.INVALID_CONFIG, "Unknown topic config name: no.such"),
        (TOPIC_RESOURCE, "target", {"retention_ms": "x"}, Errors.INVALID_REQUEST, "name='target'): Invalid value x"),
        (TOPIC_RESOURCE, "target", {"retention_ms": None}, Errors.INVALID_REQUEST, "Null value"),
        (
            BROKER_RESOURCE,
            "1",
            {"num_network_threads": "2"},
            Errors.INVALID_REQUEST,
            "Cannot update these configs dynamically",
        ),
        (BROKER_RESOURCE, "2", {"num_io_threads": "9"}, Errors.INVALID_REQUEST, "expected 1"),
        (8, "1", {"a": "b"}, Errors.INVALID_REQUEST, "only supported for topics, brokers and groups"),
    ],
)
def test_invalid_alterations_are_rejected(broker, kind, name, configs, error, says):
    if not broker.zk.topic_exists("target"):
        broker.create(topic("target"))
    result = alter(broker, kind, name, **configs)
    assert error_of(result) is error
    assert says in result.error_message


def test_throttle_rates_are_dynamic(broker):
    result = increment(broker, BROKER_RESOURCE, "01", (0, "leader.replication.throttled.rate", "1000"))
    assert error_of(result) is Errors.NONE
    result = increment(broker, BROKER_RESOURCE, "", (0, "leader.replication.throttled.rate", "2000"))
    assert error_of(result) is Errors.NONE
    eventually(lambda: broker.dynamic.default_configs)
    assert broker.zk.get_entity_config("brokers/1") == {"leader.replication.throttled.rate": "1000"}
    (entry,) = describe(
        broker, BROKER_RESOURCE, "1", ["leader.replication.throttled.rate"], include_synonyms=True
    ).configs
    assert (entry.value, entry.config_source) == ("1000", 2)
    assert [(s.value, s.source) for s in entry.synonyms] == [("1000", 2), ("2000", 3), (str(2**63 - 1), 5)]
    (entry,) = describe(broker, BROKER_RESOURCE, "").configs
    assert (entry.name, entry.value, entry.config_source) == ("leader.replication.throttled.rate", "2000", 3)


def test_the_controller_is_notified_if_a_topic_enables_unclean_election(broker):
    broker.create(topic("tidy"), topic("untidy"))
    for name, value in (("tidy", "false"), ("untidy", "true")):
        assert error_of(alter(broker, TOPIC_RESOURCE, name, unclean_leader_election_enable=value)) is Errors.NONE
    assert broker.elections.get(timeout=patient_s(60)) == "untidy"
    assert broker.elections.empty()


def test_old_notifications_are_purged(broker):
    broker.zk.create_config_change("topics/none")
    assert broker.zk.zookeeper.children("/config/changes")

    class Later:
        def milliseconds(self):
            return int(time.time() * 1000) + 16 * 60_000

    DynamicConfigManager(broker.zk, {}, Later()).process_changes()
    assert broker.zk.zookeeper.children("/config/changes") == []


def test_a_malformed_notification_does_not_block_the_next(broker, caplog):
    broker.create(topic("after"))
    broker.zk.zookeeper.create("/config/changes/config_change_", b"rubbish", sequential=True)
    broker.zk.set_entity_config("topics/broken", {"retention.ms": "soon"})
    broker.zk.create_config_change("topics/broken")
    while not broker.topic_configs.empty():
        broker.topic_configs.get()
    alter(broker, TOPIC_RESOURCE, "after", retention_ms="7")
    assert broker.topic_configs.get(timeout=patient_s(60))[0] == "after"
    assert "Ignoring the notification" in caplog.text
    assert "Cannot apply the configuration of topics/broken" in caplog.text
