"""Puts known bugs back into brokers and other programs, and counts the seeds that the simulator needs to find each.

Not in Kafka. ``python -m scripts.simulated_bugs`` writes ``docs/design/simulated-bugs.json``, from which the page on
simulation makes its table; arguments name some of the bugs, whose rows replace the old ones, ``--most N`` says how
many seeds are tried, and ``--missing`` leaves out the bugs that have a row.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from kafka_lite.testing.simulation.cluster import PROGRAMS
from kafka_lite.testing.simulation.groups.workload import GROUP_PROGRAMS
from kafka_lite.testing.simulation.helix.workload import HELIX_PROGRAMS
from kafka_lite.testing.simulation.mirror.workload import MIRROR_PROGRAMS
from kafka_lite.testing.simulation.runner import ModulePool, Outcome, Plan, Run, is_repeatable, run_in_forks

BROKEN_BROKERS: Final = "tests.support.broken_brokers"
BROKEN_TRANSACTIONS: Final = "tests.support.broken_transactions"
BROKEN_MIRROR: Final = "tests.support.broken_mirror"
BROKEN_HELIX: Final = "tests.support.broken_helix"
BROKEN_GROUPS: Final = "tests.support.broken_groups"
RESULTS: Final = Path(__file__).parent.parent / "docs/design/simulated-bugs.json"
ONE_BROKER, THREE_BROKERS, TRANSACTIONS = "one-broker", "three-brokers", "transactions"
OLD_BROKERS, FLIPPED_BITS, MIRRORS, HELIX = "three-old-brokers", "flipped-bits", "mirrors", "helix"
MODERN_GROUPS: Final = "modern-groups"
MODULES: Final = {
    TRANSACTIONS: BROKEN_TRANSACTIONS, MIRRORS: BROKEN_MIRROR, HELIX: BROKEN_HELIX, MODERN_GROUPS: BROKEN_GROUPS,
}  # fmt: skip
BROKERS: Final = {THREE_BROKERS: 3, OLD_BROKERS: 3, FLIPPED_BITS: 3, MIRRORS: 2, HELIX: 0, MODERN_GROUPS: 3}
"""How many there are in a scenario, if not one."""
LOGS: Final = ("kafka_lite.log.log", "kafka_lite.log.local_log", "kafka_lite.cluster.partition")
GROUPS: Final = tuple(
    f"kafka_lite.coordinator.group.{name}" for name in ("group_coordinator", "group_metadata", "group_rebalancer")
)


@dataclass(frozen=True)
class Bug:
    """A broken program, the scenario that looks for it, and modules with a switch at each statement."""

    name: str
    scenario: str = ONE_BROKER
    switching: tuple[str, ...] = ()
    replaced: str = PROGRAMS + "broker"
    """The right program: a broker, a mirror, or a member of Helix."""

    @property
    def program(self) -> str:
        """The function that runs in place of the right one, as ``module:function``."""
        return f"{MODULES.get(self.scenario, BROKEN_BROKERS)}:{self.name}"


ALL: Final = (
    Bug("without_sequence_check"),
    Bug("without_fsync"),
    Bug("without_recovery"),
    Bug("trusting_an_old_clean_shutdown"),
    Bug("swallowing_write_errors"),
    Bug("looking_up_the_next_entry"),
    Bug("cleaning_away_new_records"),
    Bug("undoing_alterations"),
    Bug("leaving_records_out_of_sessions"),
    Bug("without_loaded_offsets"),
    Bug("without_new_generations"),
    Bug("forgetting_the_last_member"),
    Bug("obeying_dead_members"),
    Bug("appending_without_locks", switching=LOGS),
    Bug("changing_groups_without_locks", switching=GROUPS),
    Bug("with_unclean_elections", THREE_BROKERS),
    Bug("ignoring_min_insync_replicas", THREE_BROKERS),
    Bug("acknowledging_early", THREE_BROKERS),
    Bug("committing_with_the_fastest_follower", THREE_BROKERS),
    Bug("serving_beyond_the_high_watermark", THREE_BROKERS),
    Bug("expanding_isrs_by_high_watermarks", THREE_BROKERS),
    Bug("overwriting_isrs", THREE_BROKERS),
    Bug("obeying_old_epochs", THREE_BROKERS),
    Bug("appending_after_a_leadership", THREE_BROKERS),
    Bug("without_truncation", THREE_BROKERS),
    Bug("truncating_to_high_watermarks", OLD_BROKERS),
    Bug("truncating_under_the_same_leader", OLD_BROKERS),
    Bug("truncating_once", THREE_BROKERS),
    Bug("forgetting_producers_on_followers", THREE_BROKERS),
    Bug("committing_beyond_the_end", THREE_BROKERS),
    Bug("keeping_groups_that_moved", THREE_BROKERS),
    Bug("without_checksums", FLIPPED_BITS),
    Bug("showing_open_transactions", TRANSACTIONS),
    Bug("without_aborted_transactions", TRANSACTIONS),
    Bug("without_timeouts", TRANSACTIONS),
    Bug("without_fencing", TRANSACTIONS),
    Bug("losing_transactions", TRANSACTIONS),
    Bug("leaving_decided_transactions", TRANSACTIONS),
    Bug("committing_offsets_early", TRANSACTIONS),
    Bug("committing_before_the_acknowledgement", MIRRORS, replaced=MIRROR_PROGRAMS + "mirror"),
    Bug("retrying_behind_later_records", MIRRORS, replaced=MIRROR_PROGRAMS + "mirror"),
    Bug("assigning_before_others_have_revoked", MODERN_GROUPS),
    Bug("acknowledging_before_the_listener", MODERN_GROUPS, replaced=GROUP_PROGRAMS + "group_member"),
    Bug("forgetting_pending_messages", HELIX, replaced=HELIX_PROGRAMS + "controller"),
    Bug("keeping_states_of_old_sessions", HELIX, replaced=HELIX_PROGRAMS + "participant"),
)


@dataclass(frozen=True)
class Row:
    """The seeds and time that the simulator needed for a bug."""

    bug: str
    brokers: int
    switching: bool
    """Whether threads were switched at statements."""
    seeds: int
    """The first seed that found it; if none did, how many were tried."""
    found: list[str]
    """The rules that it broke; empty if no seed found it."""


def find(bug: Bug, most: int, pool: ModulePool, workers: int) -> Outcome | None:
    """The first bad seed of 1 to ``most``; None if all are good."""
    plan = Plan(bug.scenario, {bug.replaced: bug.program})
    for first in range(1, most + 1, workers):
        seeds = range(first, min(first + workers, most + 1))
        bad = [outcome for outcome in run_in_forks(plan, map(Run, seeds), pool, workers) if not outcome.is_good]
        if bad:
            return min(bad, key=lambda outcome: outcome.seed)
    return None


def row(bug: Bug, found: Outcome | None, most: int) -> Row:
    """The bug's row in the table."""
    seeds, rules = (most, []) if found is None else (found.seed, sorted(found.findings))
    return Row(bug.name, BROKERS.get(bug.scenario, 1), bool(bug.switching), seeds, rules)


def _recorded() -> dict[str, dict[str, Any]]:
    """The rows of the file, by bug."""
    return {each["bug"]: each for each in json.loads(RESULTS.read_text())} if RESULTS.exists() else {}


def write(new: Row) -> None:
    """Put a row into the file, in the order of ``ALL``."""
    rows = _recorded()
    rows[new.bug] = asdict(new)
    ordered = [rows[bug.name] for bug in ALL if bug.name in rows]
    RESULTS.write_text("[\n" + ",\n".join(json.dumps(each) for each in ordered) + "\n]\n")


def main() -> None:
    """Count the seeds for each bug, and write the file."""
    if not is_repeatable():
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})
    parser = argparse.ArgumentParser(prog="simulated_bugs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="BUG", help="which bugs (default: all)")
    parser.add_argument("--most", type=int, default=100, metavar="N", help="how many seeds are tried (default: 100)")
    parser.add_argument("--missing", action="store_true", help="leave out bugs that have been counted before")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes at a time")
    options = parser.parse_args()
    pools: dict[tuple[str, ...], ModulePool] = {}
    for bug in ALL:
        is_left_out = options.missing and bug.name in _recorded()
        if is_left_out or (options.names and bug.name not in options.names):
            continue
        pool = pools.get(bug.switching)
        if pool is None:
            pool = pools[bug.switching] = ModulePool(packages=["tests"], switching=bug.switching)
        measured = row(bug, find(bug, options.most, pool, options.workers), options.most)
        write(measured)
        print(measured, flush=True)


if __name__ == "__main__":
    main()
