"""``make ureplicator``: two clusters, a controller and three workers on one machine. A topic is added, a worker dies.

    source --- w1, w2, w3 (what each copies, the controller says) ---> target

Each part is a process of its own, below the folder ``ureplicator-demo`` of the working directory, which each run
recreates. At the end it counts: the partitions that moved, and the records that arrived.

uReplicator kafka-0.10.2.1: bin/pm.sh and the examples of its README · book 8.2
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.panel import Panel

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.common.topic_partition import TopicPartition
from pipeline.demo import make_folder, run_demo
from pipeline.mirror_moves import MirrorMoves, Move
from pipeline.stop_signals import StopSignals
from pipeline.ureplicator_processes import CLUSTER, MirrorProcesses
from pipeline.ureplicator_view import live_view

FOLDER = Path("ureplicator-demo")
FIRST_TOPICS = {"clicks": 4, "orders": 5}
NEW_TOPIC = ("payments", 3)
TOPICS = {**FIRST_TOPICS, NEW_TOPIC[0]: NEW_TOPIC[1]}
WORKERS = ("w1", "w2", "w3")
VICTIM = "w2"
PATIENCE_S = 120.0
"""How long one step may take."""
_WIDTH = 110
_NEWS = 6


class UReplicatorDemo:
    """The steps of the demo, in the order of ``run``."""

    def __init__(self, console: Console, folder: Path, per_second: float) -> None:
        self._console = console
        self._folder = folder
        self._pause_s = 1 / per_second
        self._moves = MirrorMoves(SYSTEM_TIME)
        self._news: list[str] = []
        self._published = 0
        self._publishing = threading.Event()
        self.results: list[str] = []

    def run(self) -> None:
        """Run all steps. Raises ``KafkaError`` if one fails; leaves nothing running in any case."""
        self._console.print(Panel(_INTRODUCTION, title="kafka_lite uReplicator", title_align="left", style="cyan"))
        make_folder(self._folder)
        with contextlib.ExitStack() as stack:
            mirror = MirrorProcesses(self._folder, stack)
            mirror.start_clusters(TOPICS)
            self._console.print(f"Source {mirror.source.bootstrap_servers}, target {mirror.target.bootstrap_servers}")
            mirror.start_controller()
            self._console.print(f"Controller: curl http://127.0.0.1:{mirror.controller.port}/topics")
            for worker in WORKERS:
                mirror.start_worker(worker)
            mirror.follow_views(self._moves.saw)
            self._publish_until_the_end(mirror, stack)
            with Live(console=self._console, auto_refresh=False) as live:
                self._mirror(mirror, live)
        self._console.print(Panel("\n".join(self.results), border_style="green"))

    # ── the steps ────────────────────────────────────────────────────────────────────────────────────────────────

    def _mirror(self, mirror: MirrorProcesses, live: Live) -> None:
        def until(what: str, condition: Callable[[], bool]) -> None:
            self._until(mirror, live, what, condition)

        for topic, partitions in FIRST_TOPICS.items():
            self._add(mirror, topic, partitions)
        until("all is copied", lambda: self._moves.is_served(FIRST_TOPICS, set(WORKERS)))
        self._moves.take_moves()
        before = self._moves.owners
        self._add(mirror, *NEW_TOPIC)
        until("the new topic is copied", lambda: self._moves.is_served(TOPICS, set(WORKERS)))
        self.results.append(topic_added(NEW_TOPIC[0], len(before), self._moves.take_moves()))
        before = self._moves.owners
        mirror.workers[VICTIM].kill()
        self._tell(f"{VICTIM} was killed")
        survivors = set(WORKERS) - {VICTIM}
        until("its partitions have moved", lambda: self._moves.is_served(TOPICS, survivors))
        of_victim = {partition for partition, worker in before.items() if worker == VICTIM}
        self.results.append(worker_died(VICTIM, of_victim, self._moves.take_moves()))
        mirror.start_worker(VICTIM)
        self._tell(f"{VICTIM} is back")
        until("it has its share again", lambda: self._moves.is_served(TOPICS, set(WORKERS)))
        self.results.append(f"{VICTIM} came back and got {len(self._moves.take_moves())} partitions.")
        self._publishing.clear()
        until("all has arrived", lambda: mirror.arrived.distinct >= self._published)
        self.results.append(arrived(self._published, mirror.arrived.distinct, mirror.arrived.total))

    def _add(self, mirror: MirrorProcesses, topic: str, partitions: int) -> None:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", mirror.controller.port, timeout=30)) as rest:
            rest.request("POST", "/topics", json.dumps({"topic": topic, "numPartitions": partitions}))
            response = rest.getresponse()
            text = response.read().decode()
        if response.status != 200:
            raise KafkaError(f"the controller did not add {topic}: {text}")
        self._tell(text)

    def _publish_until_the_end(self, mirror: MirrorProcesses, stack: contextlib.ExitStack) -> None:
        from kafka_lite.producer import KafkaProducer, ProducerRecord

        partitions = [TopicPartition(topic, number) for topic, count in TOPICS.items() for number in range(count)]

        def publish() -> None:
            with KafkaProducer({"bootstrap.servers": mirror.source.bootstrap_servers}) as producer:
                while self._publishing.is_set():
                    topic, partition = partitions[self._published % len(partitions)]
                    producer.send(ProducerRecord(topic, b"%d" % self._published, partition=partition))
                    self._published += 1
                    time.sleep(self._pause_s)

        self._publishing.set()
        thread = threading.Thread(target=publish, name="publisher", daemon=True)
        thread.start()
        stack.callback(thread.join)
        stack.callback(self._publishing.clear)

    def _until(self, mirror: MirrorProcesses, live: Live, what: str, condition: Callable[[], bool]) -> None:
        """Draw until the condition holds. Raises KafkaError if that takes too long."""
        deadline_s = time.monotonic() + PATIENCE_S
        is_over = False
        while not is_over:
            is_over = condition()
            mirror.read_target()
            alive = {name for name, worker in mirror.workers.items() if worker.is_running}
            counts = (self._published, mirror.arrived.total)
            live.update(live_view(self._moves.owners, WORKERS, alive, counts, self._news[-_NEWS:]), refresh=True)
            if time.monotonic() > deadline_s:
                raise KafkaError(f"after {PATIENCE_S:.0f} seconds it is not so that {what}: see {self._folder}/*.log")
            time.sleep(0.2)
        self._tell(what)

    def _tell(self, news: str) -> None:
        self._news.append(f"{time.strftime('%H:%M:%S')} {news}")


# ── what the demo says at the end ─────────────────────────────────────────────────────────────────────────────────────


def topic_added(topic: str, others: int, moves: list[Move]) -> str:
    """Raises KafkaError if a partition of another topic has moved."""
    if moves:
        raise KafkaError(f"{topic} was added, and other partitions moved: {moves}")
    return f"{topic} was added: none of the {others} other partitions moved, and none stood still."


def worker_died(worker: str, partitions: set[TopicPartition], moves: list[Move]) -> str:
    """Raises KafkaError if other partitions than the dead worker's have moved, or not all of them."""
    if {move.partition for move in moves} != partitions:
        raise KafkaError(f"{worker} died with {sorted(partitions)}, but {moves} moved")
    alone_s = max(move.alone_ms for move in moves) / 1000
    return f"{worker} died: its {len(partitions)} partitions moved, and no other, after {alone_s:.0f} seconds alone."


def arrived(published: int, distinct: int, total: int) -> str:
    """Raises KafkaError if a record is missing."""
    if distinct != published:
        raise KafkaError(f"{published - distinct} of {published} records have not arrived")
    return f"Each of {published:,} records arrived; {total - distinct:,} came twice, copied but not yet committed."


_INTRODUCTION = (
    "Three workers copy topics of one cluster to another one. A controller tells each of them its partitions. Then a "
    f"topic is added, {VICTIM} is killed, and comes back. Helix cluster: {CLUSTER}."
)


def main() -> int:
    """Run the demo; returns 0, or 1 after a failure. Ctrl-C ends the process with exit code 130."""
    parser = argparse.ArgumentParser(prog="make ureplicator", description=_INTRODUCTION)
    parser.add_argument("--rate", type=float, default=100, metavar="N", help="records per second (default: 100)")
    options = parser.parse_args()
    console = Console(highlight=False)
    console.width = min(console.width, _WIDTH)
    StopSignals(lambda: console.print("\n[yellow]Stopped.[/] Nothing is left running.")).install()
    return run_demo(console, UReplicatorDemo(console, FOLDER, options.rate).run)


if __name__ == "__main__":
    sys.exit(main())
