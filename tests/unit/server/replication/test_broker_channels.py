"""The controller's connections to other brokers, without sockets."""

from __future__ import annotations

import pytest

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.network.blocking_channel import NotConnectedError
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_lite.server.replication import broker_channels
from kafka_lite.server.replication.broker_channels import BrokerChannels
from tests.support.fake_channels import FakeChannel


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[FakeChannel]:
    FakeChannel.opened = []
    monkeypatch.setattr(broker_channels, "BlockingChannel", FakeChannel)
    return FakeChannel.opened


class TestBrokerChannels:
    REQUEST = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")

    @pytest.fixture
    def brokers(self) -> dict[int, BrokerEndPoint]:
        return {1: BrokerEndPoint(1, "one", 9092), 2: BrokerEndPoint(2, "two", 9092)}

    @pytest.fixture
    def channels(self, opened: list[FakeChannel], brokers: dict[int, BrokerEndPoint]) -> BrokerChannels:
        FakeChannel.response = HeartbeatResponse(error_code=0)
        return BrokerChannels("controller", brokers.get, 1000)

    def send(self, channels: BrokerChannels, *broker_ids: int) -> None:
        for broker_id in broker_ids:
            channels.exchange(broker_id, self.REQUEST, 0)

    def test_each_broker_has_one_connection(self, channels: BrokerChannels, opened: list[FakeChannel]) -> None:
        self.send(channels, 1, 2, 1)
        assert [(each.host, len(each.requests)) for each in opened] == [("one", 2), ("two", 1)]

    @pytest.mark.parametrize("moved", [BrokerEndPoint(1, "other", 9092), BrokerEndPoint(1, "one", 9093)])
    def test_a_broker_that_has_moved_gets_another_one(
        self,
        channels: BrokerChannels,
        opened: list[FakeChannel],
        brokers: dict[int, BrokerEndPoint],
        moved: BrokerEndPoint,
    ) -> None:
        self.send(channels, 1)
        brokers[1] = moved
        self.send(channels, 1)
        assert [(each.host, each.port) for each in opened] == [("one", 9092), (moved.host, moved.port)]
        assert opened[0].events[-1] == "close"
        assert opened[1].events == ["connect"]

    def test_a_broker_that_is_not_alive_has_none(
        self, channels: BrokerChannels, opened: list[FakeChannel], brokers: dict[int, BrokerEndPoint]
    ) -> None:
        del brokers[1]
        with pytest.raises(NotConnectedError):
            self.send(channels, 1)
        assert opened == []

    def test_a_wait_is_interrupted_for_one_broker(self, channels: BrokerChannels, opened: list[FakeChannel]) -> None:
        self.send(channels, 1, 2)
        channels.abort(1)
        channels.abort(7)
        assert [each.events for each in opened] == [["connect", "abort"], ["connect"]]

    def test_closing_closes_all(self, channels: BrokerChannels, opened: list[FakeChannel]) -> None:
        self.send(channels, 1, 2)
        channels.close()
        channels.abort(1)
        assert [each.events for each in opened] == [["connect", "close"]] * 2
