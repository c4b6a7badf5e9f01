"""Figures of Helix: its state models, each drawn from its table, and uReplicator's parts. Book 8.2."""

from __future__ import annotations

from kafka_learn.drawing.graphviz_drawing import BLUE, GREEN, PLAIN, Drawing, cell, new_graph, table
from kafka_lite.mirror.helix.model.built_in_state_models import LEADER_STANDBY, MASTER_SLAVE, ONLINE_OFFLINE
from kafka_lite.mirror.helix.model.state_model_definition import UNBOUNDED, StateModelDefinition

_PARTS = {
    "TopicManagementRestletResource": BLUE, "AutoTopicWhitelistingManager": BLUE,
    "AutoRebalanceLiveInstanceChangeListener": BLUE, "HelixMirrorMakerManager": GREEN, "GenericHelixController": GREEN,
    "KafkaBrokerTopicObserver": PLAIN, "ParticipantManager": PLAIN,
}  # fmt: skip
_CALLS = (
    ("TopicManagementRestletResource", "HelixMirrorMakerManager", ""),
    ("AutoTopicWhitelistingManager", "HelixMirrorMakerManager", ""),
    ("AutoTopicWhitelistingManager", "KafkaBrokerTopicObserver", ""),
    ("AutoRebalanceLiveInstanceChangeListener", "HelixMirrorMakerManager", ""),
    ("HelixMirrorMakerManager", "GenericHelixController", "IDEALSTATES"),
    ("GenericHelixController", "ParticipantManager", "MESSAGES"),
    ("ParticipantManager", "GenericHelixController", "CURRENTSTATES"),
)


def controller_parts(language: str) -> str:
    """The parts of a controller, and the worker's participant; the words on arrows are the znodes between them."""
    graph = new_graph()
    for name, fill in _PARTS.items():
        graph.node(name, table([[cell(name, fill=fill)]]))
    for start, to, znodes in _CALLS:
        graph.edge(start, to, label=znodes)
    return Drawing(graph, "; ".join(f"{start} → {to} {znodes}".strip() for start, to, znodes in _CALLS)).svg(language)


def online_offline(language: str) -> str:
    """The states of uReplicator's partitions."""
    return _drawn(ONLINE_OFFLINE, language)


def master_slave(language: str) -> str:
    """One replica writes, the others follow it."""
    return _drawn(MASTER_SLAVE, language)


def leader_standby(language: str) -> str:
    """One replica works, the others wait."""
    return _drawn(LEADER_STANDBY, language)


def _drawn(model: StateModelDefinition, language: str) -> str:
    """A box for each state, with its bound if it has one, and an arrow for each transition of the table."""
    graph = new_graph("LR")
    graph.attr("node", shape="box", style="rounded,filled", margin="0.12,0.06")
    names = dict.fromkeys(state for transition in model.transitions for state in transition)
    for state in names:
        bound = model.bounds.get(state, UNBOUNDED)
        label = state if bound == UNBOUNDED else f"{state} ≤ {bound}"
        graph.node(state, label, fillcolor=GREEN if state == model.initial_state else BLUE)
    for start, to in model.transitions:
        graph.edge(start, to)
    return Drawing(graph, "; ".join(f"{start} → {to}" for start, to in model.transitions)).svg(language)
