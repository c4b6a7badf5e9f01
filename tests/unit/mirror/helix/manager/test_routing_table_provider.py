"""A spectator follows the external views."""

from __future__ import annotations

from kafka_lite.mirror.helix.writes import Delete, Put
from kafka_lite.mirror.helix.zn_record import ZNRecord
from tests.support.eventually import eventually
from tests.support.helix_zookeeper import PATHS, HelixOnZooKeeper, helix_in_memory


def put(helix: HelixOnZooKeeper, resource: str, **states: str) -> None:
    record = ZNRecord(resource, map_fields={"0": states})
    helix.accessor.apply([Put(PATHS.external_view(resource), record)])


def test_it_knows_who_has_what() -> None:
    with helix_in_memory() as helix:
        put(helix, "t", w2="ONLINE", w1="ONLINE", w3="OFFLINE")
        spectator = helix.start_spectator()
        eventually(lambda: spectator.instances("t", "0", "ONLINE") == ["w1", "w2"])
        put(helix, "t", w3="ONLINE")
        eventually(lambda: spectator.instances("t", "0", "ONLINE") == ["w3"])
        put(helix, "u", w1="MASTER")
        eventually(lambda: spectator.instances("u", "0", "MASTER") == ["w1"])
        helix.accessor.apply([Delete(PATHS.external_view("t"))])
        eventually(lambda: set(spectator.view) == {"u"})
        assert spectator.instances("t", "0", "ONLINE") == []
