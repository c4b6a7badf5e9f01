"""Task 1: other threads hand over to a network thread, which sleeps in its selector."""

import threading

import pytest


@pytest.mark.points(6, task=1)
def test_a_connection(new_processor):
    """The acceptor's thread hands over two connections"""
    processor, done = new_processor()
    processor.accept("socket a", "10.0.0.1", 5000)
    processor.accept("socket b", "10.0.0.2", 5001)
    queued = list(processor._new_connections)
    assert queued == [("socket a", "10.0.0.1", 5000), ("socket b", "10.0.0.2", 5001)], (
        f"both are queued with host and port, in order, for the processor's own thread; yours: {queued}"
    )
    assert done == ["woken with 1 queued", "woken with 2 queued"], (
        "first queue the connection, then wake the processor: it looks into the queue once and sleeps again; "
        f"yours: {done}"
    )


@pytest.mark.points(4, task=1)
def test_another_thread(new_processor):
    """A request handler wakes a processor"""
    processor, done = new_processor()
    processor._thread_ident = threading.get_ident() + 1
    processor.wake_up()
    assert done == ["woken with 0 queued"], f"this is not the processor's thread: end its poll; yours: {done}"


@pytest.mark.points(5, task=1)
def test_its_own_thread(new_processor, new_request):
    """The processor's own thread: nothing dispatched; a request without its response; one with it"""
    processor, done = new_processor()
    processor._thread_ident = threading.get_ident()
    processor.wake_up()
    assert done == [], f"it does not sleep, since it is here: a system call for nothing; yours: {done}"
    processor._dispatched = request = new_request(1)
    processor.wake_up()
    assert done == ["written to others"], (
        "it is handling a request that has no response yet, so this response belongs to another connection; whoever "
        f"waits for it must not wait for the rest (_write_responses_to_others); yours: {done}"
    )
    request.response_complete_time_ms = 0.0
    processor.wake_up()
    assert done == ["written to others"], f"the request has its response: it is sent after the dispatch; yours: {done}"
