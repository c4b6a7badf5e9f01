"""``kafka-lite zookeeper-shell``: inspects and changes ZooKeeper's data, like ZooKeeper's own shell.

Kafka 0.10.2: bin/zookeeper-shell.sh; ZooKeeper 3.8: zookeeper-server/.../ZooKeeperMain.java · book 7.1.1
"""

from __future__ import annotations

import argparse
import logging
import sys
from typing import TYPE_CHECKING, Any

from kafka_lite.tools.common import terminal
from kafka_lite.tools.zookeeper.zookeeper_session import add_zk_tls_argument, zookeeper_tls

if TYPE_CHECKING:
    from kafka_lite.tools.zookeeper.zookeeper_commands import ZooKeeperCommands

NAME = "zookeeper-shell"
SUMMARY = "read and change znodes: ls, get, stat, create, set, delete, …"

SESSION_TIMEOUT_S = 30
"""ZooKeeperMain's default."""

CONNECT_TIMEOUT_S = 15
_QUIT = ("quit", "exit", "close")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The address, and a command; without a command there is a prompt."""
    add_zk_tls_argument(parser)
    parser.add_argument(
        "server", metavar="HOST:PORT[/PATH]", help="the server to connect to; PATH becomes the root (chroot)"
    )
    parser.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help="run this command and exit (default: open a prompt)",
    )


def run(options: argparse.Namespace) -> int:
    """Execute the command, or commands from stdin until ``quit``; returns 0 or the last command's exit code."""
    from kazoo import exceptions as kazoo_exceptions
    from kazoo.client import KazooClient

    from kafka_lite.zookeeper.poll_handler import PollHandler

    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    print(f"Connecting to {options.server}", flush=True)
    try:
        handler = PollHandler(zookeeper_tls(options.zk_tls_config_file))
        client = KazooClient(options.server, timeout=SESSION_TIMEOUT_S, handler=handler)
    except ValueError as error:
        terminal.print_error(f"{options.server} is not of the form HOST:PORT[/PATH]: {error}")
        return 1
    try:
        # Not client.start(): it warns about a chroot that does not exist yet.
        if not client.start_async().wait(CONNECT_TIMEOUT_S):
            terminal.print_error(f"Unable to connect to ZooKeeper at {options.server}. Is it running?")
            return 1
        return _use(client, options)
    except (kazoo_exceptions.ConnectionClosedError, kazoo_exceptions.SessionExpiredError) as error:
        terminal.print_error(f"Lost the connection to ZooKeeper: {type(error).__name__}")
        return 1
    finally:
        client.stop()
        client.close()


def _use(client: Any, options: argparse.Namespace) -> int:
    from kafka_lite.tools.zookeeper.zookeeper_commands import ZooKeeperCommands, print_watched_event

    commands = ZooKeeperCommands(client)
    if options.command:
        print_watched_event(sys.stdout, "SyncConnected", "None", "null")
        return _quit() if options.command[0] in _QUIT else commands.execute(options.command)
    print("Welcome to ZooKeeper!")
    print_watched_event(sys.stdout, "SyncConnected", "None", "null")
    return _read_commands(client, commands, options.server)


def _read_commands(client: Any, commands: ZooKeeperCommands, server: str) -> int:
    from kafka_lite.tools.zookeeper.zookeeper_commands import split_line

    interactive = sys.stdin.isatty()
    if interactive:
        _complete_with_tab(client)
    exit_code = count = 0
    while True:
        prompt = f"[zk: {server}({_state(client)}) {count}] " if interactive else ""
        try:
            words = split_line(input(prompt))
        except EOFError:
            if interactive:
                print()
            return exit_code
        except KeyboardInterrupt:  # starts a new line, as in other shells
            print()
            continue
        if words and words[0] in _QUIT:
            return _quit()
        if words:
            exit_code = commands.execute(words)
            count += 1
        sys.stdout.flush()


def _quit() -> int:
    from kafka_lite.tools.zookeeper.zookeeper_commands import print_watched_event

    print_watched_event(sys.stdout, "Closed", "None", "null")
    return 0


def _state(client: Any) -> str:
    return "CONNECTED" if client.connected else "CONNECTING"


def _complete_with_tab(client: Any) -> None:
    """Make Tab complete commands, and paths from ZooKeeper's children."""
    import readline

    from kafka_lite.tools.zookeeper.zookeeper_commands import COMMANDS

    def candidates(text: str) -> list[str]:
        if not text.startswith("/"):
            return [f"{name} " for name in (*COMMANDS, "quit") if name.startswith(text)]
        parent, _, start = text.rpartition("/")
        names = client.retry(client.get_children, parent or "/")
        return [f"{parent}/{name}" for name in sorted(names) if name.startswith(start)]

    def complete(text: str, number: int) -> str | None:
        try:
            found = candidates(text)
        except Exception:  # noqa: BLE001 - readline would swallow it; offer no completion
            return None
        return found[number] if number < len(found) else None

    readline.set_completer_delims(" ")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
