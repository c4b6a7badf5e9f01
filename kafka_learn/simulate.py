"""``make simulate``: the simulator's command, which can also draw a run: ``--record FILE``.

::

    python -m kafka_learn.simulate --seed 7 --record run.html                  around what was found broken
    python -m kafka_learn.simulate --seed 7 --record run.html --around 12.3    around second 12.3 of the run
    python -m kafka_learn.simulate --seed 7 --record run.jsonl                 the same as data
    python -m kafka_learn.simulate --link '?seed=1&actions=2.5:kill:1'         a run of the page's live cluster

The HTML page has a sequence diagram of the requests between processes, and a time line of processes and faults. Without
``--record`` the command is ``kafka_lite.testing.simulation.command``.
"""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.world_time_line import world_time_line
from kafka_learn.live import replay
from kafka_learn.recording.recorded_run import RecordedRun
from kafka_learn.recording.world_watch import WorldWatch, around
from kafka_lite.testing.simulation import command

PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title><style>body {{ font-family: sans-serif; margin: 2em; }}</style></head>
<body>
<h1>{title}</h1>
{sequence}
{time_line}
</body>
</html>
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code: 1 if a seed found something."""
    parser = command.parser()
    parser.add_argument("--record", type=Path, metavar="FILE", help="with one seed: draw the run (.html, or .jsonl)")
    parser.add_argument("--around", type=float, metavar="S", help="which second of the run to draw")
    parser.add_argument("--link", help="play what this link to the live cluster has, instead of a scenario")
    options = parser.parse_args(arguments)
    if options.link is not None:
        command.make_repeatable()
        replay.main(options.link)
    if options.record is None:
        return command.run(options)
    command.make_repeatable()
    watches: list[WorldWatch] = []
    outcome = command.run_one(options, watch=lambda world: watches.append(WorldWatch(world)))
    [watch] = watches
    findings = outcome.violations or [_without_module(line) for line in outcome.failure.rstrip().splitlines()[-1:]]
    is_chosen = options.around is not None
    moment_ns = int(options.around * 1e9) if is_chosen else watch.moment_ns(findings, is_over=not outcome.failure)
    run = around(watch.run(f"Seed {outcome.seed}", findings, everything=is_chosen), moment_ns)
    write(run, options.record)
    os._exit(not outcome.is_good)  # without the finally blocks of killed threads


def _without_module(error: str) -> str:
    """The last line of a traceback without the module of the exception's class."""
    name, colon, text = error.partition(":")
    return name.rpartition(".")[2] + colon + text


def write(run: RecordedRun, path: Path) -> None:
    """Write a run as an HTML page, or as JSON lines if the file's name says so."""
    if path.suffix == ".jsonl":
        run.save(path)
        return
    figures = {"sequence": sequence_diagram(run).svg(), "time_line": world_time_line(run).svg()}
    path.write_text(PAGE.format(title=html.escape(run.title), **figures), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
