"""A client's metadata of the cluster, shared by the thread that fetches it and those that use it.

Kafka 0.10.2: clients/.../clients/Metadata.java (leader epochs: since 2.1, KIP-320) · book 2.1.3, 7.3.2
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from uuid import UUID

from kafka_lite.clients.cluster import Cluster, PartitionInfo
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.authentication_error import AuthenticationError

logger = logging.getLogger(__name__)

MAX_STRING_BYTES = 0x7FFF
"""The longest name in a request, whose length is an int16."""
TOPIC_EXPIRY_MS = 5 * 60 * 1000
"""How long a producer keeps a topic that it does not send to."""
NEWEST_LEADER_MS = 5 * 60 * 1000
"""How long leaders of older epochs are ignored after the newest one was last reported."""

MetadataListener = Callable[[Cluster], None]


class Metadata:
    """The latest :class:`Cluster`, the topics of interest, and when to update them.

    Any thread may read and wait. The network client's thread calls ``update`` and ``failed_update``. A thread that
    needs newer metadata calls ``request_update`` and waits with ``await_update`` until the version has increased::

        send()  add(topic), version = request_update() ──▶ need_update
                await_update(version) ····················· wait ·····▶ version + 1: continue
        Sender  poll ─▶ time_to_next_update == 0 ─▶ MetadataRequest ─▶ update(cluster) ─▶ notify

    A broker that has been cut off still lists itself as leader of partitions that others lead by now. Its log lacks
    what they have written since, so a consumer that believed it would find its position out of range, and be reset.
    Therefore a leader of an older epoch never replaces one of a newer epoch.
    """

    def __init__(
        self,
        refresh_backoff_ms: float = 100,
        metadata_expire_ms: float = 300_000,
        *,
        topic_expiry_enabled: bool = False,
        allow_auto_topic_creation: bool = True,
        time: Time = SYSTEM_TIME,
    ) -> None:
        self.refresh_backoff_ms = refresh_backoff_ms
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self._metadata_expire_ms = metadata_expire_ms
        self._topic_expiry_enabled = topic_expiry_enabled
        self._time = time
        self._changed = threading.Condition(threading.RLock())
        self._cluster = Cluster()
        self._version = 0
        self._last_refresh_ms = -math.inf
        self._last_successful_refresh_ms = -math.inf
        self._need_update = False
        self._need_metadata_for_all_topics = False
        self._topics: dict[str, float | None] = {}
        """The topics of interest and when they expire. None: TOPIC_EXPIRY_MS after the next update."""
        self._topic_ids: frozenset[UUID] = frozenset()
        self._newest_leaders: dict[TopicPartition, tuple[PartitionInfo, float]] = {}
        """The state reported with each partition's highest leader epoch, and when it was last reported."""
        self._listeners: list[MetadataListener] = []
        self._fatal: Exception | None = None
        self._authentication_error: AuthenticationError | None = None

    # ── Asking ────────────────────────────────────────────────────────────────────────────────────────────────────

    def fetch(self) -> Cluster:
        """The current cluster. Never blocks."""
        return self._cluster

    @property
    def version(self) -> int:
        """The number of updates so far."""
        return self._version

    @property
    def update_requested(self) -> bool:
        """Whether an update was requested."""
        return self._need_update

    @property
    def last_successful_update_ms(self) -> float:
        """When the last update succeeded (monotonic clock)."""
        return self._last_successful_refresh_ms

    def topics(self) -> set[str]:
        """The topics of interest."""
        with self._changed:
            return set(self._topics)

    @property
    def need_metadata_for_all_topics(self) -> bool:
        """Whether all topics are of interest, as for a consumer that subscribes by pattern."""
        return self._need_metadata_for_all_topics

    def time_to_next_update(self, now_ms: float) -> float:
        """The time until an update is due, ms: if it was requested or metadata is too old, but not before the backoff
        ends."""
        with self._changed:
            to_expire = 0 if self._need_update else self._last_successful_refresh_ms + self._metadata_expire_ms - now_ms
            to_allow = self._last_refresh_ms + self.refresh_backoff_ms - now_ms
            return max(to_expire, to_allow, 0)

    def await_update(self, last_version: int, max_wait_ms: float) -> None:
        """Wait for a version above ``last_version``. Raises ApiError REQUEST_TIMED_OUT after ``max_wait_ms``."""
        deadline_ms = self._time.hi_res_ms() + max_wait_ms
        with self._changed:
            while self._version <= last_version:
                self._raise_fatal()
                self.raise_authentication_error()
                left_ms = deadline_ms - self._time.hi_res_ms()
                if left_ms <= 0:
                    raise Errors.REQUEST_TIMED_OUT.exception(
                        f"Failed to update metadata after {max_wait_ms:g} ms.{self.why_timed_out()}"
                    )
                self._time.wait(self._changed, left_ms)
            self._raise_fatal()

    def why_timed_out(self) -> str:
        """A suffix for the message of a timeout: nothing, or that no broker of ``bootstrap.servers`` responds."""
        cluster = self._cluster
        if not cluster.is_bootstrap_configured:
            return ""
        addresses = ", ".join(f"{node.host}:{node.port}" for node in cluster.nodes)
        return f" No broker has responded yet: is one running at {addresses}?"

    # ── topics of interest ────────────────────────────────────────────────────────────────────────────────────────

    def add(self, topic: str) -> None:
        """Add a topic, or keep it from expiring. A new topic requests an update.

        Raises ApiError INVALID_TOPIC_EXCEPTION for a name that does not fit into a request, which all topics share.
        """
        if self._topics.get(topic, 0) is None:
            return  # already used since the last update: true for nearly every record
        with self._changed:
            is_new = topic not in self._topics
            if is_new:
                ensure_can_be_asked_for(topic)
            self._topics[topic] = None
            if is_new:
                self._request_update_for_new_topics()

    def set_topics(self, topics: Iterable[str]) -> None:
        """Replace the topics of interest. A new topic requests an update.

        Raises ApiError INVALID_TOPIC_EXCEPTION as ``add`` does.
        """
        wanted = dict.fromkeys(topics)
        for topic in wanted:
            if topic not in self._topics:
                ensure_can_be_asked_for(topic)
        with self._changed:
            has_new = not wanted.keys() <= self._topics.keys()
            self._topics = dict(wanted)
            if has_new:
                self._request_update_for_new_topics()

    def set_need_metadata_for_all_topics(self, needed: bool) -> None:
        """Make all topics of interest, or only the added ones again."""
        with self._changed:
            is_new = needed and not self._need_metadata_for_all_topics
            self._need_metadata_for_all_topics = needed
            if is_new:
                self._request_update_for_new_topics()

    @property
    def topic_ids(self) -> frozenset[UUID]:
        """The ids of the topics of interest, if their names are not known. Then no names are asked for."""
        return self._topic_ids

    def set_topic_ids(self, topic_ids: frozenset[UUID]) -> None:
        """Replace the ids of interest. A new id requests an update."""
        with self._changed:
            has_new = not topic_ids <= self._topic_ids
            self._topic_ids = topic_ids
            if has_new:
                self._request_update_for_new_topics()

    def request_update(self) -> int:
        """Request an update as soon as the backoff allows; returns the current version, to be passed to
        ``await_update``."""
        with self._changed:
            self._need_update = True
            return self._version

    def add_listener(self, listener: MetadataListener) -> None:
        """Call ``listener(cluster)`` at every update, in the polling thread."""
        with self._changed:
            self._listeners.append(listener)

    def remove_listener(self, listener: MetadataListener) -> None:
        """Stop calling the listener."""
        with self._changed:
            self._listeners.remove(listener)

    # ── updating ──────────────────────────────────────────────────────────────────────────────────────────────────

    def update(self, cluster: Cluster, now_ms: float) -> None:
        """Take over a new cluster, but no leaders of older epochs, and wake up the waiting threads."""
        with self._changed:
            cluster = self._with_newest_leaders(cluster, now_ms)
            self._need_update = False
            self._authentication_error = None
            self._last_refresh_ms = self._last_successful_refresh_ms = now_ms
            self._version += 1
            if self._topic_expiry_enabled:
                self._expire_topics(now_ms)
            for listener in list(self._listeners):
                listener(cluster)
            if self._need_metadata_for_all_topics:
                # A listener may have added topics. All topics are known already, so no other update is needed.
                self._need_update = False
                cluster = cluster.with_partitions_of(self._topics)
            if cluster.cluster_id != self._cluster.cluster_id and not cluster.is_bootstrap_configured:
                logger.info("Cluster ID: %s", cluster.cluster_id)
            self._cluster = cluster
            self._changed.notify_all()

    def _with_newest_leaders(self, cluster: Cluster, now_ms: float) -> Cluster:
        """The cluster with the newest leader of each partition; with none if that broker is not listed any more.

        A topic that was deleted and created again starts over at epoch 0; by its id it is another topic. Responses
        before version 10 have no ids. So an epoch is also forgotten when a broker does not know the topic, or when only
        older ones were reported for NEWEST_LEADER_MS. (Without ids Kafka's clients need a restart: KAFKA-12257.)
        """
        nodes = {node.id: node for node in cluster.nodes}
        newest: dict[TopicPartition, tuple[PartitionInfo, float]] = {}
        partitions: list[PartitionInfo] = []
        ids_before = self._cluster.topic_ids
        made_again = {topic for topic, id_ in cluster.topic_ids.items() if ids_before.get(topic, id_) != id_}
        for info in cluster.partitions:
            partition = info.topic_partition
            known, reported_ms = self._newest_leaders.get(partition, (info, now_ms))
            if info.topic in made_again:
                known = info
            is_older = -1 < info.leader_epoch < known.leader_epoch
            if is_older and now_ms - reported_ms < NEWEST_LEADER_MS:
                logger.debug(
                    "Ignoring leader %s of %s: its epoch %d is older than %d",
                    info.leader, partition, info.leader_epoch, known.leader_epoch,
                )  # fmt: skip
                newest[partition] = known, reported_ms
                partitions.append(replace(known, leader=nodes.get(known.leader.id) if known.leader else None))
            else:
                newest[partition] = info, now_ms
                partitions.append(info)
        if cluster.controller is None:
            # The broker has just started and knows no topics yet, or the controller is down.
            newest = self._newest_leaders | newest
        self._newest_leaders = newest
        kept = tuple(partitions)
        return cluster if kept == cluster.partitions else replace(cluster, partitions=kept)

    def failed_update(self, now_ms: float) -> None:
        """An update has failed: the backoff starts."""
        with self._changed:
            self._last_refresh_ms = now_ms

    def fail(self, error: Exception) -> None:
        """There will be no more updates: raise this error in all threads that wait, now and later."""
        with self._changed:
            self._fatal = error
            self._changed.notify_all()

    def authentication_failed(self, error: AuthenticationError) -> None:
        """A broker and this client do not accept each other: raise this error in all threads that wait.

        The client connects again in the background. The next update shows that the error is no longer true.
        """
        with self._changed:
            self._authentication_error = error
            self._changed.notify_all()

    @property
    def authentication_error(self) -> AuthenticationError | None:
        """The error of the last failed authentication, if nothing has been heard of the cluster since."""
        return self._authentication_error

    def raise_authentication_error(self) -> None:
        """Raise that error if there is one."""
        error = self._authentication_error
        if error is not None:
            raise error

    def _raise_fatal(self) -> None:
        if self._fatal is not None:
            raise self._fatal

    def _expire_topics(self, now_ms: float) -> None:
        for topic, expires_ms in list(self._topics.items()):
            if expires_ms is None:
                self._topics[topic] = now_ms + TOPIC_EXPIRY_MS
            elif expires_ms <= now_ms:
                del self._topics[topic]
                logger.debug("Removing unused topic %s from the metadata list", topic)

    def _request_update_for_new_topics(self) -> None:
        self._last_refresh_ms = -math.inf  # without backoff
        self.request_update()


def ensure_can_be_asked_for(topic: object) -> None:
    """Raise ``invalid_topic`` for a name that does not fit into a request.

    A name must be a str without unpaired surrogates, and its length must fit into an int16.
    """
    try:
        if isinstance(topic, str) and len(topic.encode()) <= MAX_STRING_BYTES:
            return
    except UnicodeEncodeError:
        pass
    raise invalid_topic(topic)


def invalid_topic(topic: object) -> ApiError:
    """The error for an invalid topic name."""
    return Errors.INVALID_TOPIC_EXCEPTION.exception(
        f"The topic name {str(topic)[:250]!r} is not valid: it has 1 to 249 ASCII letters, digits, '.', '_' and '-'"
    )
