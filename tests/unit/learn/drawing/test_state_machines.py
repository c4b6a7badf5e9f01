from enum import Enum

import pytest

from kafka_learn.drawing.state_machines import draw_states, modules_with_a_table, page, state_docs
from kafka_lite.controller.replica_state_machine import VALID_PREVIOUS_STATES, ReplicaState


class Door(Enum):
    OPEN = 1
    CLOSED = 2


def test_each_allowed_transition_has_an_arrow():
    drawing = draw_states({Door.OPEN: {Door.CLOSED}, Door.CLOSED: {Door.OPEN, Door.CLOSED}})
    arrows = [line.strip() for line in drawing.graph.source.splitlines() if "->" in line]
    assert arrows == ["CLOSED -> OPEN", "CLOSED -> CLOSED", "OPEN -> CLOSED"]


def test_an_arrow_has_its_label_and_only_an_allowed_one():
    table = {Door.OPEN: {Door.CLOSED}, Door.CLOSED: {Door.OPEN}}
    drawing = draw_states(table, {(Door.CLOSED, Door.OPEN): "a knock"})
    arrows = [line.strip() for line in drawing.graph.source.splitlines() if "->" in line]
    assert arrows == ['CLOSED -> OPEN [label="a knock"]', "OPEN -> CLOSED"]
    with pytest.raises(ValueError, match=r"no transition from Door\.OPEN to Door\.OPEN"):
        draw_states(table, {(Door.OPEN, Door.OPEN): "no"})


def test_the_tables_of_the_broker_are_discovered():
    modules = modules_with_a_table()
    assert "kafka_lite.controller.replica_state_machine" in modules
    assert "kafka_lite.controller.topic_deletion_manager" not in modules, "it only imports the table"


def test_every_replica_state_is_explained():
    docs = state_docs(ReplicaState)
    assert set(docs) == {state.name for state in VALID_PREVIOUS_STATES}
    assert docs["NEW"].startswith("Created by a new topic")


def test_the_page_has_a_figure_for_each_machine():
    assert page("en").count("<svg role=") == len(modules_with_a_table())
