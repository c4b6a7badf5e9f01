"""Faults between a broker's handlers and their requests, without sockets; delays on a clock that a test advances."""

import threading

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages import api_00_produce as produce
from kafka_lite.protocol.messages import api_03_metadata as metadata
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.kafka_apis import OWN_CONNECTION
from kafka_lite.testing.fault_injector import OWN_CLIENT_ID, FaultInjector
from kafka_lite.testing.fault_list import FaultList
from kafka_lite.testing.request_log import RequestLog
from kafka_lite.testing.shifted_time import ShiftedTime
from tests.support.eventually import eventually
from tests.support.patience import patient_s


class Channel:
    """The broker's channel: what was sent over it, and which connections it closed."""

    def __init__(self):
        self.closed = []
        self.sent = []

    def close_connection(self, request):
        self.closed.append(request)

    def send_response(self, response):
        self.sent.append(response.send)


class Broker:
    """A handler of Produce that appends each request, and everything around it."""

    def __init__(self):
        self.time = ShiftedTime()
        self.faults, self.of_cluster = FaultList(), FaultList()
        self.requests, self.of_clients = RequestLog(), RequestLog()
        self.senders = {}
        self.injector = FaultInjector(
            self.time, [self.faults, self.of_cluster], self.requests, self.of_clients, 2, self.senders.get
        )
        self.channel = Channel()
        self.handled, self.responses = [], []
        self.responded = threading.Event()
        self.handler = self._append

    def _append(self, request, body, respond):
        self.handled.append(body)
        topics = [
            produce.TopicProduceResponse(
                name=topic.name,
                partition_responses=[produce.PartitionProduceResponse(index=data.index, base_offset=7)
                                     for data in topic.partition_data],
            )
            for topic in body.topic_data
        ]  # fmt: skip
        respond(produce.ProduceResponse(responses=topics))

    def respond(self, response):
        self.responses.append(response)
        self.responded.set()

    def receive(self, body, key=ApiKey.PRODUCE, client_id="shop", connection_id="c"):
        header = RequestHeader(api_key=key, api_version=7, correlation_id=3, client_id=client_id)
        request = Request(0, connection_id, "PLAINTEXT", "PLAINTEXT", "127.0.0.1", header, body, 100, 0)
        self.injector.wrap(key, lambda *args: self.handler(*args), lambda: self.channel)(request, body, self.respond)
        return request


@pytest.fixture
def broker():
    broker = Broker()
    yield broker
    broker.injector.shutdown()


def body(*topics, acks=1):
    data = [produce.PartitionProduceData(index=0, records=b"r")]
    return produce.ProduceRequest(
        acks=acks, topic_data=[produce.TopicProduceData(name=topic, partition_data=data) for topic in topics or ("a",)]
    )


def errors(response):
    return {
        topic.name: (partition.error_code, partition.base_offset)
        for topic in response.responses
        for partition in topic.partition_responses
    }


NOT_LEADER = Errors.NOT_LEADER_OR_FOLLOWER.code


def test_a_request_without_a_fault_is_logged_and_handled(broker):
    broker.receive(body())
    assert [errors(response) for response in broker.responses] == [{"a": (0, 7)}]
    (seen,) = broker.requests
    assert (seen.broker_id, seen.from_broker, seen.fault, seen.topics) == (2, None, "", ["a"])
    assert list(broker.of_clients) == [seen]


def test_requests_of_brokers_are_not_in_the_log_of_clients(broker):
    broker.senders = {}
    broker.injector._sender_of = lambda request: 1
    broker.receive(body())
    assert [seen.from_broker for seen in broker.requests] == [1]
    assert list(broker.of_clients) == []


@pytest.mark.parametrize("who", [{"client_id": OWN_CLIENT_ID}, {"connection_id": OWN_CONNECTION}])
def test_the_clusters_own_requests_have_no_faults_and_are_not_logged(broker, who):
    broker.faults.inject("Produce").drop_request().always()
    broker.injector.pause()
    broker.receive(body(), **who)
    assert len(broker.responses) == 1
    assert list(broker.requests) == []


def test_a_dropped_request_is_not_handled_and_its_connection_is_closed(broker):
    fault = broker.faults.inject("Produce").drop_request().once()
    request = broker.receive(body())
    assert (broker.handled, broker.responses, broker.channel.closed) == ([], [], [request])
    assert [seen.fault for seen in broker.requests] == [str(fault)]
    broker.receive(body())
    assert len(broker.responses) == 1, "once"


def test_a_dropped_response_was_handled(broker):
    broker.faults.inject("Produce").drop_response().once()
    request = broker.receive(body())
    assert (len(broker.handled), broker.responses, broker.channel.closed) == (1, [], [request])


def test_no_response_leaves_the_connection_open(broker):
    broker.faults.inject("Produce").no_response().once()
    broker.receive(body())
    assert (len(broker.handled), broker.responses, broker.channel.closed) == (1, [], [])


def test_the_first_fault_that_matches_applies_and_the_brokers_own_come_first(broker):
    broker.of_cluster.inject("Produce", Errors.REQUEST_TIMED_OUT).once()
    broker.faults.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()
    for _ in range(3):
        broker.receive(body())
    assert [errors(response)["a"][0] for response in broker.responses] == [
        NOT_LEADER, Errors.REQUEST_TIMED_OUT.code, 0,
    ]  # fmt: skip


def test_an_error_is_returned_and_nothing_is_handled(broker):
    broker.faults.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()
    broker.receive(body("a", "b"))
    assert broker.handled == []
    assert {error for error, _ in errors(broker.responses[0]).values()} == {NOT_LEADER}


def test_an_error_of_one_topic_leaves_the_others_to_the_handler(broker):
    broker.faults.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).for_topic("b").once()
    broker.receive(body("a", "b"))
    assert [[topic.name for topic in handled.topic_data] for handled in broker.handled] == [["a"]]
    (response,) = broker.responses
    assert errors(response)["a"] == (0, 7)
    assert errors(response)["b"][0] == NOT_LEADER


def test_an_error_without_a_response_closes_the_connection(broker):
    """As a broker does with acks=0: the client would not read an error."""
    broker.faults.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once()
    request = broker.receive(body(acks=0))
    assert (broker.responses, broker.channel.closed) == ([], [request])


def test_metadata_is_handled_and_marked(broker):
    """A client looks for its brokers in it, so a fault of a topic must not take them away."""

    def describe(request, body, respond):
        topics = [metadata.MetadataResponseTopic(name=name) for name in ("a", "b")]
        respond(metadata.MetadataResponse(brokers=[metadata.MetadataResponseBroker(node_id=2)], topics=topics))

    broker.handler = describe
    broker.faults.inject("Metadata", Errors.LEADER_NOT_AVAILABLE).for_topic("b").once()
    broker.receive(metadata.MetadataRequest(topics=None), key=ApiKey.METADATA)
    (response,) = broker.responses
    assert {topic.name: topic.error_code for topic in response.topics} == {
        "a": 0,
        "b": Errors.LEADER_NOT_AVAILABLE.code,
    }
    assert [each.node_id for each in response.brokers] == [2]


def test_a_cut_response_is_sent_damaged_and_a_slow_one_whole(broker):
    broker.faults.inject("Produce").cut_response(after_bytes=5).once()
    broker.receive(body())
    broker.faults.inject("Produce").slow_response(bytes_per_s=1000).once()
    broker.receive(body())
    assert broker.responses == []
    cut, slow = broker.channel.sent
    assert cut.size_in_bytes == slow.size_in_bytes > 20, "both announce the whole response"


def test_a_delay_ends_when_the_clock_has_advanced(broker):
    broker.faults.inject("Produce").delay(3_600_000).once()
    broker.receive(body())
    assert (broker.handled, broker.responses) == ([], [])
    broker.time.advance(hours=2)
    assert broker.responded.wait(patient_s(30))
    assert errors(broker.responses[0]) == {"a": (0, 7)}


def test_a_delayed_response_was_handled_at_once(broker):
    broker.faults.inject("Produce").delay_response(3_600_000).once()
    broker.receive(body())
    assert (len(broker.handled), broker.responses) == (1, [])
    broker.time.advance(hours=2)
    assert broker.responded.wait(patient_s(30))


def test_a_pause_holds_a_response_whose_delay_ends_meanwhile(broker):
    broker.faults.inject("Produce").delay_response(3_600_000).once()
    broker.receive(body())
    with broker.injector.paused():
        broker.time.advance(hours=2)
        eventually(lambda: broker.injector._held)
        assert broker.responses == []
    assert len(broker.responses) == 1


def test_a_paused_broker_handles_what_has_piled_up_in_order(broker):
    with broker.injector.paused():
        for topic in "abc":
            broker.receive(body(topic))
        assert (len(broker.requests), broker.handled) == (3, []), "received, and not handled"
    assert [[*errors(response)] for response in broker.responses] == [["a"], ["b"], ["c"]]
    broker.receive(body("d"))
    assert len(broker.responses) == 4


def test_a_pause_holds_the_response_of_a_request_that_is_being_handled(broker):
    append = broker.handler

    def pause_meanwhile(request, body, respond):
        broker.injector.pause()
        append(request, body, respond)

    broker.handler = pause_meanwhile
    broker.receive(body())
    assert (len(broker.handled), broker.responses) == (1, [])
    broker.injector.resume()
    assert len(broker.responses) == 1


def test_a_stopped_broker_forgets_what_it_holds_and_runs_again(broker):
    broker.injector.pause()
    broker.receive(body())
    broker.injector.shutdown()
    broker.injector.resume()
    assert broker.handled == []
    broker.receive(body())
    assert len(broker.responses) == 1, "the pause has ended, too"


def test_a_handler_that_raises_closes_the_connection_and_is_logged(broker, caplog):
    def fail(request, body, respond):
        raise RuntimeError("a bug in the handler")

    broker.handler = fail
    request = broker.receive(body())
    assert broker.channel.closed == [request]
    assert "Error when handling a request of c, api key 0" in caplog.text
    assert "a bug in the handler" in caplog.text
