"""Requests about the replicas and leaders of partitions: AlterPartitionReassignments, ListPartitionReassignments,
ElectLeaders.

Kafka 2.4: core/.../server/KafkaApis.scala (handleAlterPartitionReassignmentsRequest,
handleListPartitionReassignmentsRequest, handleElectReplicaLeader), server/ReplicaManager.scala (electLeaders)
· book 7.1.4, 7.1.6
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.kafka_controller import KafkaController
from kafka_lite.controller.partition_reassigner import AlterResults
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.controller.replica_leader_election import ElectionResults, ElectionType
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_43_elect_leaders as elect_leaders
from kafka_lite.protocol.messages import api_45_alter_partition_reassignments as alter_reassignments
from kafka_lite.protocol.messages import api_46_list_partition_reassignments as list_reassignments
from kafka_lite.server.admin.delayed_elect_leader import DelayedElectLeader, ElectionErrors
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.metadata_cache import MetadataCache

V = TypeVar("V")

MANY_PARTITIONS: Final = 2000
MAX_WAIT_S: Final = 10.0
"""How long a request handler waits for the controller's thread, for a request of so many partitions."""


class PartitionAdminApis:
    """Handlers that pass requests on to this broker's controller. If it is not active, they respond NOT_CONTROLLER."""

    def __init__(
        self, broker_id: int, controller: KafkaController, metadata_cache: MetadataCache, time: Time = SYSTEM_TIME
    ) -> None:
        self._controller = controller
        self._cache = metadata_cache
        self.elect_leader_purgatory: DelayedOperationPurgatory[DelayedElectLeader] = DelayedOperationPurgatory(
            "ElectLeader", broker_id=broker_id, time=time
        )

    def shutdown(self) -> None:
        """Stop the purgatory."""
        self.elect_leader_purgatory.shutdown()

    def try_complete_delayed_elections(self, topic: str) -> None:
        """Complete elections that wait for the new leaders of this topic."""
        self.elect_leader_purgatory.check_and_complete(topic)

    # ── reassignments ─────────────────────────────────────────────────────────────────────────────────────────────

    def handle_alter_partition_reassignments(
        self, _request: Request, body: alter_reassignments.AlterPartitionReassignmentsRequest, respond: Respond
    ) -> None:
        """Start or cancel reassignments. The response does not wait for their end."""
        targets = {
            TopicPartition(topic.name, partition.partition_index): partition.replicas
            for topic in body.topics
            for partition in topic.partitions
        }

        may_resize = body.allow_replication_factor_change

        def on_results(results: AlterResults | None) -> None:
            if results is None:
                respond(
                    alter_reassignments.AlterPartitionReassignmentsResponse(
                        error_code=Errors.NOT_CONTROLLER.code, error_message=Errors.NOT_CONTROLLER.message
                    )
                )
                return
            topics = [
                alter_reassignments.ReassignableTopicResponse(
                    name=topic,
                    partitions=[
                        alter_reassignments.ReassignablePartitionResponse(
                            partition_index=tp.partition, error_code=code, error_message=message
                        )
                        for tp, (code, message) in partitions.items()
                    ],
                )
                for topic, partitions in _by_topic(_codes(_ordered(results, targets))).items()
            ]
            respond(
                alter_reassignments.AlterPartitionReassignmentsResponse(
                    error_message=None, responses=topics, allow_replication_factor_change=may_resize
                )
            )

        _in_turn(
            len(targets),
            on_results,
            lambda answer: self._controller.alter_partition_reassignments(targets, answer, may_resize=may_resize),
        )

    def handle_list_partition_reassignments(
        self, _request: Request, body: list_reassignments.ListPartitionReassignmentsRequest, respond: Respond
    ) -> None:
        """The reassignments in progress; partitions that are not being reassigned are left out."""

        def on_results(results: dict[TopicPartition, ReplicaAssignment] | None) -> None:
            if results is None:
                respond(
                    list_reassignments.ListPartitionReassignmentsResponse(
                        error_code=Errors.NOT_CONTROLLER.code, error_message=Errors.NOT_CONTROLLER.message
                    )
                )
                return
            topics = [
                list_reassignments.OngoingTopicReassignment(
                    name=topic,
                    partitions=[
                        list_reassignments.OngoingPartitionReassignment(
                            partition_index=tp.partition,
                            replicas=each.replicas,
                            adding_replicas=each.adding_replicas,
                            removing_replicas=each.removing_replicas,
                        )
                        for tp, each in partitions.items()
                    ],
                )
                for topic, partitions in _by_topic(dict(sorted(results.items()))).items()
            ]
            respond(list_reassignments.ListPartitionReassignmentsResponse(error_message=None, topics=topics))

        wanted = None
        if body.topics is not None:
            wanted = [TopicPartition(topic.name, index) for topic in body.topics for index in topic.partition_indexes]
        _in_turn(
            len(wanted or ()), on_results, lambda answer: self._controller.list_partition_reassignments(wanted, answer)
        )

    # ── elections ─────────────────────────────────────────────────────────────────────────────────────────────────

    def handle_elect_leaders(
        self, _request: Request, body: elect_leaders.ElectLeadersRequest, respond: Respond
    ) -> None:
        """Elect leaders, and respond once this broker knows them."""
        all_partitions = body.topic_partitions is None
        asked = self._all_partitions() if body.topic_partitions is None else _asked_for(body.topic_partitions)
        partitions = list(dict.fromkeys(asked))

        def on_complete(errors: ElectionErrors) -> None:
            if all_partitions:
                # Only those for which something was done, or went wrong.
                errors = {tp: e for tp, e in errors.items() if e is None or e.error is not Errors.ELECTION_NOT_NEEDED}
            respond(_elect_leaders_response(errors))

        def on_results(results: ElectionResults | None) -> None:
            if results is None:
                respond(_elect_leaders_response({tp: ApiError(Errors.NOT_CONTROLLER) for tp in partitions}))
                return
            leaders = {tp: found for tp, found in results.items() if isinstance(found, int)}
            errors = {tp: found for tp, found in results.items() if isinstance(found, ApiError)}
            operation = DelayedElectLeader(body.timeout_ms, leaders, errors, self._cache, on_complete)
            topics = sorted({tp.topic for tp in leaders})
            if topics and body.timeout_ms > 0:
                self.elect_leader_purgatory.try_complete_else_watch(operation, topics)
            else:
                operation.force_complete()

        try:
            election_type = ElectionType(body.election_type)
        except ValueError:
            message = f"Unknown election type {body.election_type}"
            named = [] if all_partitions else partitions
            refusal = _elect_leaders_response({tp: ApiError(Errors.INVALID_REQUEST, message) for tp in named})
            if body.topic_partitions != []:
                refusal.error_code = Errors.INVALID_REQUEST.code
            respond(refusal)
            return
        _in_turn(
            len(partitions),
            on_results,
            lambda answer: self._controller.elect_leaders(partitions, election_type, answer),
        )

    def _all_partitions(self) -> Iterable[TopicPartition]:
        for topic in self._cache.get_all_topics():
            for index in self._cache.get_partitions(topic):
                yield TopicPartition(topic, index)


def _in_turn(
    partitions: int, on_results: Callable[[V | None], None], ask: Callable[[Callable[[V | None], None]], None]
) -> None:
    """Ask the controller's thread; about many partitions, wait until it has answered.

    When a handler is done with a large request, the next one is let in, and garbage is collected again. Without waiting
    the large requests of ten clients would all be in memory, while they wait for the controller's one thread.
    """
    if partitions < MANY_PARTITIONS:
        ask(on_results)
        return
    answered = threading.Event()

    def answer(results: V | None) -> None:
        try:
            on_results(results)
        finally:
            answered.set()

    ask(answer)
    answered.wait(MAX_WAIT_S)


def _asked_for(topics: Iterable[elect_leaders.TopicPartitions]) -> Iterable[TopicPartition]:
    return (TopicPartition(topic.topic, index) for topic in topics for index in topic.partitions)


def _elect_leaders_response(errors: Mapping[TopicPartition, ApiError | None]) -> elect_leaders.ElectLeadersResponse:
    results = [
        elect_leaders.ReplicaElectionResult(
            topic=topic,
            partition_result=[
                elect_leaders.PartitionResult(partition_id=tp.partition, error_code=code, error_message=message)
                for tp, (code, message) in partitions.items()
            ],
        )
        for topic, partitions in _by_topic(_codes(errors)).items()
    ]
    return elect_leaders.ElectLeadersResponse(replica_election_results=results)


def _codes(errors: Mapping[TopicPartition, ApiError | None]) -> dict[TopicPartition, tuple[int, str | None]]:
    return {tp: (0, None) if error is None else (error.error.code, str(error)) for tp, error in errors.items()}


def _ordered(values: Mapping[TopicPartition, V], order: Iterable[TopicPartition]) -> dict[TopicPartition, V]:
    """The values in the order of the request."""
    return {partition: values[partition] for partition in order if partition in values}


def _by_topic(values: Mapping[TopicPartition, V]) -> dict[str, dict[TopicPartition, V]]:
    """In the order of the values: to sort fifty thousand takes a tenth of a second in one piece, with the GIL held."""
    topics: dict[str, dict[TopicPartition, V]] = {}
    for partition, value in values.items():
        topics.setdefault(partition.topic, {})[partition] = value
    return topics
