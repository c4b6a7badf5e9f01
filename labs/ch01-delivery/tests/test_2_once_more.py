"""Task 2: whether a batch that has failed is sent once more."""

import pytest

from kafka_lite.common.errors import Errors

PASSING = (Errors.NOT_LEADER_OR_FOLLOWER, Errors.NETWORK_EXCEPTION, Errors.NOT_ENOUGH_REPLICAS)
FINAL = (Errors.MESSAGE_TOO_LARGE, Errors.TOPIC_AUTHORIZATION_FAILED, Errors.INVALID_REQUIRED_ACKS)


def failed_once(shop):
    """The batch of a request that is in flight, and the time."""
    shop.ship(1)
    return shop.batch(), shop.time.hi_res_ms()


@pytest.mark.points(4, task=2)
def test_errors_that_pass(shop):
    """Three errors that pass by themselves, and three that do not"""
    producer = shop()
    batch, now_ms = failed_once(producer)
    for error in PASSING:
        assert producer.sender._can_retry(batch, error, now_ms) is True, (
            f"{error.name} may be gone the next time (error.retriable): send the batch once more"
        )
    for error in FINAL:
        assert producer.sender._can_retry(batch, error, now_ms) is False, (
            f"{error.name} will be the same the next time: do not send the batch once more"
        )


@pytest.mark.points(4, task=2)
def test_retries(shop):
    """retries=0, and retries=2"""
    producer = shop(retries=0)
    batch, now_ms = failed_once(producer)
    assert producer.sender._can_retry(batch, PASSING[0], now_ms) is False, "retries=0: a batch is sent only once"
    producer = shop(retries=2)
    batch, now_ms = failed_once(producer)
    allowed = []
    for attempts in range(4):
        batch.attempts = attempts
        allowed.append(producer.sender._can_retry(batch, PASSING[0], now_ms))
    assert allowed == [True, True, False, False], (
        f"retries=2: after two attempts to send it again there is no third; yours for attempts 0 to 3: {allowed}"
    )


@pytest.mark.points(3, task=2)
def test_the_delivery_timeout(shop):
    """delivery.timeout.ms, 1 ms before it and when it is over"""
    producer = shop()
    batch, now_ms = failed_once(producer)
    assert producer.sender._can_retry(batch, PASSING[0], now_ms + 999) is True, "delivery.timeout.ms=1000: 1 ms is left"
    assert producer.sender._can_retry(batch, PASSING[0], now_ms + 1000) is False, (
        "delivery.timeout.ms is over: whoever sent the record has been told to expect no more"
    )


@pytest.mark.points(4, task=2)
def test_numbered_batches(shop):
    """OUT_OF_ORDER_SEQUENCE_NUMBER: with numbers it means that an earlier batch is missing"""
    gap = Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    plain = shop()
    batch, now_ms = failed_once(plain)
    assert plain.sender._can_retry(batch, gap, now_ms) is False, f"without numbers, {gap.name} is not retriable"
    numbered = shop(idempotent=True)
    batch, now_ms = failed_once(numbered)
    asked = []
    numbered.transactions.can_retry = lambda *of: asked.append(of) or True
    assert numbered.sender._can_retry(batch, gap, now_ms) is True, (
        f"{gap.name} of a numbered batch: ask self._transactions.can_retry, which says yes here"
    )
    assert asked == [(batch, gap)], f"can_retry is asked about this batch and this error, once; you asked {len(asked)}"
    batch.attempts = 3
    assert numbered.sender._can_retry(batch, gap, now_ms) is False, "retries=3 holds for numbered batches, too"
    numbered.transactions.can_retry = lambda *_of: False
    batch.attempts = 0
    assert numbered.sender._can_retry(batch, gap, now_ms) is False, "and here can_retry says no"
