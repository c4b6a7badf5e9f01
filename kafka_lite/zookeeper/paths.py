"""The paths of Kafka's znodes.

    /cluster/id                                     the cluster id
    /controller  (ephemeral)                        the current controller
    /controller_epoch                               incremented by each new controller
    /brokers/ids/N  (ephemeral)                     where broker N listens
    /brokers/seqid                                  its version is the source of generated broker ids
    /brokers/topics/T                               the replica assignment of a topic
    /brokers/topics/T/partitions/P/state            leader, ISR and their epochs
    /isr_change_notification/isr_change_<10 digits> partitions whose ISR a leader changed
    /log_dir_event_notification/log_dir_event_<10 digits>  brokers of which a log directory has failed
    /admin/delete_topics/T                          topics to delete
    /admin/reassign_partitions, /admin/preferred_replica_election
    /config/{topics,clients,users,brokers,ips}/<name>   configuration overrides
    /config/changes/config_change_<10 digits>       notifications of changed overrides
    /latest_producer_id_block                       the last allocated block of producer ids
    /feature                                        the levels of features that the cluster has finalized
    /consumers/G/ids/M  (ephemeral)                 a member of an old consumer group, and its subscription
    /consumers/G/owners/T/P  (ephemeral)            the thread of the member that consumes a partition
    /consumers/G/offsets/T/P                        the committed offset of a partition

Kafka 0.10.2: core/.../utils/ZkUtils.scala · book 7.1.3
"""

from __future__ import annotations

CLUSTER_ID = "/cluster/id"
CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
BROKER_IDS = "/brokers/ids"
BROKER_SEQUENCE_ID = "/brokers/seqid"
TOPICS = "/brokers/topics"
ISR_CHANGE_NOTIFICATIONS = "/isr_change_notification"
LOG_DIR_EVENT_NOTIFICATIONS = "/log_dir_event_notification"
DELETE_TOPICS = "/admin/delete_topics"
REASSIGN_PARTITIONS = "/admin/reassign_partitions"
PREFERRED_REPLICA_ELECTION = "/admin/preferred_replica_election"
CONFIG = "/config"
CONFIG_CHANGES = "/config/changes"
PRODUCER_ID_BLOCK = "/latest_producer_id_block"
FEATURE = "/feature"
CONSUMERS = "/consumers"

ISR_CHANGE_PREFIX = "isr_change_"
LOG_DIR_EVENT_PREFIX = "log_dir_event_"
CONFIG_CHANGE_PREFIX = "config_change_"
SEQUENCE_DIGITS = 10

PERSISTENT_PATHS = (
    CONSUMERS,
    BROKER_IDS,
    TOPICS,
    CONFIG_CHANGES,
    "/config/topics",
    "/config/clients",
    DELETE_TOPICS,
    BROKER_SEQUENCE_ID,
    ISR_CHANGE_NOTIFICATIONS,
    LOG_DIR_EVENT_NOTIFICATIONS,
)
"""The paths that every broker creates at start-up if they are missing, in this order."""


def broker(broker_id: int) -> str:
    """The registration of a broker."""
    return f"{BROKER_IDS}/{broker_id}"


def topic(name: str) -> str:
    """The assignment of a topic."""
    return f"{TOPICS}/{name}"


def topic_partitions(name: str) -> str:
    """The parent of a topic's partitions."""
    return f"{topic(name)}/partitions"


def partition_state(name: str, partition: int) -> str:
    """Leader and ISR of a partition."""
    return f"{topic_partitions(name)}/{partition}/state"


def delete_topic(name: str) -> str:
    """The mark of a topic to be deleted."""
    return f"{DELETE_TOPICS}/{name}"


def entity_config(entity_path: str) -> str:
    """The overrides of an entity, such as ``topics/T`` or ``users/U/clients/C``."""
    return f"{CONFIG}/{entity_path}"


def sequence_number(node: str) -> int:
    """The number that ZooKeeper appended to a sequential node."""
    return int(node[-SEQUENCE_DIGITS:])


def consumer_group(group: str) -> str:
    """The root of an old consumer group."""
    return f"{CONSUMERS}/{group}"


def consumer_ids(group: str) -> str:
    """The members of the group."""
    return f"{consumer_group(group)}/ids"


def consumer_id(group: str, consumer: str) -> str:
    """The registration and subscription of a member."""
    return f"{consumer_ids(group)}/{consumer}"


def consumer_owners(group: str) -> str:
    """The parent of the topics whose partitions the group owns."""
    return f"{consumer_group(group)}/owners"


def consumer_owner(group: str, name: str, partition: int) -> str:
    """The owner of a partition within the group."""
    return f"{consumer_owners(group)}/{name}/{partition}"


def consumer_offsets(group: str) -> str:
    """The parent of the topics for which the group has committed offsets."""
    return f"{consumer_group(group)}/offsets"


def consumer_offset(group: str, name: str, partition: int) -> str:
    """The group's committed offset of a partition (OffsetCommit v0)."""
    return f"{consumer_offsets(group)}/{name}/{partition}"
