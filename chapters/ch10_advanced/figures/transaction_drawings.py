"""The states of a transaction, for the producer and for its coordinator, drawn from their tables. Book 10.3."""

from __future__ import annotations

from kafka_learn.drawing.state_machines import draw_states
from kafka_lite.coordinator.transaction import transaction_state
from kafka_lite.producer.transaction_state import VALID_PREVIOUS_STATES, State
from kafka_lite.producer.txn_responses import REACTIONS, Reaction

_ONLY_IDEMPOTENT = {State.DISABLED}
_HEADINGS = {
    "en": ("response to", "find the coordinator, then retry", "abort", "abort, then a new id", "close"),
    "zh": ("响应", "先找协调者，再重试", "中止", "中止，再要新的 id", "关闭"),
}


def producer_states(_language: str) -> str:
    """The states of a transactional producer. From all of them a fatal error is possible, which is left out."""
    left_out = {*_ONLY_IDEMPOTENT, State.FATAL_ERROR}
    table = {state: before - left_out for state, before in VALID_PREVIOUS_STATES.items() if state not in left_out}
    return draw_states(table).svg()


def coordinator_states(_language: str) -> str:
    """The states of a transactional id."""
    return draw_states(transaction_state.VALID_PREVIOUS_STATES).svg()


def reactions(language: str) -> str:
    """A table of the errors by what the producer does. Those that are only retried are left out."""
    headings = _HEADINGS[language]
    columns = (Reaction.FIND_COORDINATOR, Reaction.ABORTABLE, Reaction.NEW_ID, (Reaction.FATAL, Reaction.FENCED))
    rows = [f"| {' | '.join(headings)} |", "|---" * len(headings) + "|"]
    for api_key, errors in REACTIONS.items():
        cells = [
            "<br>".join(error.name for error, reaction in errors.items() if reaction in _several(column)) or "–"
            for column in columns
        ]
        rows.append(f"| {api_key.name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _several(column: Reaction | tuple[Reaction, ...]) -> tuple[Reaction, ...]:
    return column if isinstance(column, tuple) else (column,)
