"""Recorded runs of a quota that is exceeded: the connection of a new client is muted, an old one's response held back.

Book 10.1.
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_learn.recording.broker_watches import watch_wire
from kafka_learn.recording.recorded_run import RecordedRun
from kafka_learn.recording.recorder import Recording, Watch
from kafka_learn.recording.run_brokers import (
    connect,
    in_thread,
    open_connections,
    produce_of,
    running_broker,
    wait_until,
)
from kafka_learn.recording.watches import watch
from kafka_lite.network.kafka_channel import KafkaChannel
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.server.quotas.client_quota_entity import KafkaQuotaEntity
from kafka_lite.server.quotas.client_quota_manager import ClientQuotaManager
from kafka_lite.server.quotas.request_handler_helper import RequestHandlerHelper
from kafka_lite.server.quotas.throttled_channel import ThrottledChannel

RATE = 1000
RECORD = b"x" * 1150
"""With its headers some 200 bytes more than a second's worth, which is what two samples of 1 s let pass."""
SHORT_WINDOW = {"quota.window.num": "2", "quota.window.size.seconds": "1", "num.network.threads": "1"}
MUTING_VERSION, HOLDING_VERSION = 9, 3
LANES = (
    "producer",
    "Processor",
    "KafkaChannel",
    "RequestHandlerHelper",
    "ClientQuotaManager",
    "RequestChannel",
    "ThrottledChannel",
)


def quota_watches() -> list[Watch]:
    """From the response to the end of the delay."""
    return [
        *watch_wire(),
        *watch(RequestHandlerHelper.respond, show=()),
        *watch(ClientQuotaManager.record_and_get_throttle_time_ms, show=("value",)),
        *watch(ClientQuotaManager.throttle, show=("throttle_time_ms",)),
        *watch(RequestChannel.start_throttling, RequestChannel.end_throttling, show=()),
        *watch(RequestChannel.send_response, show=()),
        *watch(ThrottledChannel.notify_throttling_done, show=()),
        *watch(KafkaChannel.mute, KafkaChannel.unmute, show=()),
    ]


def muted_producer() -> RecordedRun:
    """A new producer exceeds its quota: its response goes out at once, its next request is read 200 ms later."""
    return _record("muted_producer", "A producer is muted after its response", MUTING_VERSION, "KafkaChannel.unmute")


def held_back_response() -> RecordedRun:
    """A producer of an older version exceeds its quota: its response goes out 200 ms later."""
    title = "The response to an older producer is held back"
    return _record("held_back_response", title, HOLDING_VERSION, "KafkaChannel.unmute")


def _record(name: str, title: str, version: int, last: str) -> RecordedRun:
    with (
        Recording(quota_watches(), title=title, paused=True) as recording,
        running_broker(SHORT_WINDOW) as server,
        connect(server) as channel,
    ):
        wait_until(lambda: open_connections(server) == 1)
        server.quotas.clients.update_quotas(KafkaQuotaEntity(client_id="kafka-lite"), {"producer_byte_rate": str(RATE)})

        def produce_and_ask() -> None:
            channel.exchange(produce_of(RECORD), version)

        with recording.running():
            in_thread("producer", produce_and_ask)
            recording.wait_for(last)
    return recording.run.recorded_in(__name__, name, lanes=LANES)


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "muted-producer": muted_producer,
    "held-back-response": held_back_response,
}
