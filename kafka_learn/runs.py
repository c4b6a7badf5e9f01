"""The chapters' runs, recorded from a real broker and real clients: ``python -m kafka_learn.runs``.

A run is a function without arguments, in a module ``*_runs.py`` beside the chapter that shows it. It starts a broker in
this process, connects clients to it over TCP, and returns the recorded run. A page shows a run with a directive (see
``directives``), a notebook by calling it.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.time_line import time_line
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.recording.recorded_run import RecordedRun

MODULES = "chapters/*/figures/*_runs.py"


def all_runs() -> dict[str, Callable[[], RecordedRun]]:
    """Every run of every chapter by name, such as ``produce-request``, in chapter order."""
    runs: dict[str, Callable[[], RecordedRun]] = {}
    for path in sorted(PROJECT_ROOT.glob(MODULES)):
        module = ".".join(path.relative_to(PROJECT_ROOT).with_suffix("").parts)
        runs |= importlib.import_module(module).RUNS
    return runs


def main(arguments: list[str] | None = None) -> int:
    """Record a run and show or save it; returns the exit code."""
    runs = all_runs()
    parser = argparse.ArgumentParser(prog="python -m kafka_learn.runs", description="Record a run and show it.")
    parser.add_argument("run", choices=runs, help="the function that records the run")
    parser.add_argument("--view", choices=("sequence", "time-line"), default="sequence", help="how to show the run")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the run as JSON lines instead of showing it")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write the figure as SVG instead of showing it")
    options = parser.parse_args(arguments)
    run = runs[options.run]()
    if options.save:
        run.save(options.save)
        return 0
    diagram = time_line(run) if options.view == "time-line" else sequence_diagram(run)
    if options.svg:
        options.svg.write_text(diagram.svg(), encoding="utf-8")
    else:
        Console().print(diagram.to_rich())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
