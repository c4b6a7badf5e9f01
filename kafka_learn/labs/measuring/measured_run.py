"""A process that does the measured task of a lab: ``python -m …measured_run FILE ROUNDS FOLDER [REPORT]``.

It runs over a learner's modules or the shipped ones (``overlay``). The report, JSON, has the processor time of the
rounds, the result of each, and the error that ended them, if one did. Without a report, nothing is written, so that the
rounds are all that differs between two runs whose instructions are counted.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any


def load(file: Path) -> Callable[[Path], Callable[[int], Any]]:
    """The function ``prepare`` of a measured task, whose modules are imported now."""
    spec = importlib.util.spec_from_file_location("measured", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    prepare: Callable[[Path], Callable[[int], Any]] = module.prepare
    return prepare


def run_rounds(one_round: Callable[[int], Any], rounds: int) -> dict[str, Any]:
    """Do the rounds; returns the report. An error ends them, and is named in it with its place."""
    results: list[Any] = []
    raised = ""
    gc.collect()
    gc.freeze()
    began = time.process_time()
    try:
        results.extend(map(one_round, range(rounds)))
    except Exception as error:  # noqa: BLE001 - whatever the learner's code raises is reported
        last = traceback.extract_tb(error.__traceback__)[-1]
        raised = f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"
    seconds = time.process_time() - began
    return {"seconds": seconds, "results": [repr(result) for result in results], "raised": raised}


def main(arguments: list[str]) -> int:
    """Do what the command line says; returns 1 if an error ended the rounds."""
    file, rounds, folder, *report = arguments
    found = run_rounds(load(Path(file))(Path(folder)), int(rounds))
    for path in report:
        Path(path).write_text(json.dumps(found), encoding="utf-8")
    return 1 if found["raised"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
