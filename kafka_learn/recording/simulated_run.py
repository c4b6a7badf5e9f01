"""Records a run in a simulated world: its threads, clock, network and files belong to a seed, not to the machine.

The same seed gives the same run, byte by byte, in every build and on every machine. The function that records the run
is the same as outside::

    this process ──a new one, PYTHONHASHSEED=0──▶ World(seed) ──starts──▶ play(reference, folder) ──▶ run.jsonl

The times are the world's: computing takes none, a switch between threads 50 µs, a message inside a machine about as
much. A run that shows how long something computes is not for this world.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Final

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.recording import recorder
from kafka_learn.recording.recorded_run import RecordedRun
from kafka_lite.testing.simulation.disturbance import Disturbance
from kafka_lite.testing.simulation.network import Conditions
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.world import World

MODULE: Final = "kafka_learn.recording.simulated_run"
COPIED: Final = (*PACKAGES, "kafka_learn")
"""Packages of which the recorded process has its own copies, besides that of the function that records the run: the
recorder wraps the classes that the run uses."""
LONGEST_S: Final = 600.0
"""Simulated seconds after which a run has failed."""
RUN: Final = "run.jsonl"


def recorded_in_world(
    reference: str, seed: int, *, is_disturbed: bool = False, environment: Mapping[str, str] = os.environ
) -> RecordedRun:
    """Execute ``module:function`` in the world of a seed; if disturbed, with objects and files elsewhere.

    Raises ValueError, which has the traceback, if it fails.
    """
    with tempfile.TemporaryDirectory(prefix="kafka-lite-run-") as folder:
        path = Path(folder, RUN)
        command = [sys.executable, "-m", MODULE, reference, str(seed), str(path)]
        done = subprocess.run(
            [*command, "--disturbed"] if is_disturbed else command,
            cwd=PROJECT_ROOT, env={**environment, "PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise ValueError(f"{reference} has recorded nothing in the world of seed {seed}:\n{done.stderr}")
        return RecordedRun.load(path)


def main() -> None:
    """Record a run for ``recorded_in_world``."""
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}", description="Records a run in a simulated world.")
    parser.add_argument("reference", metavar="MODULE:FUNCTION")
    parser.add_argument("seed", type=int)
    parser.add_argument("path", type=Path, metavar="FILE", help="where the run is written, as JSON lines")
    parser.add_argument("--disturbed", action="store_true", help="put objects and files elsewhere")
    options = parser.parse_args()
    disturbance = Disturbance(Random(options.reference)) if options.disturbed else None
    copied = (*COPIED, _package_of(options.reference))
    suffix = disturbance.folder_suffix() if disturbance is not None else ""
    with tempfile.TemporaryDirectory(prefix="kafka-lite-world-", suffix=suffix) as folder:
        world = World(
            options.seed, Path(folder), conditions=Conditions(), modules=lambda: Modules(copied),
            trace=disturbance.event if disturbance is not None else None,
        )  # fmt: skip
        options.path.write_bytes(world.run(lambda world: _record(world, options.reference)))
    os._exit(0)  # without the finally blocks of threads that are left


def _record(world: World, reference: str) -> bytes:
    """The scenario: one process that records the run."""
    machine = world.machine("run")
    process = machine.start(f"{MODULE}:play", reference, str(machine.folder))
    world.wait_until(lambda: not process.is_running, LONGEST_S, reference)
    if process.failure:
        raise RuntimeError(process.failure)
    return (machine.folder / RUN).read_bytes()


def play(reference: str, folder: str) -> None:
    """Record the run and save it: the program of the simulated process. Its temporary files are in ``folder``."""
    tempfile.tempdir = folder
    recorder.walk_package(_package_of(reference))
    module, _, name = reference.partition(":")
    run: RecordedRun = getattr(importlib.import_module(module), name)()
    run.save(Path(folder, RUN))


def _package_of(reference: str) -> str:
    """The top-level package of ``module:function``."""
    return reference.partition(".")[0]


if __name__ == "__main__":
    main()
