"""A group: its members, the state between its generations, and its offsets.

Kafka 0.10.2: core/.../coordinator/GroupMetadata.scala · book 5.2.2, 5.4.2
"""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_lock import GroupLock
from kafka_lite.coordinator.group.group_state import VALID_PREVIOUS_STATES, GroupState
from kafka_lite.coordinator.group.member_metadata import JoinCallback, MemberMetadata, Protocols, join_error, sync_error
from kafka_lite.coordinator.group.modern.consumer_group import CONSUMER_PROTOCOL_TYPE, ConsumerGroup
from kafka_lite.coordinator.group.modern.group_writer import GroupWriter
from kafka_lite.coordinator.group.modern.share.share_group import ShareGroup
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from kafka_lite.coordinator.group.offset_cache import OffsetCache
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse, JoinGroupResponseMember
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import decode_with_version

logger = logging.getLogger(__name__)

MEMBER_ID_DELIMITER = "-"


class GroupMetadata:
    """The coordinator's state of one group.

    - members: by member id, and by instance id if static; one of them is the leader
    - pending members: ids that were handed out (KIP-394) and have not been used to join yet
    - pending sync members: the members of the new generation that have not sent SyncGroup yet
    - the generation: its number and the protocol that was elected for it
    - offsets: the offset cache

    Callers must hold ``lock`` to read or change a group. Writes to the log are deferred until the lock is released: see
    GroupLock.
    """

    def __init__(self, group_id: str, time: Time) -> None:
        self.group_id = group_id
        self.lock = GroupLock()
        self.state = GroupState.EMPTY
        self.state_timestamp_ms: int | None = None
        """When the state last changed; None for a group that has never had members."""
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.generation_id = 0
        self.leader_id: str | None = None
        self.new_member_added = False
        """Whether a member has joined while an InitialDelayedJoin was waiting."""
        self.members: dict[str, MemberMetadata] = {}
        self.pending_members: set[str] = set()
        self.pending_sync_members: set[str] = set()
        self.offsets = OffsetCache()
        self.modern: ConsumerGroup | None = None
        """The members and epochs of a group of KIP-848, which has no members here; None for a classic group."""
        self.share: ShareGroup | None = None
        """The members and epochs of a share group, which has neither members nor offsets here."""
        self.writer: GroupWriter | None = None
        """Writes the changes of ``modern`` and ``share``."""
        self._time = time
        self._static_members: dict[str, str] = {}
        self._awaiting_join = 0
        self._supported_protocols: Counter[str] = Counter()
        self._subscribed_topics: frozenset[str] | None = None

    # ── state ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def is_in(self, *states: GroupState) -> bool:
        """Whether the group is in one of these states."""
        return self.state in states

    @property
    def is_unused(self) -> bool:
        """Whether the group has neither members of any kind nor offsets. Share groups stay until they are deleted."""
        is_empty = self.is_in(GroupState.EMPTY) and self.offsets.is_empty
        return is_empty and self.share is None and not self.has_modern_members

    @property
    def is_new(self) -> bool:
        """Whether nothing is known of the group but its name: it may become a group of any kind."""
        return self.is_unused and self.modern is None and self.state_timestamp_ms is None and not self.pending_members

    @property
    def has_modern_members(self) -> bool:
        """Whether it is a group of KIP-848 with members, or the departure of the last one is not in the log yet."""
        is_busy = self.writer is not None and not self.writer.is_idle
        return self.modern is not None and (is_busy or bool(self.modern.members))

    @property
    def can_rebalance(self) -> bool:
        """Whether a rebalance may begin now."""
        return self.state in VALID_PREVIOUS_STATES[GroupState.PREPARING_REBALANCE]

    def transition_to(self, target: GroupState) -> None:
        """Change the state. Raises RuntimeError for a transition that is not in VALID_PREVIOUS_STATES."""
        if self.state not in VALID_PREVIOUS_STATES[target]:
            raise RuntimeError(f"Group {self.group_id} cannot go from {self.state.name} to {target.name}")
        self.state = target
        self.state_timestamp_ms = self._time.milliseconds()

    # ── members ───────────────────────────────────────────────────────────────────────────────────────────────────

    def has(self, member_id: str) -> bool:
        """Whether the group has this member."""
        return member_id in self.members

    def is_leader(self, member_id: str) -> bool:
        """Whether this member is the leader, which computes the assignment."""
        return self.leader_id == member_id

    def static_member_id(self, group_instance_id: str) -> str | None:
        """The current member id of a static member; None if no member has this instance id."""
        return self._static_members.get(group_instance_id)

    def checked_member(
        self, member_id: str, group_instance_id: str | None, generation_id: int | None = None
    ) -> MemberMetadata:
        """The member with this id, after checking its instance id and generation (None: any generation).

        Raises ApiError: FENCED_INSTANCE_ID if another member has taken over the instance id, UNKNOWN_MEMBER_ID, or
        ILLEGAL_GENERATION.
        """
        if group_instance_id is not None:
            current = self._static_members.get(group_instance_id)
            if current is not None and current != member_id:
                logger.info("Static member %s of group %s is fenced by %s", member_id, self.group_id, current)
                raise Errors.FENCED_INSTANCE_ID.exception()
            if current is None:
                raise Errors.UNKNOWN_MEMBER_ID.exception()
        member = self.members.get(member_id)
        if member is None:
            raise Errors.UNKNOWN_MEMBER_ID.exception()
        if generation_id is not None and generation_id != self.generation_id:
            raise Errors.ILLEGAL_GENERATION.exception()
        return member

    @staticmethod
    def generate_member_id(client_id: str, group_instance_id: str | None) -> str:
        """A member id that was never used before."""
        return f"{client_id if group_instance_id is None else group_instance_id}{MEMBER_ID_DELIMITER}{uuid.uuid4()}"

    def add(self, member: MemberMetadata, callback: JoinCallback | None = None) -> None:
        """Add a member. The first one sets the group's protocol type and becomes the leader."""
        if not self.members:
            self.protocol_type = member.protocol_type
        if member.group_instance_id is not None:
            self._static_members[member.group_instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self._supported_protocols.update(member.protocols)
        self._set_join_callback(member, callback)
        self.pending_members.discard(member.member_id)

    def remove(self, member_id: str) -> None:
        """Remove a member or a pending member. If it was the leader, the next member becomes the leader."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._supported_protocols.subtract(member.protocols)
            self._set_join_callback(member, None)
            if member.group_instance_id is not None:
                self._static_members.pop(member.group_instance_id, None)
        if self.is_leader(member_id):
            self.leader_id = next(iter(self.members), None)
        self.pending_members.discard(member_id)
        self.pending_sync_members.discard(member_id)

    def update_member(
        self,
        member: MemberMetadata,
        protocols: Protocols,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        callback: JoinCallback | None,
    ) -> None:
        """Replace a member's protocols, timeouts and parked JoinGroup."""
        self._supported_protocols.subtract(member.protocols)
        member.supported_protocols = protocols
        self._supported_protocols.update(member.protocols)
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms
        self._set_join_callback(member, callback)

    def replace_static_member(self, group_instance_id: str, old_member_id: str, new_member_id: str) -> MemberMetadata:
        """Give a static member that was restarted a new member id. Requests under the old id are fenced."""
        member = self.members.pop(old_member_id)
        self.invoke_join_callback(member, join_error(old_member_id, Errors.FENCED_INSTANCE_ID))
        self.invoke_sync_callback(member, sync_error(Errors.FENCED_INSTANCE_ID))
        member.member_id = new_member_id
        self.members[new_member_id] = member
        if self.is_leader(old_member_id):
            self.leader_id = new_member_id
        self._static_members[group_instance_id] = new_member_id
        if old_member_id in self.pending_sync_members:
            self.pending_sync_members.remove(old_member_id)
            self.pending_sync_members.add(new_member_id)
        return member

    def elect_leader_that_has_joined(self) -> bool:
        """Keep the leader if it has joined, otherwise make the first member that has joined the leader; false if none
        has."""
        leader = self.members.get(self.leader_id or "")
        if leader is not None and leader.is_awaiting_join:
            return True
        joined = next((member for member in self.members.values() if member.is_awaiting_join), None)
        if joined is None:
            return False
        logger.info("Leader of group %s has not joined in time; the new leader is %s", self.group_id, joined.member_id)
        self.leader_id = joined.member_id
        return True

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of all members, ms."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    # ── parked requests ───────────────────────────────────────────────────────────────────────────────────────────

    @property
    def num_awaiting_join(self) -> int:
        """The number of members whose JoinGroup is parked."""
        return self._awaiting_join

    @property
    def has_all_members_joined(self) -> bool:
        """Whether every member has joined, and no pending member is awaited."""
        return len(self.members) == self._awaiting_join and not self.pending_members

    def not_yet_rejoined_members(self) -> list[MemberMetadata]:
        """Members that have not joined the next generation."""
        return [member for member in self.members.values() if not member.is_awaiting_join]

    def _set_join_callback(self, member: MemberMetadata, callback: JoinCallback | None) -> None:
        """Park a member's JoinGroup, or with None forget it, and keep the count of parked joins."""
        self._awaiting_join += (callback is not None) - member.is_awaiting_join
        member.awaiting_join_callback = callback

    def invoke_join_callback(self, member: MemberMetadata, response: JoinGroupResponse) -> None:
        """Respond to the member's parked JoinGroup, if there is one."""
        callback = member.awaiting_join_callback
        if callback is not None:
            self._set_join_callback(member, None)
            callback(response)

    def invoke_sync_callback(self, member: MemberMetadata, response: SyncGroupResponse) -> bool:
        """Respond to the member's parked SyncGroup; false if there is none."""
        callback = member.awaiting_sync_callback
        if callback is None:
            return False
        member.awaiting_sync_callback = None
        callback(response)
        return True

    # ── protocols and generations ─────────────────────────────────────────────────────────────────────────────────

    def supports_protocols(self, protocol_type: str, protocols: Collection[str]) -> bool:
        """Whether a client with these protocols can be a member: all other members must support at least one of
        them."""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type) and bool(protocols)
        return protocol_type == self.protocol_type and any(
            self._supported_protocols[name] == len(self.members) for name in protocols
        )

    def select_protocol(self) -> str:
        """The protocol with the most votes among those that every member supports."""
        candidates = {name for name, members in self._supported_protocols.items() if members == len(self.members)}
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return votes.most_common(1)[0][0]

    def init_next_generation(self) -> None:
        """Begin a generation with the current members. Without members the group becomes EMPTY."""
        self.generation_id += 1
        self.protocol_name = self.select_protocol() if self.members else None
        self._subscribed_topics = self._compute_subscribed_topics()
        self.transition_to(GroupState.AWAITING_SYNC if self.members else GroupState.EMPTY)
        self.pending_sync_members.clear()

    def restore(
        self,
        members: Iterable[MemberMetadata],
        *,
        generation_id: int,
        protocol_type: str,
        protocol_name: str | None,
        leader_id: str | None,
        state_timestamp_ms: int | None,
    ) -> None:
        """Restore a generation that was read from the log: STABLE, or EMPTY without members."""
        for member in members:
            self.add(member)
        self.state = GroupState.STABLE if self.members else GroupState.EMPTY
        self.generation_id = generation_id
        self.protocol_type = protocol_type or None
        self.protocol_name = protocol_name
        self.leader_id = leader_id
        self.state_timestamp_ms = state_timestamp_ms
        self._subscribed_topics = self._compute_subscribed_topics()

    def become_classic(self, members: Iterable[MemberMetadata], generation_id: int) -> None:
        """Take over the members of a group of KIP-848, in a generation of their own: STABLE."""
        for member in members:
            self.add(member)
        self.state, self.state_timestamp_ms = GroupState.STABLE, self._time.milliseconds()
        self.generation_id = generation_id
        self.protocol_name = self.select_protocol()
        self._subscribed_topics = self._compute_subscribed_topics()

    def forget_members(self) -> None:
        """Hand over the members to a group of KIP-848, of which only ``modern`` knows."""
        for member_id in list(self.members):
            self.remove(member_id)
        self.pending_members.clear()
        self.pending_sync_members.clear()
        self.state, self.state_timestamp_ms = GroupState.EMPTY, self._time.milliseconds()
        self.protocol_name = None

    def current_member_metadata(self) -> list[JoinGroupResponseMember]:
        """All members with their metadata for the elected protocol, from which the leader computes the assignment."""
        protocol = self.protocol_name or ""
        return [
            JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                metadata=member.metadata(protocol),
            )
            for member in self.members.values()
        ]

    def is_subscribed_to_topic(self, topic: str) -> bool:
        """Whether a member subscribes to the topic; true if that cannot be known."""
        if self.modern is not None:
            return self.modern.is_subscribed_to_topic(topic)
        return self._subscribed_topics is None or topic in self._subscribed_topics

    @property
    def is_consumer_group(self) -> bool:
        """Whether the members are consumers, not Connect workers for example."""
        return self.modern is not None or self.protocol_type == CONSUMER_PROTOCOL_TYPE

    def _compute_subscribed_topics(self) -> frozenset[str] | None:
        """The topics that consumers subscribe to; None for members of another kind or with unreadable metadata.

        Every version begins with the fields of version 0, which has the topics. The rest does not concern the
        coordinator, and some clients (kafka-go) announce version 1 but omit its field.
        """
        if not self.is_consumer_group:
            return None
        topics: set[str] = set()
        try:
            for member in self.members.values():
                metadata = member.metadata(self.protocol_name or "")
                topics.update(decode_with_version(ConsumerProtocolSubscription, metadata, as_version=0).topics)
        except (SchemaError, ValueError) as failure:
            logger.warning("Cannot determine the subscription of group %s: %s", self.group_id, failure)
            return None
        return frozenset(topics)

    # ── offsets ───────────────────────────────────────────────────────────────────────────────────────────────────

    def remove_expired_offsets(self, now_ms: int, retention_ms: int) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """Forget expired offsets and return them (KIP-211).

        An offset with an expiration time of its own expires then. Otherwise it is kept for ``retention_ms``, counted
        from

        - the moment the last member left, if the group is empty
        - its commit, if the group never had members, or if a stable group no longer subscribes to the topic

        An offset of a topic that a member may still read never expires.
        """
        if self.modern is not None:
            read = self.modern.subscribed_topics()
            return self.offsets.remove_if(
                lambda tp, offset: (
                    tp.topic not in read and _is_expired(offset, offset.commit_timestamp_ms, now_ms, retention_ms)
                )
            )
        if self.protocol_type is not None and self.state is GroupState.EMPTY:
            return self.offsets.remove_if(
                lambda _tp, offset: _is_expired(
                    offset, self.state_timestamp_ms or offset.commit_timestamp_ms, now_ms, retention_ms
                )
            )
        stable_consumers = self.is_consumer_group and self.state is GroupState.STABLE
        if self.protocol_type is None or (stable_consumers and self._subscribed_topics is not None):
            subscribed = self._subscribed_topics or frozenset()
            return self.offsets.remove_if(
                lambda tp, offset: (
                    tp.topic not in subscribed and _is_expired(offset, offset.commit_timestamp_ms, now_ms, retention_ms)
                )
            )
        return {}

    def __repr__(self) -> str:
        return f"GroupMetadata({self.group_id}, generation {self.generation_id}, {self.state.name})"


def _is_expired(offset: OffsetAndMetadata, base_timestamp_ms: int, now_ms: int, retention_ms: int) -> bool:
    if offset.expire_timestamp_ms is not None:
        return now_ms >= offset.expire_timestamp_ms
    return now_ms - base_timestamp_ms >= retention_ms
