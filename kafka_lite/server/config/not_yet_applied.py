"""Keys that are checked but have no effect, because the part of the broker that they belong to is still to come.

Kafka 0.10.2: core/.../server/KafkaConfig.scala · book 2.3.4
"""

from __future__ import annotations

NOT_YET_APPLIED: dict[str, tuple[str, ...]] = {
    "replication between brokers": (
        "auto.leader.rebalance.enable",
        "controlled.shutdown.",
        "controller.socket.timeout.ms",
        "follower.replication.throttled.",
        "leader.imbalance.",
        "leader.replication.throttled.",
        "num.replica.fetchers",
        "replica.fetch.",
        "replica.lag.time.max.ms",
        "replica.socket.",
        "request.timeout.ms",
        "zookeeper.sync.time.ms",
    ),
    "transactions": ("transaction.", "transactional.id.expiration.ms"),
    "quotas": ("quota.", "replication.quota."),
    "security": ("principal.builder.class", "sasl.", "ssl."),
}
"""The part to come → its keys, of the broker and of topics; an entry that ends in a dot stands for all that begin so.

They are accepted so that a ``server.properties`` of Kafka can be used as it is; whoever sets one is warned.
"""


def part_to_come(key: str) -> str | None:
    """The part that will apply this key; None when the key is applied."""
    for part, entries in NOT_YET_APPLIED.items():
        if any(key == entry or (entry.endswith(".") and key.startswith(entry)) for entry in entries):
            return part
    return None
