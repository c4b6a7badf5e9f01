"""The writes of an administrator."""

from __future__ import annotations

import pytest

from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from tests.support.helix_samples import record as sample
from tests.support.helix_zookeeper import PATHS, helix_in_memory

STEP = "resource t, 4 partitions CUSTOMIZED"
PLAN = IdealState.customized("t", "OnlineOffline", {str(n): {f"w{n % 2 + 1}": "ONLINE"} for n in range(4)})


def test_a_resource_is_what_a_real_administrator_writes() -> None:
    with helix_in_memory() as helix:
        helix.admin.add_resource(PLAN)
        assert helix.record(PATHS.resource_config("t")) == sample(STEP, "RESOURCE/t")
        assert helix.record(PATHS.ideal_state("t")) == sample(STEP, "IDEALSTATES/t")
        helix.admin.drop_resource("t")
        helix.admin.drop_resource("t")
        assert helix.record(PATHS.ideal_state("t")) is None


def test_a_cluster_that_is_there_stays_as_it_is() -> None:
    with helix_in_memory() as helix:
        helix.admin.add_resource(PLAN)
        before = helix.accessor.children(PATHS.state_models)
        helix.admin.add_cluster()
        assert helix.accessor.children(PATHS.state_models) == before
        assert helix.record(PATHS.ideal_state("t")) == PLAN.record


def test_what_is_not_in_error_cannot_be_reset() -> None:
    with helix_in_memory() as helix:
        helix.admin.add_resource(PLAN)
        with pytest.raises(HelixError, match="t/0 on w1 cannot be reset: the instance is not alive"):
            helix.admin.reset_partition("w1", "t", "0")
