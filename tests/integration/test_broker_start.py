"""A broker whose only disk fails before it has started."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kafka_lite.server.broker_states import BrokerState, BrokerStoppedError
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.kafka_server import KafkaServer
from tests.support.eventually import eventually


class DiskFailsMeanwhile(KafkaServer):
    """Its log directory fails, and is noticed, when some parts are there and others are still to come."""

    def _start_controller(self) -> None:
        failed = self.log_manager.live_log_dirs[0]
        self.log_manager.log_dir_failure_channel.maybe_add_offline_log_dir(failed, "a failing disk", OSError("EIO"))
        eventually(lambda: self._is_to_stop)
        super()._start_controller()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> set[threading.Thread]:
    """The threads that the test starts, and those that they start. Leftovers of other tests may start some, too."""
    ours = {threading.current_thread()}
    start = threading.Thread.start

    def noted_start(thread: threading.Thread) -> None:
        if threading.current_thread() in ours:
            ours.add(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted_start)
    return ours


def test_what_is_stopped_while_it_starts_stops_whole_and_says_so(
    tmp_path: Path, started: set[threading.Thread]
) -> None:
    server = DiskFailsMeanwhile(
        KafkaConfig(
            {
                "listeners": "PLAINTEXT://127.0.0.1:0",
                "log.dirs": str(tmp_path / "logs"),
                "zookeeper.connect": "embedded",
                "zookeeper.embedded.port": "0",
            }
        )
    )
    with pytest.raises(BrokerStoppedError, match="stopped while it was starting; its log says why"):
        server.startup()
    assert server.state is BrokerState.NOT_RUNNING
    assert server.await_shutdown(0)
    assert len(started) > 5
    eventually(lambda: set(threading.enumerate()) & started == {threading.current_thread()})
