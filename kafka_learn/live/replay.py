"""Plays the run of a link in a terminal: ``make simulate LINK='?seed=1&actions=2.5:kill:1'``.

Not in Kafka. Seed and actions are the page's. Steps and digest at the same time are the page's, too.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafka_learn.live.link import Link
from kafka_learn.live.live_cluster import LiveCluster


def play(link: Link, folder: Path, write: Callable[[str], object]) -> dict[str, Any]:
    """Play the run, and write each event in a line; returns the last snapshot. Raises ValueError for a damaged link.

    Once in a process of the system, see ``LiveCluster``.
    """
    live = LiveCluster(link.seed, folder)
    actions = link.actions_on(live.machines)
    live.replay(actions, link.end_s(actions))
    shot = live.snapshot()
    for event in shot["events"]:
        count = f"  ×{event['count']}" if event["count"] > 1 else ""
        write(f"{event['time_s']:9.3f} s  {event['text']}{count}\n")
    for row in shot["partitions"]:
        ends = ", ".join(f"{broker}: {its['hw']} / {its['leo']}" for broker, its in sorted(row["replicas"].items()))
        write(f"{row['topic']}-{row['partition']}: leader {row['leader']}, ISR {row['isr']}, HW / LEO of {ends}\n")
    write(f"{shot['now_s']:g} simulated s, {shot['steps']} steps, digest {shot['digest'][:16]}\n")
    return shot


def main(link: str) -> None:
    """Play a link and end this process: with 1, and the reason, if the link is damaged."""
    folder = tempfile.TemporaryDirectory(prefix="kafka-lite-live-")
    code = 0
    try:
        play(Link.of(link), Path(folder.name), sys.stdout.write)
    except ValueError as error:
        sys.stderr.write(f"the link is damaged: {error}\n")
        code = 1
    sys.stdout.flush()
    folder.cleanup()
    os._exit(code)  # without the finally blocks of the world's threads
