from kafka_learn.labs.coordinators import metadata_of
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.marker_sender import MarkerSender
from kafka_lite.coordinator.transaction.pending_completion import Markers, PendingCompletion
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from kafka_lite.protocol.messages.api_27_write_txn_markers import WriteTxnMarkersRequest, WriteTxnMarkersResponse

RESPONSE = WriteTxnMarkersResponse(markers=[])


class Sent:
    """What a sender has sent, and what it has answered for."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.partitions: list[list[int]] = []
        self.answered: list[tuple[list[Markers], WriteTxnMarkersResponse | None]] = []
        self.sender = MarkerSender(
            1, self._send, lambda _broker_id: None, lambda markers, response: self.answered.append((markers, response))
        )

    def _send(self, _broker_id: int, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
        self.partitions.append(
            [
                partition
                for marker in request.markers
                for topic in marker.topics
                for partition in topic.partition_indexes
            ]
        )
        if self.failure is not None:
            raise self.failure
        return RESPONSE


def markers(partition: int) -> Markers:
    metadata = metadata_of(f"id-{partition}", TransactionState.PREPARE_COMMIT, 0)
    completion = PendingCompletion(metadata, 0, commit=True, transit=metadata.prepare_complete(0))
    return Markers(completion, (TopicPartition("t", partition),))


def test_all_queued_markers_are_in_one_request() -> None:
    sent = Sent()
    queued = [markers(partition) for partition in range(3)]
    for each in queued:
        sent.sender.put(each)
    sent.sender.do_work()
    assert sent.partitions == [[0, 1, 2]]
    assert sent.answered == [(queued, RESPONSE)]


def test_without_a_response_all_of_them_are_given_back() -> None:
    for failure in (ConnectionResetError(), KafkaError("disconnected")):
        sent = Sent(failure)
        queued = [markers(partition) for partition in range(2)]
        for each in queued:
            sent.sender.put(each)
        sent.sender.do_work()
        assert sent.answered == [(queued, None)]


def test_a_sender_that_is_shut_down_sends_nothing() -> None:
    sent = Sent()
    sent.sender.put(markers(0))
    sent.sender.initiate_shutdown()
    sent.sender.do_work()
    assert (sent.partitions, sent.answered) == ([], [])
