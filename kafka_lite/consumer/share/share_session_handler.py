"""The client's side of a share session with one broker: its epoch, and the partitions that the broker knows.

Kafka 4.1: clients/.../consumer/internals/ShareSessionHandler.java,
clients/.../common/requests/ShareRequestMetadata.java · book 4.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import NamedTuple
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.consumer.share.acknowledgements import AcknowledgementBatch
from kafka_lite.protocol.messages import api_78_share_fetch as share_fetch
from kafka_lite.protocol.messages import api_79_share_acknowledge as share_acknowledge

logger = logging.getLogger(__name__)

INITIAL_EPOCH = 0
"""Opens a session."""
FINAL_EPOCH = -1
"""Closes it: the broker releases what was not acknowledged."""
MAX_EPOCH = 0x7FFF_FFFF

Batches = Mapping[TopicIdPartition, list[AcknowledgementBatch]]

SESSION_IS_GONE = frozenset(
    {Errors.SHARE_SESSION_NOT_FOUND, Errors.INVALID_SHARE_SESSION_EPOCH, Errors.SHARE_SESSION_LIMIT_REACHED}
)
"""Errors after which a new session must be opened."""


class FetchLimits(NamedTuple):
    """How much a fetch may bring."""

    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    max_records: int


class ShareSessionHandler:
    """The session. One request at a time is in flight, since each has the next epoch.

    ::

        epoch 0: all partitions ─▶ 1, 2, …: partitions that were added or removed ─▶ -1
              ▲                                   │
              ╰──── the broker has lost it, or the connection ended ────╯
    """

    def __init__(self, group_id: str, member_id: str) -> None:
        self._group_id = group_id
        self._member_id = member_id
        self._epoch = INITIAL_EPOCH
        self.partitions: set[TopicIdPartition] = set()
        """The partitions that the broker fetches from."""

    @property
    def is_new(self) -> bool:
        """Whether the next request opens a session: the broker knows of no records to acknowledge."""
        return self._epoch == INITIAL_EPOCH

    def fetch_request(
        self, wanted: Collection[TopicIdPartition], batches: Batches, limits: FetchLimits
    ) -> share_fetch.ShareFetchRequest:
        """A fetch of these partitions, with acknowledgements, which may be of partitions that are not fetched."""
        known = set() if self.is_new else self.partitions
        added, removed = set(wanted) - known, known - set(wanted)
        self.partitions = set(wanted)
        topics: dict[UUID, share_fetch.FetchTopic] = {}
        for each in sorted(added | batches.keys()):
            topic = topics.setdefault(each.topic_id, share_fetch.FetchTopic(topic_id=each.topic_id, partitions=[]))
            acknowledged = [_fetch_batch(batch) for batch in batches.get(each, ())]
            topic.partitions.append(
                share_fetch.FetchPartition(partition_index=each.partition, acknowledgement_batches=acknowledged)
            )
        forgotten: dict[UUID, share_fetch.ForgottenTopic] = {}
        for each in sorted(removed):
            empty = share_fetch.ForgottenTopic(topic_id=each.topic_id, partitions=[])
            forgotten.setdefault(each.topic_id, empty).partitions.append(each.partition)
        return share_fetch.ShareFetchRequest(
            group_id=self._group_id,
            member_id=self._member_id,
            share_session_epoch=self._epoch,
            max_wait_ms=limits.max_wait_ms,
            min_bytes=limits.min_bytes,
            max_bytes=limits.max_bytes,
            max_records=limits.max_records,
            batch_size=limits.max_records,
            topics=list(topics.values()),
            forgotten_topics_data=list(forgotten.values()),
        )

    def acknowledge_request(
        self, batches: Batches, *, close: bool = False
    ) -> share_acknowledge.ShareAcknowledgeRequest:
        """Acknowledgements without a fetch. With ``close``, the session ends with it."""
        topics: dict[UUID, share_acknowledge.AcknowledgeTopic] = {}
        for each, of_partition in sorted(batches.items()):
            empty = share_acknowledge.AcknowledgeTopic(topic_id=each.topic_id, partitions=[])
            topics.setdefault(each.topic_id, empty).partitions.append(
                share_acknowledge.AcknowledgePartition(
                    partition_index=each.partition,
                    acknowledgement_batches=[_acknowledge_batch(batch) for batch in of_partition],
                )
            )
        return share_acknowledge.ShareAcknowledgeRequest(
            group_id=self._group_id,
            member_id=self._member_id,
            share_session_epoch=FINAL_EPOCH if close else self._epoch,
            topics=list(topics.values()),
        )

    def handle_response(self, error: Errors) -> bool:
        """A response has come. Returns whether it has outcomes for partitions."""
        if error in SESSION_IS_GONE:
            logger.info("The share session of member %s has to be opened again: %s", self._member_id, error.name)
            self.reset()
            return False
        self._epoch = 1 if self._epoch == MAX_EPOCH else self._epoch + 1
        return error is Errors.NONE

    def reset(self) -> None:
        """Open another session with the next fetch: the broker may not have got the last request."""
        self._epoch = INITIAL_EPOCH
        self.partitions = set()


def _fetch_batch(batch: AcknowledgementBatch) -> share_fetch.AcknowledgementBatch:
    return share_fetch.AcknowledgementBatch(
        first_offset=batch.first_offset, last_offset=batch.last_offset, acknowledge_types=batch.types
    )


def _acknowledge_batch(batch: AcknowledgementBatch) -> share_acknowledge.AcknowledgementBatch:
    return share_acknowledge.AcknowledgementBatch(
        first_offset=batch.first_offset, last_offset=batch.last_offset, acknowledge_types=batch.types
    )
