"""A member of a share group, and its operator, inside a world.

Not in Kafka.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka_lite.testing.simulation.programs import BACKOFF_S

if TYPE_CHECKING:
    from kafka_lite.testing.history.history import History
    from kafka_lite.testing.simulation.shares.facts import Facts

RELEASED_SHARE, SLOW_SHARE = 0.1, 0.05
"""How many records are released, and after how many polls a member takes longer than it may."""
LOCK_MS = 4_000
COMMIT_TIMEOUT_MS = 20_000
MOST_TURNS = 6
"""For how many turns a record may be in the buffer of a consumer, where its lock may expire."""
GROUP_RESOURCE = 32
MEMBER_DEFAULTS = {
    "share.acknowledgement.mode": "explicit",
    "max.poll.records": 20,
    "retry.backoff.ms": 50,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
    "request.timeout.ms": 12_000,
}


def begin_at_the_beginning(bootstrap: str, group: str) -> None:
    """Let the group get the records that are there before its first member. Tries again until that is written."""
    from kafka_lite.clients.admin_client import AdminClient
    from kafka_lite.common.errors import KafkaError
    from kafka_lite.protocol.messages import api_44_incremental_alter_configs as alter

    change = alter.AlterableConfig(name="share.auto.offset.reset", config_operation=0, value="earliest")
    resource = alter.AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=group, configs=[change])
    request = alter.IncrementalAlterConfigsRequest(resources=[resource])
    while True:
        try:
            admin = AdminClient({"bootstrap.servers": bootstrap})
            (response,) = admin.send_any_node(request, alter.IncrementalAlterConfigsResponse).responses
            if response.error_code == 0:
                return
        except KafkaError:
            pass
        time.sleep(BACKOFF_S)


def share_member(
    bootstrap: str, name: str, group: str, topic: str, history: History, facts: Facts, configs: Mapping[str, object]
) -> None:
    """Accept most records and release some, until the history is over; sometimes after the locks have expired."""
    from kafka_lite.common.errors import KafkaError
    from kafka_lite.consumer import KafkaShareConsumer

    consumer = KafkaShareConsumer({
        "bootstrap.servers": bootstrap, "client.id": name, "group.id": group, **MEMBER_DEFAULTS, **configs,
    })  # fmt: skip
    consumer.subscribe([topic])
    confirmed = deque([len(facts.accepted)], maxlen=MOST_TURNS)
    while not history.is_over:
        confirmed.append(len(facts.accepted))
        try:
            _turn(consumer, name, facts, confirmed[0])
        except KafkaError:
            time.sleep(BACKOFF_S)
    consumer.close()


def _turn(consumer: Any, name: str, facts: Facts, after: int) -> None:
    """Poll, acknowledge, and tell what the brokers have confirmed."""
    from kafka_lite.consumer import AcknowledgeType

    records = list(consumer.poll(500))
    for record in records:
        facts.deliver(name, (record.topic, record.partition, record.offset), record.delivery_count, after)
    if records and random.random() < SLOW_SHARE:
        time.sleep(random.uniform(0, 2 * LOCK_MS / 1000))
    accepted = []
    for record in records:
        if random.random() < RELEASED_SHARE:
            consumer.acknowledge(record, AcknowledgeType.RELEASE)
        else:
            consumer.acknowledge(record, AcknowledgeType.ACCEPT)
            accepted.append((record.topic, record.partition, record.offset))
    facts.attempted.update(accepted)
    outcomes = {tuple(at): error for at, error in consumer.commit_sync(COMMIT_TIMEOUT_MS).items()}
    facts.accepted += [at for at in accepted if outcomes.get(at[:2], "none") is None]
