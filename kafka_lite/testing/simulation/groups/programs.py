"""A member of a group that takes its time to give up a partition, inside a world.

Not in Kafka.
"""

from __future__ import annotations

import contextlib
import random
import signal
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kafka_lite.testing.simulation.programs import BACKOFF_S, CONSUMER_DEFAULTS, text_of

if TYPE_CHECKING:
    from kafka_lite.testing.history.history import History

MODERN = {"group.protocol": "consumer"}
LONGEST_REVOCATION_S = 4.0
"""How long a listener takes at most: several heartbeats."""
COMMIT_TIMEOUT_MS = 5_000


def group_member(
    bootstrap: str, name: str, group: str, topic: str, history: History, configs: Mapping[str, object]
) -> None:
    """Read a topic as a member of a group until the history is over, or until SIGTERM: then leave.

    Commits after each poll, and once more within ``on_partitions_revoked``, some seconds late.
    """
    from kafka_lite.common.errors import KafkaError
    from kafka_lite.consumer import KafkaConsumer
    from kafka_lite.consumer.consumer_config import NOT_WITH_CONSUMER

    is_stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_stopped.set())
    left_out = NOT_WITH_CONSUMER if configs.get("group.protocol") == "consumer" else ()
    defaults = {key: value for key, value in CONSUMER_DEFAULTS.items() if key not in left_out}
    reader = KafkaConsumer({
        "bootstrap.servers": bootstrap, "client.id": name, "group.id": group, **defaults, **configs,
    })  # fmt: skip
    member = _member_of(reader, group, history)
    reader.subscribe([topic], member)
    while not history.is_over and not is_stopped.is_set():
        try:
            records = list(reader.poll(500))
        except KafkaError:
            time.sleep(BACKOFF_S)
            continue
        for record in records:
            place = record.topic, record.partition, record.offset
            history.poll(name, member.assignments, *place, text_of(record.value))
        if records:
            member.commit({record.topic_partition: record.offset + 1 for record in records})
    reader.close()


def _member_of(reader: Any, group: str, history: History) -> Any:
    """The listener, which tells the history what the reader has, has given up, and commits."""
    from kafka_lite.common.errors import KafkaError
    from kafka_lite.consumer import ConsumerRebalanceListener, OffsetAndMetadata

    class Member(ConsumerRebalanceListener):
        """Counts assignments."""

        def __init__(self) -> None:
            self.assignments = 0

        def on_partitions_assigned(self, partitions: Iterable[Any]) -> None:
            self.assignments += 1
            generation = reader._parts.coordinator.generation  # the only way to the generation
            history.assign(group, generation.generation_id, generation.member_id, partitions)
            began = history.now()
            with contextlib.suppress(KafkaError):
                for at, offset in reader.committed(partitions, COMMIT_TIMEOUT_MS).items():
                    history.read_committed(group, at.topic, at.partition, offset and offset.offset, began)

        def on_partitions_revoked(self, partitions: Iterable[Any]) -> None:
            time.sleep(random.uniform(0, LONGEST_REVOCATION_S) if partitions else 0)
            positions = reader._subscriptions.all_consumed()
            self.commit({at: positions[at].offset for at in partitions if at in positions})
            self.on_partitions_lost(partitions)

        def on_partitions_lost(self, partitions: Iterable[Any]) -> None:
            history.release(group, self.member_id, partitions)

        @property
        def member_id(self) -> str:
            """Kept by a member that has lost its epoch."""
            known = reader.group_metadata().member_id
            return str(known)

        def commit(self, offsets: Mapping[Any, int]) -> None:
            """Commit, and tell the history whether that succeeded."""
            if not offsets:
                return
            places = {(at.topic, at.partition): offset for at, offset in offsets.items()}
            commits = history.begin_commit(group, places)
            for each in commits:
                each.member = self.member_id
            with contextlib.suppress(KafkaError):
                committed = {at: OffsetAndMetadata(offset) for at, offset in offsets.items()}
                reader.commit_sync(committed, COMMIT_TIMEOUT_MS)
                history.end_commit(commits)

    return Member()
