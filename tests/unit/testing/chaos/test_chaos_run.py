"""What a run judges if its cluster does not recover."""

import contextlib

from kafka_lite.testing.chaos import chaos_run
from kafka_lite.testing.chaos.chaos_run import ChaosRun


class NoCluster(contextlib.nullcontext):
    """It never has all its replicas in sync."""

    brokers = ()

    def restart_ended(self):
        return []


def test_what_nobody_could_read_is_not_said_to_be_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(chaos_run, "_eventually", lambda condition, *_: condition())
    run = ChaosRun(tmp_path, seed=1, duration_s=0, report=lambda _: None)
    run.cluster = NoCluster()
    monkeypatch.setattr(run, "_not_in_sync", lambda: "orders-0 has [1] of [1, 2]")
    history = run.result.history
    monkeypatch.setattr(run, "_start", lambda: history.acknowledge(history.send("p", "orders", 0, "value"), 7))
    assert {violation.rule for violation in run.run().violations} == {"not recovered"}
