"""``kafka-lite connect``: lists, creates, changes and watches connectors through a worker's REST interface.

Kafka has no such tool; its users call curl · book 8.3.1
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_lite.common.properties import load_properties
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.tools.admin.command_config import add_command_config_argument, command_configs
from kafka_lite.tools.common.terminal import on_terminal
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.connect.connect_rest import DEFAULT_URL, ConnectRest
from kafka_lite.tools.connect.connect_snapshot import Lags, connect_snapshot, connector_snapshot
from kafka_lite.tools.connect.sink_lags import sink_lags

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

NAME = "connect"
SUMMARY = "list, describe, create, pause, stop, resume, restart and delete connectors, and watch them"

WIDTH_OF_PIPES = 120
MAX_WIDTH_OF_PIPES = 4_000
"""Characters of a line."""
VERBS = {
    "pause": "pause connectors with their tasks",
    "stop": "stop connectors: their tasks end, their configurations and offsets stay",
    "resume": "resume paused connectors, and start stopped ones",
    "delete": "stop connectors and forget them; one of the same name continues at their offsets",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verbs. Without one, the connectors are listed."""
    parser.add_argument(
        "--worker", default=DEFAULT_URL, metavar="URL",
        help=f"the REST interface of any worker of the group (default: {DEFAULT_URL})",
    )  # fmt: skip
    parser.add_argument("--watch", action="store_true", help="list all connectors, live, until Ctrl-C")
    parser.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="with the list or --watch: brokers to ask how many records each sink has yet to read",
    )
    add_command_config_argument(parser)
    parser.set_defaults(verb="list", json=False)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    listing = verbs.add_parser("list", help="all connectors, workers and failures (the default)")
    listing.add_argument("--json", action="store_true", help="as JSON, for programs")
    describe = verbs.add_parser("describe", help="one connector: its tasks, configuration and failures")
    describe.add_argument("name", metavar="NAME")
    describe.add_argument("--trace", action="store_true", help="show the whole traces of failures")
    describe.add_argument("--json", action="store_true", help="as JSON, for programs")
    create = verbs.add_parser("create", help="create connectors from files, or change those that there are")
    create.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a .properties file, or JSON")
    for verb, summary in VERBS.items():
        verbs.add_parser(verb, help=summary).add_argument("names", nargs="+", metavar="NAME")
    restart = verbs.add_parser("restart", help="restart a connector and those of its tasks that have failed")
    restart.add_argument("name", metavar="NAME")
    restart.add_argument("--task", type=int, metavar="N", help="restart only this task, whatever its state")
    restart.add_argument(
        "--include-tasks", action="store_true", help="restart all its tasks, too, in one request (KIP-745)"
    )
    restart.add_argument(
        "--only-failed", action="store_true", help="in one request, leave alone what has not failed (KIP-745)"
    )
    verbs.add_parser("plugins", help="the classes of connectors that the worker has")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Do what the verb says. A request that the worker refuses is reported with its words, and exit code 1."""
    rest = ConnectRest(options.worker)
    try:
        if options.watch:
            _watch(rest, _lags(options))
        else:
            ACTIONS[options.verb or "list"](rest, options)
    finally:
        rest.close()
    return 0


# ── showing ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _list(rest: ConnectRest, options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps([_json(rest, name) for name in rest.connectors()], indent=2, ensure_ascii=False))
        return
    from kafka_lite.tools.connect.connect_view import overview

    _print(overview(connect_snapshot(rest, _lags(options))))


def _lags(options: argparse.Namespace) -> Lags | None:
    if not options.bootstrap_server:
        return None
    return partial(sink_lags, options.bootstrap_server, configs=command_configs(options))


def _describe(rest: ConnectRest, options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps(_json(rest, options.name), indent=2, ensure_ascii=False))
        return
    from kafka_lite.tools.connect.connect_view import details

    _print(details(connector_snapshot(rest, options.name), with_traces=options.trace))


def _json(rest: ConnectRest, name: str) -> dict[str, object]:
    return rest.connector(name) | {"status": rest.status(name)}


def _plugins(rest: ConnectRest, options: argparse.Namespace) -> None:  # noqa: ARG001  an action
    print("\n".join(rest.plugins()))


def _print(frame: RenderableType) -> None:
    from rich.console import Console

    console = Console(highlight=False, width=None if on_terminal() else WIDTH_OF_PIPES)
    if not on_terminal():  # a pipe has no width: a program could not use a truncated name
        unbounded = console.options.update(max_width=MAX_WIDTH_OF_PIPES)
        console.width = max(WIDTH_OF_PIPES, console.measure(frame, options=unbounded).maximum)
    console.print(frame)


def _watch(rest: ConnectRest, lags: Lags | None, interval_ms: float = 1000) -> None:
    """On the terminal's alternate screen, so that its previous contents are restored at the end."""
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    with Live(frame_of(rest, console, lags), console=console, screen=on_terminal(), auto_refresh=False) as live:
        try:
            while True:
                SYSTEM_TIME.sleep(interval_ms)
                live.update(_frame_or_reason(rest, console, lags), refresh=True)
        except KeyboardInterrupt:
            return


def frame_of(rest: ConnectRest, console: Console, lags: Lags | None = None) -> RenderableType:
    """The overview in as many lines as the console has. Raises ToolError."""
    from kafka_lite.tools.connect.connect_view import LINES_AROUND, overview

    return overview(connect_snapshot(rest, lags), max(console.height - LINES_AROUND, 2))


def _frame_or_reason(rest: ConnectRest, console: Console, lags: Lags | None) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    try:
        return frame_of(rest, console, lags)
    except ToolError as error:
        return Group(Text(str(error), "bold red"), Text("Waiting for it to come back. Ctrl-C exits.", "dim"))


# ── changing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _create(rest: ConnectRest, options: argparse.Namespace) -> None:
    for file in options.files:
        config = connector_config(file)
        created = rest.put_config(config["name"], config)
        print(f"{'Created' if created else 'Changed'} connector {config['name']}.")


def connector_config(file: Path) -> dict[str, str]:
    """The configuration in a file: properties, a JSON object of keys and values, or ``{"name": …, "config": {…}}``.

    Raises OSError, ToolError.
    """
    text = file.read_text(encoding="utf-8-sig")
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except ValueError as error:
            raise ToolError(f"{file} is not JSON: {error}") from error
        inner = found.get("config")
        config = {**inner, "name": found["name"]} if isinstance(inner, dict) and "name" in found else found
    else:
        config = load_properties(text)
    if not config.get("name"):
        raise ToolError(f"{file} has no name: the name of a connector is one of its keys")
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}


def _each(change: Callable[[ConnectRest, str], None], done: str) -> Callable[[ConnectRest, argparse.Namespace], None]:
    def action(rest: ConnectRest, options: argparse.Namespace) -> None:
        for name in options.names:
            change(rest, name)
            print(f"{done} connector {name}.")

    return action


def _restart(rest: ConnectRest, options: argparse.Namespace) -> None:
    name = options.name
    if options.task is not None:
        rest.restart_task(name, options.task)
        print(f"Restarted task {options.task} of connector {name}.")
        return
    if options.include_tasks or options.only_failed:
        _restart_with_tasks(rest, options)
        return
    failed = [number for number, task in connector_snapshot(rest, name).tasks.items() if task.state == "FAILED"]
    rest.restart(name)
    for number in failed:
        rest.restart_task(name, number)
    tasks = f" and {len(failed)} of its tasks" if failed else ""
    print(f"Restarted connector {name}{tasks}.")


def _restart_with_tasks(rest: ConnectRest, options: argparse.Namespace) -> None:
    name = options.name
    states = rest.restart_with_tasks(name, include_tasks=options.include_tasks, only_failed=options.only_failed)
    if states is None:
        print(f"Restarted connector {name} alone: the workers are older than Kafka 3.0 and know no more.")
        return
    tasks = sum(task["state"] == "RESTARTING" for task in states["tasks"])
    parts = [f"connector {name}"] if states["connector"]["state"] == "RESTARTING" else []
    parts += [f"{tasks} of {len(states['tasks'])} tasks"] if tasks else []
    print(f"Restarting {' and '.join(parts)}." if parts else f"Nothing of connector {name} has failed.")


ACTIONS: dict[str, Callable[[ConnectRest, argparse.Namespace], None]] = {
    "list": _list,
    "describe": _describe,
    "create": _create,
    "pause": _each(ConnectRest.pause, "Paused"),
    "stop": _each(ConnectRest.stop, "Stopped"),
    "resume": _each(ConnectRest.resume, "Resumed"),
    "restart": _restart,
    "delete": _each(ConnectRest.delete, "Deleted"),
    "plugins": _plugins,
}
