"""A participant on ZooKeeper: joins its cluster, takes messages, runs their transitions, joins again after a session.

Helix 0.6.9: helix-core/.../manager/zk/ParticipantManager.java,
helix-core/.../messaging/handling/HelixTaskExecutor.java (HelixTaskExecutor) · book 8.2.3
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from enum import Enum

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.mirror.helix.helix_errors import HelixError, UnreadableRecordError
from kafka_lite.mirror.helix.manager.event_thread import EventThread
from kafka_lite.mirror.helix.manager.history import participant_history
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.instance_config import InstanceConfig
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.model.state_model_definition import DROPPED, StateModelDefinition
from kafka_lite.mirror.helix.participant.message_receiver import receive_messages
from kafka_lite.mirror.helix.participant.session import carry_over, join
from kafka_lite.mirror.helix.participant.state_model import StateMachineEngine, StateModel
from kafka_lite.mirror.helix.participant.state_transition_handler import run_transition, writes_after
from kafka_lite.mirror.helix.writes import Put

logger = logging.getLogger(__name__)


JOIN_TIMEOUT_MS = 35_000
"""Helix's session timeout of 30 seconds, and a margin."""
JOIN_RETRY_MS = 100


class _Event(Enum):
    NEW_SESSION = "new session"
    MESSAGES = "messages"


class ParticipantManager:
    """One participant. Its transitions run one after another, in the thread that takes the messages.

    (Helix runs them in a pool: a slow transition then delays no other one.)
    """

    def __init__(
        self,
        accessor: ZKHelixDataAccessor,
        instance: str,
        engine: StateMachineEngine,
        process: str = "",
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``engine`` has a factory for each state model that the participant knows."""
        self._accessor = accessor
        self._paths = accessor.paths
        self._instance = instance
        self._engine = engine
        self._process = process
        self._time = time
        self._session = ""
        self._thread: EventThread[_Event] = EventThread(f"HelixParticipant-{instance}", self._handle)

    def start(self) -> None:
        """Join the cluster. Raises HelixError if another process has the instance's name.

        A predecessor that was killed has it until its session ends, so this waits for up to JOIN_TIMEOUT_MS.
        """
        self._accessor.zk.add_session_listener(lambda: self._thread.put(_Event.NEW_SESSION))
        self._join()
        messages = self._paths.messages(self._instance)
        self._accessor.zk.watch_children(messages, lambda: self._thread.put(_Event.MESSAGES))
        self._thread.put(_Event.MESSAGES)
        self._thread.start()

    def shutdown(self, timeout_s: float | None = None) -> bool:
        """Stop after the transition that runs; False if it still runs after ``timeout_s``.

        Closing the session then takes the instance off line.
        """
        self._thread.shutdown(timeout_s)
        return not self._thread.is_alive()

    # ── joining ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _join(self) -> None:
        """Enter the cluster with the present session; once more if that is replaced meanwhile."""
        while (session := self._accessor.session) != self._session:
            self._enter(session)
            self._session = session

    def _enter(self, session: str) -> None:
        config, containers = join(self._instance, self._paths)
        self._accessor.apply([config])
        self._accessor.zk.ensure_paths(containers)
        self._go_live(session)
        path = self._paths.instance(self._instance, "HISTORY")
        history = participant_history(self._accessor.get(path), self._instance, session, self._time.milliseconds())
        self._accessor.apply([Put(path, history)])
        old, models = self._old_states(session), self._state_models()
        self._accessor.apply(carry_over(self._instance, session, old, models, self._paths))

    def _go_live(self, session: str) -> None:
        record = LiveInstance.of(self._instance, session, self._process).record
        deadline_ms = self._time.hi_res_ms() + JOIN_TIMEOUT_MS
        while not self._accessor.create_ephemeral(self._paths.live_instance(self._instance), record):
            if self._time.hi_res_ms() >= deadline_ms:
                raise HelixError(f"{self._instance} is live already, in another process")
            self._time.sleep(JOIN_RETRY_MS)

    def _old_states(self, session: str) -> Mapping[str, Sequence[CurrentState]]:
        """The current states of earlier sessions."""
        sessions = self._accessor.children(self._paths.instance(self._instance, "CURRENTSTATES"))
        return {
            old: [
                CurrentState(record)
                for resource in self._accessor.children(self._paths.current_states(self._instance, old))
                if (record := self._accessor.get(self._paths.current_state(self._instance, old, resource)))
            ]
            for old in sessions
            if old != session
        }

    def _state_models(self) -> dict[str, StateModelDefinition]:
        names = self._accessor.children(self._paths.state_models)
        records = {name: self._accessor.get(self._paths.state_model(name)) for name in names}
        return {name: StateModelDefinition.from_record(record) for name, record in records.items() if record}

    # ── messages ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _handle(self, event: _Event) -> None:
        if event is _Event.NEW_SESSION and self._accessor.session != self._session:
            self._engine.reset()
            self._join()
        self._take_messages()

    def _take_messages(self) -> None:
        resources = self._accessor.children(self._paths.current_states(self._instance, self._session))
        received = receive_messages(
            self._messages(), self._engine, self._session, resources, self._paths, self._time.milliseconds()
        )
        self._accessor.apply(received.writes)
        for replica, message in received.transitions:
            self._run(replica, message)

    def _messages(self) -> list[Message]:
        """The messages that can be read. One that cannot stays where it is, as in Helix."""
        found = []
        for message_id in self._accessor.children(self._paths.messages(self._instance)):
            path = self._paths.message(self._instance, message_id)
            try:
                record = self._accessor.get(path)
            except UnreadableRecordError as error:
                logger.error("%s is ignored: %s", path, error)
                continue
            if record is not None:
                found.append(Message(record))
        return found

    def _run(self, replica: StateModel, message: Message) -> None:
        result = run_transition(replica, message)
        if result.state == DROPPED:
            self._engine.remove(message.resource, message.partition)
        path = self._paths.current_state(self._instance, self._session, message.resource)
        current = self._accessor.get(path)
        config = self._accessor.get(self._paths.instance_config(self._instance))
        self._accessor.apply(
            writes_after(
                result,
                None if current is None else CurrentState(current),
                InstanceConfig.joining(self._instance) if config is None else InstanceConfig(config),
                self._accessor.session,
                self._paths,
            )
        )
