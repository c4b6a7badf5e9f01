"""The three state models that this cluster uses, each as its table. A controller writes them when it starts.

uReplicator needs the first one only: a partition has one worker, so nobody is master or slave of anything.

Helix 0.6.9: helix-core/.../model/OnlineOfflineSMD.java (OnlineOfflineSMD), helix-core/.../model/MasterSlaveSMD.java
(MasterSlaveSMD), helix-core/.../model/LeaderStandbySMD.java (LeaderStandbySMD) · book 8.2.1
"""

from __future__ import annotations

from kafka_lite.mirror.helix.model.state_model_definition import (
    DROPPED,
    ERROR,
    REPLICAS,
    UNBOUNDED,
    StateModelDefinition,
)

OFFLINE = "OFFLINE"

ONLINE_OFFLINE = StateModelDefinition.of_table(
    "OnlineOffline",
    initial_state=OFFLINE,
    bounds={"ONLINE": REPLICAS, OFFLINE: UNBOUNDED, DROPPED: UNBOUNDED},
    transitions=((OFFLINE, "ONLINE"), ("ONLINE", OFFLINE), (OFFLINE, DROPPED)),
)
"""A replica serves, or it does not."""

MASTER_SLAVE = StateModelDefinition.of_table(
    "MasterSlave",
    initial_state=OFFLINE,
    bounds={"MASTER": "1", "SLAVE": REPLICAS, OFFLINE: UNBOUNDED, DROPPED: UNBOUNDED, ERROR: UNBOUNDED},
    transitions=(
        ("MASTER", "SLAVE"),
        ("SLAVE", "MASTER"),
        (OFFLINE, "SLAVE"),
        ("SLAVE", OFFLINE),
        (OFFLINE, DROPPED),
    ),
)
"""One replica writes, and the others follow it."""

LEADER_STANDBY = StateModelDefinition.of_table(
    "LeaderStandby",
    initial_state=OFFLINE,
    bounds={"LEADER": "1", "STANDBY": REPLICAS, OFFLINE: UNBOUNDED, DROPPED: UNBOUNDED},
    transitions=(
        ("LEADER", "STANDBY"),
        ("STANDBY", "LEADER"),
        (OFFLINE, "STANDBY"),
        ("STANDBY", OFFLINE),
        (OFFLINE, DROPPED),
    ),
)
"""One replica works, and the others wait to take over."""

BUILT_IN_STATE_MODELS = {model.name: model for model in (ONLINE_OFFLINE, MASTER_SLAVE, LEADER_STANDBY)}

UREPLICATOR_ONLINE_OFFLINE = StateModelDefinition.of_priorities(
    "OnlineOffline",
    initial_state=OFFLINE,
    bounds={"ONLINE": REPLICAS},
    states={"ONLINE": 20, OFFLINE: -1, DROPPED: -1, ERROR: -1},
    transitions={("ONLINE", OFFLINE): 25, (OFFLINE, "ONLINE"): 5, (OFFLINE, DROPPED): 0},
)
"""uReplicator's model for a new cluster. A starting controller overwrites it with the built-in one of that name."""
