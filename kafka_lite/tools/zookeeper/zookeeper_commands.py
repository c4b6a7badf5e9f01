"""The commands of ZooKeeper's shell: arguments, effects and output.

ZooKeeper 3.8: zookeeper-server/.../cli/*Command.java, ZooKeeperMain.java · book 7.1.1
"""

from __future__ import annotations

import getopt
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from kazoo import exceptions as kazoo_exceptions
from kazoo.protocol.serialization import Create
from kazoo.protocol.states import WatchedEvent
from kazoo.security import ACL, OPEN_ACL_UNSAFE, Id

from kafka_lite.common.errors import KafkaError

OK, FAILED, NOT_FOUND = 0, 1, 127
"""Exit codes of a command."""

_WORD = re.compile(r"""\s*([^"'\s]\S*|"[^"]*"|'[^']*')\s*""")
_PERMISSIONS = {"r": 1, "w": 2, "c": 4, "d": 8, "a": 16}
_PERMISSION_LETTERS = "cdrwa"
_CONTAINER_FLAGS = 4
_EVENT_TYPES = {
    "CREATED": "NodeCreated",
    "DELETED": "NodeDeleted",
    "CHANGED": "NodeDataChanged",
    "CHILD": "NodeChildrenChanged",
}

_ERROR_TEXTS: tuple[tuple[type[Exception], str], ...] = (
    (kazoo_exceptions.NoNodeError, "Node does not exist: {}"),
    (kazoo_exceptions.NodeExistsError, "Node already exists: {}"),
    (kazoo_exceptions.NotEmptyError, "Node not empty: {}"),
    (kazoo_exceptions.NoChildrenForEphemeralsError, "Ephemerals cannot have children: {}"),
    (kazoo_exceptions.BadVersionError, "version No is not valid : {}"),
    (kazoo_exceptions.NoAuthError, "Insufficient permission : {}"),
    (kazoo_exceptions.InvalidACLError, "Acl is not valid : {}"),
    (kazoo_exceptions.BadArgumentsError, "Arguments are not valid : {}"),
)
"""ZooKeeper's exact wording, because scripts search for it."""


class CommandError(KafkaError):
    """A failed command; the text is what ZooKeeper's shell prints."""

    def __init__(self, text: str, exit_code: int = FAILED) -> None:
        super().__init__(text)
        self.exit_code = exit_code


class _CreateContainer(Create):  # type: ignore[misc]
    """A request that kazoo lacks; its body and the part of the response that we read are those of create."""

    type = 19


@dataclass(frozen=True)
class Arguments:
    """A command's options (letter → value) and positional arguments."""

    options: dict[str, str]
    rest: list[str]

    def __contains__(self, letter: str) -> bool:
        return letter in self.options

    @property
    def path(self) -> str:
        """The first argument. Raises CommandError if it is not an absolute path."""
        path = self.rest[0]
        if not path.startswith("/"):
            raise CommandError("Path must start with / character")
        if path != "/" and path.endswith("/"):
            raise CommandError("Path must not end with / character")
        return path

    @property
    def version(self) -> int:
        """``-v``; defaults to -1, which matches every version."""
        text = self.options.get("v", "-1")
        try:
            return int(text)
        except ValueError:
            raise CommandError(f"-v must be a number, not {text}") from None


@dataclass(frozen=True)
class Command:
    """One row of the table: option letters (as for getopt), number of arguments, and the function."""

    usage: str
    letters: str
    at_least: int
    at_most: int
    action: Callable[[ZooKeeperCommands, Arguments], None]


class ZooKeeperCommands:
    """Executes commands with a kazoo client. Results go to stdout; errors and the paths of created nodes to stderr."""

    def __init__(self, client: Any, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._client = client
        self._out = out or sys.stdout
        self._err = err or sys.stderr

    def execute(self, words: Sequence[str]) -> int:
        """Execute a command; returns its exit code. Raises KazooException only if the connection is lost."""
        command = COMMANDS.get(words[0])
        try:
            if command is None:
                raise CommandError(f"{usage()}\nCommand not found: Command not found {words[0]}", NOT_FOUND)
            command.action(self, _parse(command, words[1:]))
        except CommandError as error:
            self._complain(str(error))
            return error.exit_code
        except kazoo_exceptions.ConnectionClosedError:
            raise
        except kazoo_exceptions.ZookeeperError as error:
            text = next((text for kind, text in _ERROR_TEXTS if isinstance(error, kind)), "")
            path = words[-1] if len(words) == 1 else next((w for w in words[1:] if w.startswith("/")), "null")
            self._complain(text.format(path) if text else f"KeeperErrorCode = {_java_name(error)} for {path}")
            return FAILED
        return OK

    def _say(self, line: str) -> None:
        print(line, file=self._out)

    def _complain(self, line: str) -> None:
        print(line, file=self._err)

    # ------------------------------------------------------------------------------------------------------- reading

    def ls(self, arguments: Arguments) -> None:
        """List the children, sorted; ``-s`` also prints the stat, ``-R`` lists all paths below."""
        path = arguments.path
        if "R" in arguments:
            self._client.get(path)  # raises if the node does not exist
            self._say(path)
            for below in self._below(path):
                self._say(below)
            return
        children, stat = self._client.get_children(path, watch=self._watch(arguments), include_data=True)
        self._say(f"[{', '.join(sorted(children))}]")
        if "s" in arguments:
            self._print_stat(stat)

    def _below(self, path: str) -> Iterator[str]:
        """All paths below a node: the children first, then each one's descendants, as in ZooKeeper's shell."""
        try:
            names = sorted(self._client.get_children(path))
        except kazoo_exceptions.NoNodeError:
            return  # deleted meanwhile
        children = [f"{path.rstrip('/')}/{name}" for name in names]
        yield from children
        for child in children:
            yield from self._below(child)

    def get(self, arguments: Arguments) -> None:
        """Print the data as text (``null`` for none); ``-s`` also prints the stat, ``-w`` reports the next change."""
        data, stat = self._client.get(arguments.path, watch=self._watch(arguments))
        self._say("null" if data is None else data.decode("utf-8", "replace"))
        if "s" in arguments:
            self._print_stat(stat)

    def stat(self, arguments: Arguments) -> None:
        """Print the stat."""
        stat = self._client.exists(arguments.path, watch=self._watch(arguments))
        if stat is None:
            raise CommandError(f"Node does not exist: {arguments.path}")
        self._print_stat(stat)

    def get_acl(self, arguments: Arguments) -> None:
        """Print the ACL; ``-s`` also prints the stat."""
        acls, stat = self._client.get_acls(arguments.path)
        for acl in acls:
            self._say(f"'{acl.id.scheme},'{acl.id.id}\n: {_letters(acl.perms)}")
        if "s" in arguments:
            self._print_stat(stat)

    def _print_stat(self, stat: Any) -> None:
        for name, value in _stat_lines(stat):
            self._say(f"{name} = {value}")

    def _watch(self, arguments: Arguments) -> Callable[[WatchedEvent], None] | None:
        return self._print_event if "w" in arguments else None

    def _print_event(self, event: WatchedEvent) -> None:
        print_watched_event(self._out, "SyncConnected", _EVENT_TYPES.get(event.type, "None"), event.path or "null")

    # ------------------------------------------------------------------------------------------------------- writing

    def create(self, arguments: Arguments) -> None:
        """Create a node; ``-e``: ephemeral; ``-s``: sequential; ``-c``: a container."""
        path = arguments.rest[0] if "s" in arguments and arguments.rest[0].endswith("/") else arguments.path
        value = arguments.rest[1].encode() if len(arguments.rest) > 1 else None
        acl = _parse_acl(arguments.rest[2]) if len(arguments.rest) > 2 else list(OPEN_ACL_UNSAFE)
        if "c" in arguments:
            if "e" in arguments or "s" in arguments:
                raise CommandError("-c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.")
            created = self._create_container(path, value, acl)
        else:
            created = self._client.create(path, value, acl, ephemeral="e" in arguments, sequence="s" in arguments)
        self._complain(f"Created {created}")

    def _create_container(self, path: str, value: bytes | None, acl: list[ACL]) -> str:
        request = _CreateContainer(self._client.chroot + path, value, acl, _CONTAINER_FLAGS)
        result = self._client.handler.async_result()
        self._client._call(request, result)
        return str(self._client.unchroot(result.get()))

    def set(self, arguments: Arguments) -> None:
        """Set a node's data; ``-v``: only if the data has this version; ``-s`` prints the new stat."""
        stat = self._client.set(arguments.path, arguments.rest[1].encode(), arguments.version)
        if "s" in arguments:
            self._print_stat(stat)

    def delete(self, arguments: Arguments) -> None:
        """Delete a node without children; ``-v``: only if its data has this version."""
        self._client.delete(arguments.path, arguments.version)

    def delete_all(self, arguments: Arguments) -> None:
        """Delete a node and everything below it."""
        if arguments.path == "/":
            raise CommandError("Arguments are not valid : /")
        paths = [arguments.path, *self._below(arguments.path)]
        if len(paths) == 1:
            self._client.delete(paths[0])
            return
        for path in sorted(paths, key=lambda path: path.count("/"), reverse=True):
            self._client.delete(path)

    def set_acl(self, arguments: Arguments) -> None:
        """Set a node's ACL; ``-v``: only if it has this version; ``-R``: on all nodes below, too; ``-s``: print the
        stat."""
        acl = _parse_acl(arguments.rest[1])
        stat = self._client.set_acls(arguments.path, acl, arguments.version)
        if "R" in arguments:
            for path in self._below(arguments.path):
                self._client.set_acls(path, acl)
        if "s" in arguments:
            self._print_stat(stat)

    def sync(self, arguments: Arguments) -> None:
        """Wait until this server has caught up with the ensemble's leader."""
        self._client.sync(arguments.path)
        self._say("Sync is OK")

    def add_auth(self, arguments: Arguments) -> None:
        """Authenticate the session: ``addauth digest user:password``."""
        credential = arguments.rest[1] if len(arguments.rest) > 1 else ""
        try:
            self._client.add_auth(arguments.rest[0], credential)
        except kazoo_exceptions.AuthFailedError:
            raise CommandError(f"Authentication failed: {arguments.rest[0]}") from None


COMMANDS = {
    "addauth": Command("addauth scheme auth", "", 1, 2, ZooKeeperCommands.add_auth),
    "create": Command("create [-s] [-e] [-c] path [data] [acl]", "sec", 1, 3, ZooKeeperCommands.create),
    "delete": Command("delete [-v version] path", "v:", 1, 1, ZooKeeperCommands.delete),
    "deleteall": Command("deleteall path", "", 1, 1, ZooKeeperCommands.delete_all),
    "get": Command("get [-s] [-w] path", "sw", 1, 1, ZooKeeperCommands.get),
    "getAcl": Command("getAcl [-s] path", "s", 1, 1, ZooKeeperCommands.get_acl),
    "ls": Command("ls [-s] [-w] [-R] path", "swR", 1, 1, ZooKeeperCommands.ls),
    "rmr": Command("rmr path", "", 1, 1, ZooKeeperCommands.delete_all),  # 3.4's name of deleteall
    "set": Command("set [-s] [-v version] path data", "sv:", 2, 2, ZooKeeperCommands.set),
    "setAcl": Command("setAcl [-s] [-v version] [-R] path acl", "sv:R", 2, 2, ZooKeeperCommands.set_acl),
    "stat": Command("stat [-w] path", "w", 1, 1, ZooKeeperCommands.stat),
    "sync": Command("sync path", "", 1, 1, ZooKeeperCommands.sync),
}


def usage() -> str:
    """The usage text of all commands."""
    lines = sorted([*(command.usage for command in COMMANDS.values()), "quit"])
    return "\n".join(["ZooKeeper -server host:port cmd args", *(f"\t{line}" for line in lines)])


def split_line(line: str) -> list[str]:
    """Split a line into words; ``"two words"`` and ``'two words'`` are one word each; quotes in words stay (JSON)."""
    words = (match.group(1) for match in _WORD.finditer(line))
    return [word[1:-1] if len(word) > 1 and word[0] in "\"'" else word for word in words]


def print_watched_event(out: TextIO, state: str, event_type: str, path: str) -> None:
    """Print an event as ZooKeeper's shell does."""
    print(f"\nWATCHER::\n\nWatchedEvent state:{state} type:{event_type} path:{path}", file=out)


def _parse(command: Command, words: Sequence[str]) -> Arguments:
    try:
        options, rest = getopt.gnu_getopt(list(words), command.letters)
    except getopt.GetoptError as error:
        raise CommandError(f"{error}; usage: {command.usage}") from None
    if not command.at_least <= len(rest) <= command.at_most:
        raise CommandError(command.usage)
    return Arguments({name.lstrip("-"): value for name, value in options}, rest)


def _parse_acl(text: str) -> list[ACL]:
    """Parse ``scheme:id:perms,…``; an id may contain colons. Raises CommandError."""
    acls = []
    for entry in text.split(","):
        scheme, first, rest = entry.partition(":")
        identity, second, perms = rest.rpartition(":")
        if not first or not second or not set(perms) <= set(_PERMISSIONS):
            raise CommandError(f"{entry} does not have the form scheme:id:perm\nAcl is not valid : null")
        acls.append(ACL(sum(_PERMISSIONS[letter] for letter in set(perms)), Id(scheme, identity)))
    return acls


def _letters(perms: int) -> str:
    return "".join(letter for letter in _PERMISSION_LETTERS if perms & _PERMISSIONS[letter])


def _stat_lines(stat: Any) -> Iterator[tuple[str, str]]:
    yield "cZxid", f"{stat.czxid:#x}"
    yield "ctime", _date(stat.ctime)
    yield "mZxid", f"{stat.mzxid:#x}"
    yield "mtime", _date(stat.mtime)
    yield "pZxid", f"{stat.pzxid:#x}"
    yield "cversion", str(stat.cversion)
    yield "dataVersion", str(stat.version)
    yield "aclVersion", str(stat.aversion)
    yield "ephemeralOwner", f"{stat.ephemeralOwner & (1 << 64) - 1:#x}"
    yield "dataLength", str(stat.dataLength)
    yield "numChildren", str(stat.numChildren)


def _date(time_ms: int) -> str:
    """The time as ``java.util.Date`` prints it."""
    return time.strftime("%a %b %d %H:%M:%S %Z %Y", time.localtime(time_ms / 1000))


def _java_name(error: Exception) -> str:
    return type(error).__name__.removesuffix("Error")
