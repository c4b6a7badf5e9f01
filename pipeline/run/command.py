"""The command ``python -m pipeline``: parses the options, runs, and says at the end what came out and where it is.

Kafka 0.10.2: core/.../Kafka.scala · book 1.4.1
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from kafka_lite.common.errors import KafkaError
from pipeline.run.run_options import DEFAULT_FOLDER, RunOptions, parse
from pipeline.stop_signals import StopSignals, end_children

if TYPE_CHECKING:
    from pipeline.run.outcome import Outcome

_WIDTH = 110
_SHOWN_DIFFERENCES = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the pipeline; returns 0 if its tables equal those of pandas, and 1 if not or after a failure.

    Ctrl-C ends the process with exit code 130.
    """
    options = parse(arguments)
    console = Console(highlight=False)
    console.width = min(console.width, _WIDTH)
    stop_signals = StopSignals(lambda: _say_stopped(console, options))
    stop_signals.install()
    failure = None
    try:
        from pipeline.run.pipeline_run import PipelineRun

        outcome = PipelineRun(options, console, stop_signals).run()
    except KafkaError as error:
        failure = f"The pipeline failed: {error}"
    except ModuleNotFoundError as error:
        failure = f"The pipeline needs {error.name}: make setup installs it (or: pip install 'kafka-lite[spark]')"
    finally:
        end_children()
    if failure is not None:
        console.print(Text(failure, style="red"))
        return 1
    _say_outcome(console, outcome, options.folder)
    return 0 if outcome.is_equal else 1


def _say_outcome(console: Console, outcome: Outcome, folder: Path) -> None:
    for table in outcome.tables:
        mark, what = ("[green]=[/]", "equal to pandas") if table.is_equal else ("[red]≠[/]", "NOT equal to pandas")
        console.print(f"{mark} {table.name}: {table.rows:,} rows, {what}")
        for difference in table.differences[:_SHOWN_DIFFERENCES]:
            console.print(Text(f"    {difference}"))
        if (more := len(table.differences) - _SHOWN_DIFFERENCES) > 0:
            console.print(f"    … and {more:,} more")
    for fault in outcome.faults:
        mark = "[green]=[/]" if fault.is_equal else "[red]≠[/]"
        found = "" if fault.found is None else f", {fault.found:,} found"
        console.print(f"{mark} {fault.sent:,} {fault.fault}{found}: {fault.meaning}")
    console.print(f"The report: {folder / 'report.html'}", soft_wrap=True)
    console.print("Next: [cyan]make notebook[/], [cyan]make site[/], and graded labs: [cyan]kafka-lite labs list[/]")


def _say_stopped(console: Console, options: RunOptions) -> None:
    with contextlib.suppress(IndexError):
        console.pop_render_hook()  # the live view's, which would redraw it below the following message
    console.show_cursor(True)
    folder = "" if options.folder == DEFAULT_FOLDER else f" --folder {options.folder}"
    console.print("\n[yellow]Stopped.[/] Nothing is left running.", f"To continue: python -m pipeline --resume{folder}")
