"""The transactional producer of a thread, for ``processing.guarantee=exactly_once_v2``.

Kafka 2.6 (KIP-447): streams/.../processor/internals/StreamsProducer.java · book 9.1.3
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.streams.errors import StreamsError, TaskCorruptedError, TaskMigratedError
from kafka_lite.streams.tasks.streams_producer import StreamsProducer, is_fenced, is_one_of

_NO_MEMBER = (Errors.ILLEGAL_GENERATION, Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_INSTANCE_ID)
_FORGOTTEN = (Errors.INVALID_PRODUCER_ID_MAPPING,)


class ThreadProducer(StreamsProducer):
    """One producer for all tasks of a thread, and one transaction at a time with the results of all of them.

    ::

                        exactly_once                         exactly_once_v2
        producers       one for each task                    one for each thread
        transactional   <application id>-<task id>           <application id>-<process id>-<thread number>
          .id
        a zombie is     by the transactional.id of the       by the generation of the group, which goes along with
          refused       task, which another one has taken    the offsets: the coordinator knows who owns the partitions
        a new owner     for init_transactions, which ends    until no offset of its partitions is pending: the
          waits         what the old one left open           coordinator says so (UNSTABLE_OFFSET_COMMIT)

    An application of 1,000 tasks on 4 threads has 4 producers, with their buffers and connections, and a commit is 4
    transactions. The price: if one task fails, the work of all tasks of the thread since the last commit is aborted.
    """

    NEEDS = "processing.guarantee=exactly_once_v2 requires brokers of Kafka 2.5 or later"

    def __init__(
        self,
        create: Callable[[], KafkaProducer],
        thread: str,
        group_metadata: Callable[[], ConsumerGroupMetadata],
    ) -> None:
        """``create`` makes a producer, each time with the same ``transactional.id``."""
        super().__init__(create(), f"all of {thread}", "")
        self._create = create
        self._member = group_metadata
        self._is_initialized = False

    def init_transactions(self) -> None:
        """Before a task is restored, and again after ``reset``. Otherwise a no-op. Raises StreamsError."""
        if not self._is_initialized:
            super().init_transactions()
            self._is_initialized = True

    def reset(self) -> None:
        """Abort the open transaction, and begin again with a new producer: this one may be fenced or in doubt.

        If the abort fails, ``init_transactions`` ends the transaction that is left open.
        """
        self.abort_transaction()
        self.close()
        self._producer = self._create()
        self._is_initialized = False

    def _group_metadata(self) -> ConsumerGroupMetadata:
        return self._member()

    def _translated(self, what: str, error: KafkaError) -> StreamsError:
        if is_one_of(error, _NO_MEMBER):
            return TaskMigratedError(self._task_id, "the group has rebalanced without its thread")
        if is_fenced(error) or is_one_of(error, _FORGOTTEN):
            return TaskMigratedError(self._task_id, "the coordinator has aborted the transaction of its thread")
        if is_one_of(error, (Errors.REQUEST_TIMED_OUT,)) and self._is_initialized:
            return TaskCorruptedError(self._task_id, f"failed to {what} in time")
        return super()._translated(what, error)


class SharedProducer:
    """A task's view of its thread's producer: whether a transaction is open. The thread ends it, and closes it."""

    def __init__(self, producer: ThreadProducer) -> None:
        self._producer = producer

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open: of this task, or of another one, since they end together."""
        return self._producer.in_transaction

    def commit_transaction(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Commit the work of all tasks. Raises StreamsError; then the transaction is still open."""
        self._producer.commit_transaction(offsets)

    def abort_transaction(self) -> None:
        """A no-op: the thread does it, after all its tasks are closed."""

    def close(self) -> None:
        """A no-op."""
