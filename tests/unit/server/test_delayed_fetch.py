"""Fetch requests that wait for records; most of it is tested with the ReplicaManager."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.server.delayed_fetch import DelayedFetch
from kafka_lite.server.fetch_params import FetchParams


@pytest.mark.parametrize(("replica_id", "from_follower"), [(-1, False), (2, True)])
def test_a_long_poll_whose_time_is_up_is_counted_and_answered(replica_id: int, from_follower: bool) -> None:
    expired: list[bool] = []
    responses: list[list[Any]] = []
    params = FetchParams(replica_id, 100, 1, 1000, hard_max_bytes=False)
    poll = DelayedFetch(params, {}, lambda _: None, list, responses.append, expired.append)
    poll.run()
    assert (responses, expired) == ([[]], [from_follower])
