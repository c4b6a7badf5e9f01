"""Figures of Streams: topologies, and the states of threads and instances. Book 9.1, 9.2."""

from __future__ import annotations

from examples.word_count.topology import five_lines, node_by_node
from kafka_learn.drawing.state_machines import draw_states
from kafka_lite.streams import kafka_streams
from kafka_lite.streams.threads import stream_thread_state
from kafka_lite.streams.topology_drawing import TopologyDrawing

APPLICATION_ID = "word-count"


def word_count_by_nodes(_language: str) -> str:
    """The topology of the word count that is declared node by node."""
    return TopologyDrawing(node_by_node().set_application_id(APPLICATION_ID).describe()).svg()


def word_count_in_five_lines(_language: str) -> str:
    """The topology of the same word count by the DSL."""
    return TopologyDrawing(five_lines().set_application_id(APPLICATION_ID).describe()).svg()


def thread_states(_language: str) -> str:
    """The states of a stream thread."""
    return draw_states(stream_thread_state.VALID_PREVIOUS_STATES).svg()


def instance_states(_language: str) -> str:
    """The states of an instance."""
    return draw_states(kafka_streams.VALID_PREVIOUS_STATES).svg()
