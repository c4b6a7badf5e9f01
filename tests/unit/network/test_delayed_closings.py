"""A refused peer waits for its refusal, and the poll does not wait longer than that."""

from __future__ import annotations

import math
from typing import Any, cast

from kafka_lite.network.authentication_error import SaslAuthenticationError
from kafka_lite.network.delayed_closings import DelayedClosings
from kafka_lite.network.kafka_channel import AUTHENTICATE, CLOSED, KafkaChannel


class Channel:
    state: Any = AUTHENTICATE
    is_delayed = False

    def delay_close(self) -> None:
        self.is_delayed = True


def test_channels_are_due_in_their_order_unless_they_were_closed() -> None:
    closings, error = DelayedClosings(100), SaslAuthenticationError("no")
    assert (closings.timeout_ms(300, 0), closings.due(math.inf)) == (300, [])
    first, closed, last = Channel(), Channel(), Channel()
    for now_ms, channel in ((0, first), (10, closed), (20, last)):
        closings.add(cast(KafkaChannel, channel), error, now_ms)
    assert first.is_delayed
    assert [closings.timeout_ms(300, 40), closings.timeout_ms(50, 40), closings.timeout_ms(300, 200)] == [60, 50, 0]
    assert closings.due(99) == []
    assert closings.due(100) == [(first, error)]
    closed.state = CLOSED
    assert closings.due(120) == [(last, error)]
    assert closings.timeout_ms(300, 120) == 300
