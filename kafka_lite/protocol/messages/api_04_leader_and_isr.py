"""LeaderAndIsr: the controller makes brokers leaders and followers.

Kafka 0.10.2: clients/.../common/requests/LeaderAndIsrRequest.java, LeaderAndIsrResponse.java · book 7.2.2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from uuid import UUID

from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import (
    Request,
    Response,
    Struct,
    array,
    boolean,
    int8,
    int16,
    int32,
    int64,
    string,
    uuid_,
)


class LeaderAndIsrPartitionState(Struct):
    """The state of one partition on the broker."""

    topic_name: str = string(versions="0-1", ignorable=True)
    partition_index: int = int32()
    controller_epoch: int = int32()  # of the controller that decided
    leader: int = int32()  # -1 none, -2 the topic is being deleted
    leader_epoch: int = int32()
    isr: list[int] = array(int32)
    partition_epoch: int = int32()  # version of the state's znode
    replicas: list[int] = array(int32)
    adding_replicas: list[int] = array(int32, versions="3+", ignorable=True)
    removing_replicas: list[int] = array(int32, versions="3+", ignorable=True)
    is_new: bool = boolean(versions="1+", ignorable=True)
    leader_recovery_state: int = int8(versions="6+")


class LeaderAndIsrTopicState(Struct):
    """The partitions of one topic."""

    topic_name: str = string(versions="2+")
    topic_id: UUID = uuid_(versions="5+", ignorable=True)
    partition_states: list[LeaderAndIsrPartitionState] = array(LeaderAndIsrPartitionState, versions="2+")


class LeaderAndIsrLiveLeader(Struct):
    """The address of a leader, for its followers."""

    broker_id: int = int32()
    host_name: str = string()
    port: int = int32()


class LeaderAndIsrRequest(Request, api_key=ApiKey.LEADER_AND_ISR, versions="0-7", flexible="4+"):
    """Leader, ISR and replicas of each partition of the broker.

    Versions 0 and 1 name the topic with each partition, later ones group the partitions by topic.

        v1  is_new: the replica is being created, in a directory that the broker chooses
        v2  broker_epoch, by which requests to an earlier incarnation of the broker are refused; partitions by topic
        v3  adding_replicas, removing_replicas: a reassignment in progress
        v4  compact lengths and tagged fields
        v5  topic ids; type: all partitions or only some
        v6  leader_recovery_state: after an unclean election
        v7  is_kraft_controller
    """

    controller_id: int = int32()
    is_kraft_controller: bool = boolean(versions="7+")
    controller_epoch: int = int32()
    broker_epoch: int = int64(versions="2+", default=-1, ignorable=True)
    type: int = int8(versions="5+")  # 0 unknown, 1 some of the broker's partitions, 2 all of them
    ungrouped_partition_states: list[LeaderAndIsrPartitionState] = array(LeaderAndIsrPartitionState, versions="0-1")
    topic_states: list[LeaderAndIsrTopicState] = array(LeaderAndIsrTopicState, versions="2+")
    live_leaders: list[LeaderAndIsrLiveLeader] = array(LeaderAndIsrLiveLeader)

    def partition_states(self) -> Iterator[LeaderAndIsrPartitionState]:
        """The states of all partitions, each with its topic's name, in either layout of the request."""
        yield from self.ungrouped_partition_states
        for topic in self.topic_states:
            for state in topic.partition_states:
                state.topic_name = topic.topic_name
                yield state

    def topic_ids(self) -> dict[str, UUID]:
        """The ids of the topics that have one."""
        return {topic.topic_name: topic.topic_id for topic in self.topic_states if topic.topic_id != ZERO_UUID}


class LeaderAndIsrPartitionError(Struct):
    """The outcome for one partition."""

    topic_name: str = string(versions="0-4", ignorable=True)
    partition_index: int = int32()
    error_code: int = int16()


class LeaderAndIsrTopicError(Struct):
    """The outcome for one topic."""

    topic_id: UUID = uuid_(versions="5+")
    partition_errors: list[LeaderAndIsrPartitionError] = array(LeaderAndIsrPartitionError, versions="5+")


class LeaderAndIsrResponse(Response, api_key=ApiKey.LEADER_AND_ISR, versions="0-7", flexible="4+"):
    """Whether the broker has complied.

    v5  errors by topic id instead of name
    """

    error_code: int = int16()
    partition_errors: list[LeaderAndIsrPartitionError] = array(LeaderAndIsrPartitionError, versions="0-4")
    topics: list[LeaderAndIsrTopicError] = array(LeaderAndIsrTopicError, versions="5+")

    def by_topic_id(self, topic_ids: Mapping[str, UUID]) -> LeaderAndIsrResponse:
        """The same in the layout of version 5; a topic without an id has zero."""
        topics: dict[UUID, LeaderAndIsrTopicError] = {}
        for error in self.partition_errors:
            topic_id = topic_ids.get(error.topic_name, ZERO_UUID)
            topic = topics.setdefault(topic_id, LeaderAndIsrTopicError(topic_id=topic_id))
            topic.partition_errors.append(error)
        return LeaderAndIsrResponse(error_code=self.error_code, topics=list(topics.values()))

    def by_topic_name(self, topic_names: Mapping[UUID, str]) -> LeaderAndIsrResponse:
        """The same in the layout before version 5, in which it may be already; topics without a name are left out."""
        errors = [
            LeaderAndIsrPartitionError(topic_name=name, partition_index=e.partition_index, error_code=e.error_code)
            for topic in self.topics
            if (name := topic_names.get(topic.topic_id)) is not None
            for e in topic.partition_errors
        ]
        return LeaderAndIsrResponse(error_code=self.error_code, partition_errors=[*self.partition_errors, *errors])
