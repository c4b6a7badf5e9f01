"""Where everything lies in ZooKeeper.

    /cluster/id                                     the cluster's id
    /controller  (ephemeral)                        who the controller is
    /controller_epoch                               how often that changed
    /brokers/ids/N  (ephemeral)                     where broker N listens
    /brokers/seqid                                  its version is the source of generated broker ids
    /brokers/topics/T                               which brokers hold which partition
    /brokers/topics/T/partitions/P/state            leader, ISR and their epochs
    /isr_change_notification/isr_change_<10 digits> partitions whose ISR a leader changed
    /admin/delete_topics/T                          topics to delete
    /admin/reassign_partitions, /admin/preferred_replica_election
    /config/{topics,clients,users,brokers}/<name>   overrides of configurations
    /config/changes/config_change_<10 digits>       which of them changed
    /latest_producer_id_block                       the producer ids that were handed out last
    /consumers/G/ids/M  (ephemeral)                 a member of an old consumer's group, and its subscription
    /consumers/G/owners/T/P  (ephemeral)            which thread of which member consumes a partition
    /consumers/G/offsets/T/P                        how far the group has consumed it

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
DELETE_TOPICS = "/admin/delete_topics"
REASSIGN_PARTITIONS = "/admin/reassign_partitions"
PREFERRED_REPLICA_ELECTION = "/admin/preferred_replica_election"
CONFIG = "/config"
CONFIG_CHANGES = "/config/changes"
PRODUCER_ID_BLOCK = "/latest_producer_id_block"
CONSUMERS = "/consumers"

ISR_CHANGE_PREFIX = "isr_change_"
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
)
"""What every broker creates when it starts, in this order, if it is missing."""


def broker(broker_id: int) -> str:
    """Where broker ``broker_id`` registers."""
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
    """The mark of a topic that is to be deleted."""
    return f"{DELETE_TOPICS}/{name}"


def entity_config(entity_path: str) -> str:
    """The overrides of an entity, such as ``topics/T`` or ``users/U/clients/C``."""
    return f"{CONFIG}/{entity_path}"


def sequence_number(node: str) -> int:
    """The number that ZooKeeper appended to a sequential node."""
    return int(node[-SEQUENCE_DIGITS:])


def consumer_group(group: str) -> str:
    """Everything of an old consumer's group."""
    return f"{CONSUMERS}/{group}"


def consumer_ids(group: str) -> str:
    """The members of the group."""
    return f"{consumer_group(group)}/ids"


def consumer_id(group: str, consumer: str) -> str:
    """Where a member registers, and what it subscribes to."""
    return f"{consumer_ids(group)}/{consumer}"


def consumer_owners(group: str) -> str:
    """The topics of which the group owns partitions."""
    return f"{consumer_group(group)}/owners"


def consumer_owner(group: str, name: str, partition: int) -> str:
    """Who of the group owns a partition."""
    return f"{consumer_owners(group)}/{name}/{partition}"


def consumer_offsets(group: str) -> str:
    """The topics of which the group has committed offsets."""
    return f"{consumer_group(group)}/offsets"


def consumer_offset(group: str, name: str, partition: int) -> str:
    """The group's committed offset of a partition (OffsetCommit v0)."""
    return f"{consumer_offsets(group)}/{name}/{partition}"
