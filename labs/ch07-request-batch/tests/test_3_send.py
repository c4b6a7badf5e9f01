"""Task 3: the order, and the end."""

import pytest

from kafka_learn.labs.controllers import replica
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrResponse


@pytest.mark.points(10, task=3)
def test_the_order(collected):
    """All three requests for broker 2"""
    collected.batch.add_stop_replica(replica(2), delete=False)
    collected.order([2, 3])
    collected.send()
    kinds = [
        type(request).__name__.removesuffix("Request")
        for number, request, _ in collected.controller.sent
        if number == 2
    ]
    assert kinds[:2] == ["LeaderAndIsr", "UpdateMetadata"], (
        f"a leader must be ready before UpdateMetadata sends clients to it: LeaderAndIsr first; yours {kinds}"
    )
    assert kinds == ["LeaderAndIsr", "UpdateMetadata", "StopReplica"], f"then StopReplica; yours {kinds}"
    everybody = [type(request).__name__ for _, request, _ in collected.controller.sent]
    last = max(place for place, name in enumerate(everybody) if name == "LeaderAndIsrRequest")
    assert "UpdateMetadataRequest" not in everybody[:last], (
        "broker 3 may lead: send LeaderAndIsr to all brokers before the first UpdateMetadata, not broker by broker; "
        f"yours {[(number, type(request).__name__) for number, request, _ in collected.controller.sent]}"
    )


@pytest.mark.points(4, task=3)
def test_the_responses(collected):
    """Brokers 2 and 3 respond to LeaderAndIsr"""
    heard, response = [], LeaderAndIsrResponse()
    collected.batch._leader_and_isr_responded = lambda *said: heard.append(said)
    collected.order([2, 3])
    callbacks = [each for _, request, each in collected.send() if type(request).__name__ == "LeaderAndIsrRequest"]
    assert heard == [], "no broker has responded yet"
    assert all(map(callable, callbacks)), "the response may have errors: _on_leader_and_isr_response(broker_id)"
    for callback in callbacks:
        try:
            callback(response)
        except TypeError as error:
            pytest.fail(f"what you send with is called with the response alone, and must take it: {error}")
    assert heard == [(2, response), (3, response)], (
        "leader_and_isr_responded hears which broker has responded: 2, then 3, each with its response; "
        f"it heard of {[said[0] for said in heard]}"
    )


@pytest.mark.points(4, task=3)
def test_sent_once(collected):
    """The next batch begins empty"""
    collected.order([1])
    collected.send()
    try:
        collected.batch.new_batch()
    except RuntimeError:
        pytest.fail("what was sent is still in the batch: clear it at the end of send_requests_to_brokers")
    assert collected.send() == [], "what was sent is sent once: clear the batch"


@pytest.mark.points(7, task=3)
def test_one_request_for_all(collected):
    """UpdateMetadata for four brokers; nothing for nobody"""
    collected.order([1])
    collected.send()
    requests = [request for _, request in collected.told("UpdateMetadata")]
    assert len(requests) == 4, f"each live broker gets one; you sent {len(requests)}"
    assert all(request is requests[0] for request in requests), "make the request once: it is the same for all"
    collected.batch.new_batch()
    collected.batch.add_stop_replica(replica(3), delete=False)
    collected.send()
    assert collected.told("UpdateMetadata") == [], "nobody has asked for metadata: no UpdateMetadata"
