"""Code that simulated processes generate is compiled once for all of them, and each runs a copy of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

import pytest

from kafka_lite.testing.simulation import runner
from kafka_lite.testing.simulation.runner import ModulePool, Outcome, Plan, Run, run_in_forks
from kafka_lite.testing.simulation.system.modules import Modules, compile_once, compiled
from kafka_lite.zookeeper.embedded import protocol

SOURCE = "def double(number: missing) -> int:\n    return 2 * number\n"


@pytest.fixture(autouse=True)
def _compiled_by_nobody() -> Iterator[None]:
    before = dict(compiled)
    compiled.clear()
    yield
    compiled.clear()
    compiled.update(before)


def test_each_process_gets_a_copy_of_the_same_code() -> None:
    first, second = (compile_once(SOURCE, "<double>", "exec") for _ in range(2))
    assert isinstance(second, CodeType)
    assert first == second
    assert first is not second
    assert len(compiled) == 1


def test_the_same_source_in_another_file_is_other_code() -> None:
    codes = [compile_once(SOURCE, name, "exec") for name in ("<one>", "<other>")]
    assert [code.co_filename for code in codes] == ["<one>", "<other>"]


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_features_of_the_future_are_those_of_the_caller(future: str) -> None:
    call = f"{future}code = compile({SOURCE!r}, '<double>', 'exec')\n"
    names: dict[str, Any] = {"compile": compile_once}
    exec(compile(call, "<caller>", "exec", dont_inherit=True), names)
    if future:
        exec(names["code"], names)
        assert names["double"](2) == 4
    else:
        with pytest.raises(NameError, match="missing"):
            exec(names["code"], names)


def test_what_is_no_module_is_compiled_as_usual() -> None:
    assert eval(compile_once("1 + 1", "<sum>", "eval")) == 2
    assert compiled == {}


def test_later_seeds_have_what_a_seed_has_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_seed(plan: Plan, run: Run, pool: ModulePool) -> Outcome:
        del plan, pool
        known = len(compiled)
        compile_once(SOURCE, f"<seed {run.seed}>", "exec")
        return Outcome(run.seed, "digest", steps=known)

    monkeypatch.setattr(runner, "run_seed", run_seed)
    outcomes = run_in_forks(Plan(), [Run(1), Run(2), Run(3)], ModulePool(0), workers=1)
    assert [outcome.steps for outcome in outcomes] == [0, 1, 2]


def test_type_hints_are_classes_of_the_process() -> None:
    modules, outside = Modules(), sys.modules[protocol.__name__]
    own = modules.load(protocol.__name__)
    hints = modules.load("typing").get_type_hints(own.ACL)
    assert own.Id in hints.values()
    assert protocol.Id not in hints.values()
    assert sys.modules[protocol.__name__] is outside
