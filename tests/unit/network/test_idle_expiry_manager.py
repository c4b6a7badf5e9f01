from __future__ import annotations

from kafka_lite.network.idle_expiry_manager import IdleExpiryManager


def test_connections_expire_in_the_order_of_their_last_use() -> None:
    idle = IdleExpiryManager(100, now_ms=0)
    idle.update("a", 0)
    idle.update("b", 10)
    idle.update("c", 20)
    idle.update("a", 30)
    assert idle.poll_expired_connections(110) == []
    assert idle.poll_expired_connections(121) == ["b", "c"]
    assert idle.poll_expired_connections(130) == []
    assert idle.poll_expired_connections(131) == ["a"]
    assert idle.poll_expired_connections(1_000) == []


def test_a_closed_connection_does_not_expire() -> None:
    idle = IdleExpiryManager(100, now_ms=0)
    idle.update("a", 0)
    idle.remove("a")
    idle.remove("never seen")
    assert idle.poll_expired_connections(500) == []


def test_a_connection_that_comes_after_a_long_silence_is_not_idle() -> None:
    idle = IdleExpiryManager(100, now_ms=0)
    assert idle.poll_expired_connections(10_000) == []
    idle.update("a", 10_000)
    assert idle.poll_expired_connections(10_050) == []
    assert idle.poll_expired_connections(10_101) == ["a"]
