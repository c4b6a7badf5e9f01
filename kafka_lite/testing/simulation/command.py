"""Runs seeds and says what they found; ``make simulate`` calls it.

Not in Kafka::

    make simulate SEED=7          the same run each time, and what happened in it
    make simulate SEEDS=1000      many runs, on all processors; the first bad seed with the command that replays it
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kafka_lite.testing.simulation.cluster import PROGRAMS
from kafka_lite.testing.simulation.other_interpreter import OtherInterpreter, Work
from kafka_lite.testing.simulation.runner import (
    ModulePool,
    Outcome,
    Plan,
    Run,
    is_repeatable,
    run_in_forks,
    run_seed,
    scenario,
)
from kafka_lite.testing.simulation.scenarios import MORE_PACKAGES, SCENARIOS
from kafka_lite.testing.simulation.shrinking import shrink
from kafka_lite.testing.simulation.world import World

SHOWN_NOTES = 60
BROKERS = {1: "mixed", 3: "mixed-three-brokers", 5: "five-brokers"}
"""Number of brokers -> scenario."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code: 1 if a seed found something."""
    return run(parser().parse_args(arguments))


def run(options: argparse.Namespace) -> int:
    """Run the command with parsed options; returns the exit code."""
    make_repeatable()
    if options.seeds is None:
        return _shrink(options) if options.shrink else _run_one(options)
    return _run_many(options)


def make_repeatable() -> None:
    """Start this process again, with the hashes of text that every run has. No-op if it has them."""
    if not is_repeatable():
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    options = argparse.ArgumentParser(prog="simulate", description="Runs a whole broker and its clients from a seed.")
    options.add_argument("--seed", type=int, default=1, help="the first seed, or the only one (default: 1)")
    options.add_argument("--seeds", type=int, metavar="N", help="run so many seeds, on all processors")
    options.add_argument(
        "--scenario", type=_scenario, default=BROKERS[1], metavar="NAME",
        help=f"what happens in the world: {', '.join(SCENARIOS)}, or a function of yours as MODULE:FUNCTION",
    )  # fmt: skip
    options.add_argument("--brokers", type=int, choices=BROKERS, help="how many brokers, instead of a scenario")
    options.add_argument("--faults", type=_numbers, metavar="N,…", help="suffer only these of the seed's faults")
    options.add_argument(
        "--shrink", action="store_true", help="with one bad seed: find the fewest faults that it takes"
    )
    options.add_argument("--trace", action="store_true", help="with one seed: print every event")
    options.add_argument(
        "--twice",
        type=int,
        default=0,
        metavar="N",
        help="run the first N seeds in another interpreter, too, to compare hashes",
    )
    options.add_argument("--broker", metavar="MODULE:FUNCTION", help="run this program instead of the broker")
    options.add_argument("--package", action="append", default=[], help="each process has its own copy of this package")
    options.add_argument(
        "--switch", action="append", default=[], metavar="MODULE",
        help="another thread may run before any statement of this module, so that a missing lock is noticed",
    )  # fmt: skip
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes at a time")
    return options


def _scenario(name: str) -> str:
    """The name, if there is such a scenario. Raises ArgumentTypeError."""
    try:
        scenario(name)
    except (ValueError, ImportError) as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return name


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(",") if number)


def _packages(options: argparse.Namespace) -> Sequence[str]:
    """Packages beside the usual ones of which each process has its own copy."""
    return [*options.package, *MORE_PACKAGES.get(_scenario_name(options), ())]


def _scenario_name(options: argparse.Namespace) -> str:
    return str(options.scenario) if options.brokers is None else BROKERS[options.brokers]


def _plan(options: argparse.Namespace) -> Plan:
    name = _scenario_name(options)
    return Plan(name, {PROGRAMS + "broker": options.broker} if options.broker else {}, options.faults)


def run_one(options: argparse.Namespace, watch: Callable[[World], object] = lambda _: None) -> Outcome:
    """Run the seed and print what happened. ``watch`` is given the world before it begins."""
    plan, pool = _plan(options), ModulePool(0, _packages(options), options.switch)
    outcome = run_seed(plan, Run(options.seed), pool, trace=print if options.trace else None, watch=watch)
    if not options.trace:
        _print_notes(outcome, outcome.notes)
    _print_end(outcome)
    sys.stdout.flush()
    return outcome


def _run_one(options: argparse.Namespace) -> int:
    outcome = run_one(options)
    os._exit(not outcome.is_good)  # without the finally blocks of killed threads


def _shrink(options: argparse.Namespace) -> int:
    plan, pool = _plan(options), ModulePool(packages=_packages(options), switching=options.switch)
    (outcome,) = run_in_forks(plan, [Run(options.seed)], pool, 1)
    if outcome.is_good:
        print(f"seed {outcome.seed} is good")
        return 0
    left = shrink(plan, outcome, pool, options.workers)
    findings = ", ".join(sorted(outcome.findings))
    print(f"seed {outcome.seed}: {findings}; it takes {len(left)} of {len(outcome.faults)} faults")
    for number in left:
        print(f"{number:4} {outcome.faults[number]}")
    kept = "".join(f"{number}," for number in left)
    if _is_own(options):
        print(f"replay it: {_own_command(options, outcome.seed)} --faults {kept}")
    else:
        chosen = _scenario_option(options)
        print(f'replay it: make simulate SEED={outcome.seed}{chosen} ARGS="--faults {kept}"')
    return 1


def _run_many(options: argparse.Namespace) -> int:
    seeds = range(options.seed, options.seed + options.seeds)
    plan, runs = _plan(options), [Run(seed) for seed in seeds]
    repeated = [Run(seed, is_disturbed=True) for seed in seeds[: options.twice]]
    elsewhere = OtherInterpreter(Work(plan, repeated, _packages(options), options.switch, options.workers))
    pool, console = ModulePool(packages=_packages(options), switching=options.switch), Console()
    bad: list[Outcome] = []
    digests: dict[int, str] = {}
    simulated_s = processor_s = 0.0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(f"seeds {seeds[0]} to {seeds[-1]}", total=len(repeated) + len(runs))
        for outcome in itertools.chain(elsewhere.outcomes(), run_in_forks(plan, runs, pool, options.workers)):
            simulated_s += outcome.simulated_s
            processor_s += outcome.processor_s
            if digests.setdefault(outcome.seed, outcome.digest) != outcome.digest:
                bad.append(Outcome(outcome.seed, outcome.digest, failure="two runs of the seed have different hashes"))
            if not outcome.is_good:
                bad.append(outcome)
                progress.update(task, description=f"[red]{len(bad)} bad")
            progress.advance(task)
    for outcome in sorted(bad, key=lambda outcome: outcome.seed)[:1]:
        _print_notes(outcome, outcome.notes[-SHOWN_NOTES:])
        _print_end(outcome)
        print(f"replay it: {_command(options, outcome.seed)}")
    speed = simulated_s / processor_s if processor_s else 0.0
    console.print(
        escape(
            f"{len(repeated) + len(runs)} runs of {len(seeds)} seeds, {len(repeated)} of them twice; {len(bad)} bad: "
            f"{sorted({outcome.seed for outcome in bad})[:20]}; {simulated_s:,.0f} s simulated in {processor_s:,.0f} s "
            f"of processor time, {speed:.1f} s a second"
        )
    )
    return int(bool(bad))


def _command(options: argparse.Namespace, seed: int) -> str:
    """The command that replays a seed."""
    if _is_own(options):
        return _own_command(options, seed)
    return f"make simulate SEED={seed}{_scenario_option(options)}"


def _is_own(options: argparse.Namespace) -> bool:
    """Whether the scenario is a function of the user: such users may not have our Makefile."""
    return options.brokers is None and ":" in options.scenario


def _own_command(options: argparse.Namespace, seed: int) -> str:
    packages = "".join(f" --package {package}" for package in options.package)
    return f"python -m kafka_lite.testing.simulation.command --scenario {options.scenario}{packages} --seed {seed}"


def _scenario_option(options: argparse.Namespace) -> str:
    if options.brokers is not None:
        return f" BROKERS={options.brokers}"
    return "" if options.scenario == BROKERS[1] else f" SCENARIO={options.scenario}"


def _print_notes(outcome: Outcome, notes: Sequence[str]) -> None:
    print(f"seed {outcome.seed}:")
    for note in notes:
        print(note)


def _print_end(outcome: Outcome) -> None:
    if outcome.failure:
        print(outcome.failure)
    for violation in outcome.violations:
        print(violation)
    speed = outcome.simulated_s / outcome.processor_s if outcome.processor_s else 0.0
    print(
        f"seed {outcome.seed}: {'good' if outcome.is_good else 'BAD'}; {outcome.summary}; hash {outcome.digest} of "
        f"{outcome.steps} steps; {outcome.simulated_s:.1f} s simulated in {outcome.processor_s:.1f} s, "
        f"{speed:.1f} s a second"
    )


if __name__ == "__main__":
    sys.exit(main())
