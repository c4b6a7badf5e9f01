"""Has the share coordinator make the state of a group's partitions, and delete it, and notes what it has.

Kafka 4.1: group-coordinator/.../group/GroupCoordinatorService.java (persisterInitialize, deleteShareGroups),
GroupMetadataManager.java (initializeShareGroupState, uninitializeShareGroupState) · book 5.2.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.modern.share import share_group_records as group_records
from kafka_lite.coordinator.group.modern.share.share_group import ShareGroup, ShareGroupChange
from kafka_lite.coordinator.group.modern.share.state_partitions import StatePartitions
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions, grouped, pairs
from kafka_lite.coordinator.group.modern.topics_image import CurrentTopics
from kafka_lite.coordinator.share.persister import (
    UNINITIALIZED_START_OFFSET,
    PartitionErrorData,
    PartitionStateData,
    Persister,
)

logger = logging.getLogger(__name__)

Outcomes = Mapping[TopicIdPartition, PartitionErrorData]
OnDone = Callable[[Errors], None]


class GroupStateKeeper:
    """The group's side of ``__share_group_state``.

    ::

        log: initializing ─▶ initialize_state ─▶ log: initialized, or not any more initializing
        log: deleting     ─▶ delete_state     ─▶ the group is deleted

    The persister is never called with the lock of a group held. If the coordinator fails in between, the note is in
    the log, and a later heartbeat, or deletion, asks once more.
    """

    def __init__(self, coordinator: GroupCoordinator, topics: CurrentTopics, persister: Persister) -> None:
        self._coordinator = coordinator
        self._groups = coordinator.group_manager
        self._topics = topics
        self._persister = persister

    def initialize(self, group: GroupMetadata, partitions: TopicIdPartitions, state_epoch: int) -> None:
        """Ask for the state of partitions that are noted as initializing. Called with the lock of the group held."""
        wanted = {
            TopicIdPartition(*pair): PartitionStateData(state_epoch, UNINITIALIZED_START_OFFSET)
            for pair in pairs(partitions)
        }

        def on_made(outcomes: Outcomes) -> None:
            error = first_error(outcomes)
            if error is not Errors.NONE:
                logger.error("Cannot initialize the state of share group %s: %s", group.group_id, error.name)
                self.note(group, lambda known: known.fail(partitions))
            else:
                self.note(group, lambda known: known.succeed(partitions))

        group.lock.defer(lambda: self._persister.initialize_state(group.group_id, wanted, on_made))

    def note(
        self,
        group: GroupMetadata,
        changed: Callable[[StatePartitions], StatePartitions],
        on_written: OnDone = lambda _error: None,
    ) -> None:
        """Write down other partitions with state, unless the group is gone by now."""
        with group.lock:
            share = group.share
            if share is None or self._groups.get_group(group.group_id) is not group:
                on_written(Errors.GROUP_ID_NOT_FOUND)
                return
            change = ShareGroupChange(share)
            now = changed(share.partitions)
            if now != share.partitions:
                change.add(group_records.state_partitions(group.group_id, now))
            self._groups.writer_of(group).write(change, on_written)

    # ── deletion ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def delete_states_of(self, group_ids: Collection[str], respond: Callable[[Mapping[str, Errors]], None]) -> None:
        """Delete the states of several groups; ``respond`` gets the errors of those that must not be deleted now."""
        lock = threading.Lock()
        errors: dict[str, Errors] = {}
        if not group_ids:
            respond({})

        def on_done(group_id: str, error: Errors) -> None:
            with lock:
                errors[group_id] = error
                is_last = len(errors) == len(group_ids)
            if is_last:
                respond({each: found for each, found in errors.items() if found is not Errors.NONE})

        for group_id in group_ids:
            self.delete_states(group_id, lambda error, group_id=group_id: on_done(group_id, error))  # type: ignore[misc]

    def delete_states(self, group_id: str, done: OnDone) -> None:
        """Delete the states of a share group without members, before the group itself is deleted.

        Groups of other kinds have none. ``done`` gets NON_EMPTY_GROUP, an error of the share coordinator, or NONE.
        """
        group = self._groups.get_group(group_id)
        if group is None or self._coordinator.check_group(group_id) is not Errors.NONE:
            done(Errors.NONE)  # what deletes groups has the error
            return
        with group.lock:
            share = group.share
            if share is None:
                done(Errors.NONE)
                return
            try:
                share.check_empty()
            except ApiError as failure:
                done(failure.error)
                return
            partitions = self._with_state(share)
            if not partitions:
                done(Errors.NONE)
                return

            def on_noted(error: Errors) -> None:
                if error is Errors.NONE:
                    group.lock.defer(lambda: self._delete(group_id, partitions, done))
                else:
                    done(error)

            self.note(group, lambda known: known.delete(), on_noted)

    def _with_state(self, share: ShareGroup) -> TopicIdPartitions:
        topics = self._topics()
        names = (topics.topic_name(topic_id) for topic_id in sorted(share.partitions.deleting))
        found = (topics.topic(name) for name in names if name is not None)
        return share.partitions.with_state(topic for topic in found if topic is not None)

    def _delete(self, group_id: str, partitions: TopicIdPartitions, done: OnDone) -> None:
        def on_deleted(outcomes: Outcomes) -> None:
            error = first_error(outcomes)
            if error is not Errors.NONE:
                logger.error("Cannot delete the state of share group %s: %s", group_id, error.name)
            done(error)

        self._persister.delete_state(group_id, [TopicIdPartition(*pair) for pair in pairs(partitions)], on_deleted)

    # ── for others ────────────────────────────────────────────────────────────────────────────────────────────────────

    def initialized_partitions(self, group_id: str) -> TopicIdPartitions:
        """The partitions of a share group that have state; none of a group that there is not."""
        group = self._groups.get_group(group_id)
        if group is None:
            return {}
        with group.lock:
            return {} if group.share is None else dict(group.share.partitions.initialized)

    def share_group(self, group_id: str) -> GroupMetadata:
        """The group, which is a share group. Raises GROUP_ID_NOT_FOUND, or an error of the coordinator."""
        error = self._coordinator.check_group(group_id)
        if error is not Errors.NONE:
            raise error.exception()
        group = self._groups.get_group(group_id)
        if group is None or group.share is None:
            what = "not found" if group is None else "is not a share group"
            raise Errors.GROUP_ID_NOT_FOUND.exception(f"Group {group_id} {what}.")
        return group


def first_error(outcomes: Outcomes) -> Errors:
    """The error of the first partition that has one."""
    return next((outcome.error for outcome in outcomes.values() if outcome.error is not Errors.NONE), Errors.NONE)


def of_outcomes(outcomes: Outcomes) -> TopicIdPartitions:
    """The partitions with an outcome."""
    return grouped(outcomes)
