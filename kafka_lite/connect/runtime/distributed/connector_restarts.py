"""Restarts what a worker runs of a connector, when it has read a request for that from the config topic.

Kafka 3.0, KIP-745: connect/runtime/.../connect/runtime/distributed/DistributedHerder.java (processRestartRequests,
doRestartConnectorAndTasks) · book 8.3.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.assigned_work import AssignedWork
from kafka_lite.connect.runtime.distributed.connect_protocol import Assignment
from kafka_lite.connect.runtime.restart_plan import RestartPlan
from kafka_lite.connect.runtime.status_listener import StatusListener
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest

logger = logging.getLogger(__name__)

Plan = Callable[[RestartRequest], RestartPlan | None]
"""Makes the plan for a request by the statuses that the worker knows; None if it knows none of the connector."""


class ConnectorRestarts:
    """A restart moves nothing: connector and tasks stay with their workers, and the group does not rebalance."""

    def __init__(self, work: AssignedWork, listener: StatusListener, plan: Plan) -> None:
        self._work = work
        self._listener = listener
        self._plan = plan

    def carry_out(self, request: RestartRequest, assignment: Assignment) -> None:
        """Restart the part of a connector that is in this worker's ``assignment``. Errors are logged and reported."""
        try:
            self._carry_out(request, assignment)
        except Exception:
            logger.exception("Unexpected error while trying to process %s, it will be skipped", request)

    def _carry_out(self, request: RestartRequest, assignment: Assignment) -> None:
        plan = self._plan(request)
        if plan is None:
            logger.debug("Skipping restart of connector %s since no status is available", request.connector)
            return
        logger.info("Executing %s", plan)
        name = request.connector
        connectors = [name] if plan.restarts_connector and name in assignment.connectors else []
        tasks = [task for task in plan.tasks if task in assignment.tasks]
        self._work.stop(connectors, tasks)
        restarted: list[str | ConnectorTaskId] = [*connectors, *tasks]
        for each in restarted:
            self._listener.on_restart(each)
        for each in restarted:
            self._work.start_or_report(each)
        logger.info("Completed %s", plan)
