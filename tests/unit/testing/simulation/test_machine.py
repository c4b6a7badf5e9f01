"""Programs of machines are simulated, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.testing.simulation.world import World


def test_a_program_that_would_run_in_the_real_world_is_refused(tmp_path: Path) -> None:
    def scenario(world: World) -> None:
        world.machine("m").start("my_service:run")

    with pytest.raises(ValueError, match="my_service:run is not simulated: name its package with --package"):
        World(1, tmp_path).run(scenario)


def test_a_machine_loads_modules_from_other_files_and_the_others_do_not(tmp_path: Path) -> None:
    module = "kafka_lite.common.errors"
    file = tmp_path / "errors_of_mine.py"
    file.write_text("MINE = True\n", encoding="utf-8")

    def scenario(world: World) -> list[bool]:
        machines = [world.machine("mine"), world.machine("other")]
        machines[0].replaced = {module: file}
        processes = [machine.start("time:sleep", 1.0) for machine in machines]
        return [hasattr(process.module(module), "MINE") for process in processes]

    assert World(1, tmp_path / "world").run(scenario) == [True, False]
