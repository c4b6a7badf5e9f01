"""What a run judges if its cluster does not recover, and how it waits for clients."""

import contextlib
from types import SimpleNamespace

from kafka_lite.testing.chaos import chaos_run
from kafka_lite.testing.chaos.chaos_run import ChaosRun


class NoCluster(contextlib.nullcontext):
    """It never has all its replicas in sync."""

    brokers = ()

    def restart_ended(self):
        return []

    def restart_those_that_need_it(self):
        return {}


def test_what_nobody_could_read_is_not_said_to_be_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(chaos_run, "_eventually", lambda condition, *_: condition())
    run = ChaosRun(tmp_path, seed=1, duration_s=0, report=lambda _: None)
    run.cluster = NoCluster()
    monkeypatch.setattr(run, "_not_in_sync", lambda: "orders-0 has [1] of [1, 2]")
    history = run.result.history
    monkeypatch.setattr(run, "_start", lambda: history.acknowledge(history.send("p", "orders", 0, "value"), 7))
    assert {violation.rule for violation in run.run().violations} == {"not recovered"}


class HangsAfterAStep:
    """The clients of a run, one of which goes on once more, and then holds up all others until it is replaced."""

    def __init__(self) -> None:
        self.is_replaced = False
        self.client = SimpleNamespace(name="transformer", file=SimpleNamespace(progress=7))

    def running(self, *, producers):
        return [] if producers else [self.client]

    def replace_hung(self, before):
        self.is_replaced = before["transformer"] == self.client.file.progress
        return ["transformer"] if self.is_replaced else []


def test_a_client_that_goes_on_a_little_before_it_hangs_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(chaos_run, "_eventually", lambda condition, *_: condition())
    run = ChaosRun(tmp_path, seed=1, duration_s=0, report=lambda _: None)
    run.cluster = NoCluster()
    clients = run._clients = HangsAfterAStep()

    def step_then_hang():
        clients.client.file.progress = 8
        return clients.is_replaced

    assert run._eventually_without_hung(step_then_hang)
    assert run.result.replaced == ["transformer"]
