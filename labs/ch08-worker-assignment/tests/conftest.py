"""Members, and what there is to run."""

import pytest

from kafka_lite.connect.runtime.distributed.connect_protocol import WorkerState
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState


@pytest.fixture(scope="session")
def members():
    """``members("b", "a", c=9)``: these have read up to offset 7, those as far as it says."""

    def make(*names, **behind):
        offsets = dict.fromkeys(names, 7) | behind
        return {name: WorkerState(f"http://{name}:8083/", offset) for name, offset in offsets.items()}

    return make


@pytest.fixture(scope="session")
def configs():
    """``configs(sink=2, source=1)``: connectors with so many tasks, at offset 7."""

    def make(offset=7, **counts):
        return ClusterConfigState(offset, counts, {name: {"name": name} for name in counts})

    return make


@pytest.fixture(scope="session")
def shares():
    """What each member gets, as texts: ``{"a": "sink sink-0"}``."""

    def of(by_member):
        return {
            member: " ".join([*each.connectors, *map(str, each.tasks)]) for member, each in sorted(by_member.items())
        }

    return of
