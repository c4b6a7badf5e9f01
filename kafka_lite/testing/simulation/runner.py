"""Runs seeds: each in a process of its own, forked from one that has the modules ready.

Not in Kafka. Importing a broker takes longer than simulating it for a minute. So the modules of the first processes
of every world are imported once, and each world is a fork.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import os
import pickle
import selectors
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, NamedTuple, cast

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.cluster import PROGRAMS
from kafka_lite.testing.simulation.disturbance import Disturbance
from kafka_lite.testing.simulation.scenarios import SCENARIOS
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules, compiled
from kafka_lite.testing.simulation.workload import Result
from kafka_lite.testing.simulation.world import World

LOADED: Final = (
    "kafka_lite.server.kafka_server", "kafka_lite.producer", "kafka_lite.consumer", "kafka_lite.testing.cluster_client",
    "kafka", "kazoo.client",
)  # fmt: skip
"""Modules that each process has imported when it begins."""
READY: Final = 28
"""How many processes' modules are imported beforehand. A world that starts more imports those when it needs them."""
MEMORY: Final = Path("/dev/shm")
"""The place of a world's files if it has room: in memory, so nothing is written to a disk."""
MEMORY_BYTES: Final = 1 << 30


@dataclass(frozen=True)
class Plan:
    """The plan of all runs: it is the same for each seed."""

    scenario: str = "one-broker"
    """A name of ``SCENARIOS``, or a function of yours as ``module:function``."""
    substitutes: Mapping[str, str] = field(default_factory=dict)
    """Programs that are started instead of others: ``module:function`` of both."""
    faults: tuple[int, ...] | None = None
    """Numbers of the faults that are suffered, among those that the seed draws; None for all."""


@dataclass(frozen=True)
class Outcome:
    """How a seed ended."""

    seed: int
    digest: str
    violations: list[str] = field(default_factory=list)
    failure: str = ""
    """The traceback, if the world itself failed."""
    notes: list[str] = field(default_factory=list)
    """The last notes of the world, for the reader of a failure."""
    simulated_s: float = 0.0
    processor_s: float = 0.0
    steps: int = 0
    summary: str = ""
    faults: list[str] = field(default_factory=list)
    """The faults that the seed drew, whether they happened or not."""

    @property
    def is_good(self) -> bool:
        """Whether nothing was found."""
        return not self.violations and not self.failure

    @property
    def findings(self) -> set[str]:
        """The findings in short: the rules of the checker that were broken, or the kind of the world's failure."""
        rules = {violation.partition(":")[0] for violation in self.violations}
        return rules or {self.failure.rstrip().rpartition("\n")[2].partition(":")[0].rpartition(".")[2]} - {""}


def scenario(name: str) -> Callable[[World], object]:
    """The scenario of a plan. Raises ValueError if there is none: it is neither known nor a function of a module."""
    if name in SCENARIOS:
        return SCENARIOS[name]
    module, _, function = name.partition(":")
    if not function:
        raise ValueError(f"{name!r} is neither one of {', '.join(SCENARIOS)} nor MODULE:FUNCTION")
    found = getattr(importlib.import_module(module), function, None)
    if not callable(found):
        raise ValueError(f"the module {module} has no function {function!r}")
    return cast("Callable[[World], object]", found)


class ModulePool:
    """Modules that are ready for processes of a world.

    ``switching``: modules before whose statements another thread may run.
    """

    def __init__(self, size: int = READY, packages: Iterable[str] = (), switching: Collection[str] = ()) -> None:
        self._packages = (*PACKAGES, *packages)
        self._switching = switching
        gc.disable()  # imports allocate much and free little: garbage collection would double their time
        self._ready = [self._new() for _ in range(size)]
        gc.enable()

    def _new(self) -> Modules:
        modules = Modules(self._packages, self._switching)
        for name in ("random", "logging", "threading", PROGRAMS.rstrip(":"), *LOADED):
            modules.load(name)
        return modules

    def take(self) -> Modules:
        """Modules for one process."""
        return self._ready.pop() if self._ready else self._new()


def is_repeatable() -> bool:
    """Whether runs of this interpreter are the same as those of another: the hashes of text must not be drawn."""
    return sys.flags.hash_randomization == 0 or os.environ.get("PYTHONHASHSEED") == "0"


def _fast_folder() -> Path | None:
    return MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_BYTES else None


class Run(NamedTuple):
    """A seed to be run."""

    seed: int
    is_disturbed: bool = False
    """Whether objects and files are elsewhere than in other runs, which must not change any event."""


def run_seed(
    plan: Plan,
    run: Run,
    pool: ModulePool,
    trace: Callable[[str], None] | None = None,
    watch: Callable[[World], object] = lambda _: None,
) -> Outcome:
    """Run one seed in this process. To be called once: what killed threads hold is never freed.

    A disturbed run has no ``trace``. ``watch`` is given the world before it begins.
    """
    seed, suffix = run.seed, ""
    if run.is_disturbed:
        disturbance = Disturbance(Random(f"{seed}/disturbance"))
        trace, suffix = disturbance.event, disturbance.folder_suffix()
    folder = Path(tempfile.mkdtemp(prefix="kafka-lite-world-", suffix=suffix, dir=_fast_folder()))
    world = World(seed, folder, trace=trace, modules=pool.take)
    world.substitutes.update(plan.substitutes)
    world.kept_faults = plan.faults
    watch(world)
    violations: list[Violation] = []
    failure = summary = ""
    began_s = os.times().user
    try:
        result = world.run(scenario(plan.scenario))
        if isinstance(result, Result):
            violations, summary = result.violations, result.history.summary()
    except Exception:  # noqa: BLE001  whatever it is, the seed is reported with it
        failure = traceback.format_exc()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Outcome(
        seed, world.events.digest, [str(violation) for violation in violations], failure,
        list(world.events.notes),
        world.now_s, os.times().user - began_s, world.events.steps, summary, [str(fault) for fault in world.faults],
    )  # fmt: skip


def _run_with_limit(plan: Plan, run: Run, pool: ModulePool) -> Outcome:
    """Run one seed in this process. If memory runs out, that is the only finding: others would prove nothing."""
    # Imported here, since it takes the module resource, which a page in a browser has as little as forks.
    from kafka_lite.testing.simulation.memory_limit import MemoryLimit

    outcome: Outcome | None = None
    limit = MemoryLimit()
    with contextlib.suppress(MemoryError), limit:
        outcome = run_seed(plan, run, pool)
    if outcome is None or (limit.is_reached and not outcome.is_good):
        return Outcome(run.seed, "", failure="out of memory")
    return outcome


def run_in_forks(plan: Plan, runs: Iterable[Run], pool: ModulePool, workers: int) -> Iterator[Outcome]:
    """Run seeds, each in a child, ``workers`` at a time; yields what they found as they end."""
    gc.freeze()
    waiting = iter(runs)
    with selectors.DefaultSelector() as selector:
        for run in itertools.islice(waiting, workers):
            _Child(plan, run, pool).register(selector)
        while selector.get_map():
            for key, _ in selector.select():
                child: _Child = key.data
                if child.has_more():
                    continue
                selector.unregister(key.fd)
                outcome = child.outcome()
                for run in itertools.islice(waiting, 1):
                    _Child(plan, run, pool).register(selector)
                yield outcome


class _Child:
    """A process that runs one seed and writes its outcome to a pipe."""

    def __init__(self, plan: Plan, run: Run, pool: ModulePool) -> None:
        self._seed = run.seed
        self._data = bytearray()
        self._reader, writer = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            gc.disable()  # after the run, a collection would look at the whole world, and the process ends anyway
            try:
                known = set(compiled)
                outcome = _run_with_limit(plan, run, pool)
                news = {source: code for source, code in compiled.items() if source not in known}
                with os.fdopen(writer, "wb") as pipe:
                    pickle.dump((outcome, news), pipe)
            finally:
                os._exit(0)  # no finally of any killed thread, and no return into the code of the parent
        os.close(writer)

    def register(self, selector: selectors.BaseSelector) -> None:
        """Wait for its data."""
        selector.register(self._reader, selectors.EVENT_READ, self)

    def has_more(self) -> bool:
        """Read some of its data; returns False at the end."""
        data = os.read(self._reader, 1 << 16)
        self._data += data
        return bool(data)

    def outcome(self) -> Outcome:
        """The outcome of the seed's run. Keeps the code that it compiled, so later seeds need not compile it again."""
        os.close(self._reader)
        os.waitpid(self._pid, 0)
        if not self._data:
            return Outcome(self._seed, "", failure="the process of the seed died")
        outcome, news = pickle.loads(self._data)
        compiled.update(news)
        assert isinstance(outcome, Outcome)
        return outcome
