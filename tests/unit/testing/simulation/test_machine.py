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
