"""The modules of one simulated process: copies of its packages, over stand-ins for what blocks.

Not in Kafka. Each process has its own copies, as each real one has its own memory: locks, caches and registries at
module level are not shared with another broker, nor with the one that was killed before. An import inside finds::

    kafka_lite, kazoo, kafka, …       a fresh copy from the same source
    threading, socket, os, logging …  a fresh copy of the standard library's module
    _thread, time, posix, select …    a stand-in
    everything else                   the module that all share: it neither blocks nor waits
"""

from __future__ import annotations
import __future__

import _posixsubprocess
import atexit
import builtins
import contextlib
import functools
import importlib
import importlib.machinery
import importlib.util
import marshal
import operator
import signal
import subprocess
import sys
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any, Final

from kafka_lite.testing.simulation.system.clocks import Clocks, random_module
from kafka_lite.testing.simulation.system.files import Files
from kafka_lite.testing.simulation.system.identity import Identity
from kafka_lite.testing.simulation.system.kernel import Kernel, NotSimulatedError, stand_in
from kafka_lite.testing.simulation.system.polling import select_module
from kafka_lite.testing.simulation.system.quiet_locks import choosing
from kafka_lite.testing.simulation.system.refusals import refusing_module
from kafka_lite.testing.simulation.system.sockets import SocketFunctions
from kafka_lite.testing.simulation.system.switching import SWITCH, with_switches
from kafka_lite.testing.simulation.system.threads import Threads
from kafka_lite.testing.simulation.system.tls import tls_modules

PACKAGES: Final = ("kafka_lite", "kazoo", "kafka")
"""Packages of which each process has its own copy."""
STANDARD_LIBRARY: Final = (
    "threading", "_threading_local", "queue", "selectors", "socket", "concurrent", "logging", "random", "uuid", "os",
    "pathlib", "shutil", "ssl", "tempfile", "secrets",
)  # fmt: skip
"""Modules of the standard library that are loaded again on top of the stand-ins."""
_FUTURE: Final = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
_codes: dict[str, bytes] = {}
"""File -> its compiled code."""
compiled: dict[tuple[str, str, int], bytes] = {}
"""File name, source and its features of the future -> code that programs have compiled while they ran, such as codecs.

Each process runs a copy of its own. Forks give what they have compiled to their parent, for those that come later.
"""


class Modules(MetaPathFinder):
    """Imports modules for one process."""

    def __init__(
        self, packages: Iterable[str] = PACKAGES, switching: Collection[str] = (), *, any_python: bool = False
    ) -> None:
        """``switching``: full names of modules before whose statements another thread may run (``switching``).

        ``any_python``: a seed gives the same run in each version of Python; locks of the standard library's own are
        no occasion to run another thread (``quiet_locks``).
        """
        if sys.version_info >= (3, 14):
            raise NotSimulatedError(f"Python {sys.version.split()[0]} is not simulated, 3.11 to 3.13 are")
        self.kernel = Kernel()
        self.replaced: Mapping[str, Path] = {}
        """Modules that are loaded from other files than the shipped ones, such as a learner's."""
        self.at_exit: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []
        self._threads = Threads(
            self.kernel, functools.partial(choosing, library=STANDARD_LIBRARY) if any_python else lambda kind: kind
        )
        self._modules: dict[str, types.ModuleType | None] = dict(self._stand_ins())
        self._inside = {*packages, *STANDARD_LIBRARY, *self._modules}
        self._switching = switching
        self._outside: dict[str, types.ModuleType] = {}
        self._depth = 0
        self._importlib = stand_in("importlib", importlib, {"import_module": self.load})
        identity = Identity(STANDARD_LIBRARY if any_python else ())
        self._builtins = dict(vars(builtins)) | {
            "__import__": self._import, "open": self._modules["io"].open,  # type: ignore[union-attr]
            "__build_class__": identity.build_class, "id": identity.id, "compile": compile_once,
            SWITCH: lambda: self.kernel.scheduler.pass_statement(),
        }  # fmt: skip

    def _stand_ins(self) -> Mapping[str, types.ModuleType | None]:
        kernel, files = self.kernel, Files(self.kernel)
        return {
            "_thread": self._threads.module(), "time": Clocks(kernel).module(), "_random": random_module(kernel),
            "_socket": SocketFunctions(kernel).module(), "select": select_module(kernel), "posix": files.posix_module(),
            "io": files.io_module(), "mmap": files.mmap_module(), "fcntl": files.fcntl_module(),
            "signal": self._signal_module(), "atexit": self._atexit_module(), "_queue": None,
            "subprocess": refusing_module(subprocess, "run", "Popen", "call", "check_call", "check_output"),
            "typing": stand_in("typing", typing, {"get_type_hints": self._get_type_hints}),
            "_posixsubprocess": refusing_module(_posixsubprocess, "fork_exec"), **tls_modules(),
        }  # fmt: skip

    def _get_type_hints(self, annotated: Any, *args: Any, **options: Any) -> Any:
        """``typing.get_type_hints``, which looks the modules of a class and its bases up in ``sys.modules``."""
        if self._depth or not isinstance(annotated, type):
            with self._installed():
                return typing.get_type_hints(annotated, *args, **options)
        names = {base.__module__ for base in annotated.__mro__ if self._is_inside(base.__module__)}
        outside = {name: sys.modules.pop(name, None) for name in names}
        sys.modules.update({name: module for name in names if (module := self._modules.get(name)) is not None})
        try:
            return typing.get_type_hints(annotated, *args, **options)
        finally:
            for name, module in outside.items():
                sys.modules.pop(name, None)
                if module is not None:
                    sys.modules[name] = module

    def _signal_module(self) -> types.ModuleType:
        handlers = self.kernel.signal_handlers

        def set_handler(number: int, handler: Any) -> Any:
            before = handlers.get(number, signal.SIG_DFL)
            handlers[number] = handler
            return before

        names = {
            "signal": set_handler, "getsignal": lambda number: handlers.get(number, signal.SIG_DFL),
            "raise_signal": lambda number: self.kernel.raise_signal(number), "set_wakeup_fd": lambda *_, **__: -1,
        }  # fmt: skip
        return stand_in("signal", signal, names)

    def _atexit_module(self) -> types.ModuleType:
        def register(function: Any, *args: Any, **kwargs: Any) -> Any:
            self.at_exit.append((function, args, kwargs))
            return function

        def unregister(function: Any) -> None:
            self.at_exit[:] = [entry for entry in self.at_exit if entry[0] != function]

        return stand_in("atexit", atexit, {"register": register, "unregister": unregister})

    # ── importing ─────────────────────────────────────────────────────────────────────────────────────────────────

    def load(self, name: str, package: str | None = None) -> Any:
        """Import a module; returns it. Raises what ``importlib.import_module`` raises."""
        full = importlib.util.resolve_name(name, package) if name.startswith(".") else name
        found = self._modules.get(full) if not self._depth else None
        if found is not None:
            return found
        if not self._is_inside(full):
            with self._stepped_aside():
                return importlib.import_module(full)
        with self._installed():
            return importlib.import_module(full)

    def is_copied(self, name: str) -> bool:
        """Whether the process has its own copy of a module. Others are the real ones."""
        return self._is_inside(name)

    def _is_inside(self, name: str) -> bool:
        return name.partition(".")[0] in self._inside

    def _import(
        self, name: str, globals: Mapping[str, Any] | None = None, locals: Any = None,
        fromlist: Sequence[str] | None = (), level: int = 0,
    ) -> Any:  # fmt: skip
        """The builtin ``__import__`` of the process."""
        full = name
        if level:
            package = (globals or {}).get("__package__") or (globals or {}).get("__name__", "")
            full = importlib.util.resolve_name("." * level + name, package)
        if full == "importlib" or (full.startswith("importlib.") and not fromlist):
            builtins.__import__(full)
            return self._importlib
        if not self._is_inside(full):
            if full in sys.modules:
                return builtins.__import__(name, globals, locals, fromlist or (), level)
            with self._stepped_aside():
                return builtins.__import__(name, globals, locals, fromlist or (), level)
        found = None if self._depth else self._modules.get(full)
        if found is not None:
            if not fromlist:
                return found if level else self._modules[full.partition(".")[0]]
            if all(item in found.__dict__ for item in fromlist):
                return found
        with self._installed():
            return builtins.__import__(name, globals, locals, fromlist or (), level)

    @contextlib.contextmanager
    def _installed(self) -> Iterator[None]:
        """The process's modules are those in ``sys.modules``, and no other task runs."""
        if self._depth == 0:
            self._swap_in()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._swap_out()

    @contextlib.contextmanager
    def _stepped_aside(self) -> Iterator[None]:
        """The shared modules are those in ``sys.modules``, so that a new one does not see the process's."""
        depth, self._depth = self._depth, 0
        if depth:
            self._swap_out()
        try:
            yield
        finally:
            if depth:
                self._swap_in()
            self._depth = depth

    def _swap_in(self) -> None:
        self.kernel.scheduler.is_atomic = True
        self._outside = self._take()
        sys.modules.update(self._modules)  # type: ignore[arg-type]  # None: the import raises ImportError
        sys.meta_path.insert(0, self)

    def _swap_out(self) -> None:
        sys.meta_path.remove(self)
        self._modules = dict(self._take())
        sys.modules.update(self._outside)
        self._outside = {}
        self.kernel.scheduler.is_atomic = False

    def _take(self) -> dict[str, types.ModuleType]:
        names = [name for name in sys.modules if self._is_inside(name)]
        return {name: sys.modules.pop(name) for name in names}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Python's hook: a copy of a module of the inside."""
        if not self._is_inside(fullname):
            return None
        if file := self.replaced.get(fullname):
            spec = importlib.util.spec_from_file_location(fullname, file)
        else:
            spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            loader = _SwitchingLoader if fullname in self._switching else _Loader
            spec.loader = loader(spec.loader.name, spec.loader.path, self._builtins)
        return spec


def compile_once(source: Any, filename: Any, mode: str, *args: Any, **options: Any) -> Any:
    """The builtin ``compile`` of the processes: what one of them has compiled, the others need not."""
    if mode != "exec" or args or options or type(source) is not str or type(filename) is not str:
        return compile(source, filename, mode, *args, **options)
    flags = sys._getframe(1).f_code.co_flags & _FUTURE
    stored = compiled.get((filename, source, flags))
    if stored is not None:
        return marshal.loads(stored)
    code = compile(source, filename, mode, flags, dont_inherit=True)
    compiled[filename, source, flags] = marshal.dumps(code)
    return code


class _Loader(importlib.machinery.SourceFileLoader):
    """Executes a module with the process's builtins."""

    def __init__(self, name: str, path: str, names: dict[str, Any]) -> None:
        super().__init__(name, path)
        self._names = names

    def get_code(self, fullname: str) -> types.CodeType | None:
        """The module's code. Each process gets its own: the interpreter adapts code to the modules that run it."""
        stored = _codes.get(self.path)
        if stored is not None:
            return marshal.loads(stored)  # type: ignore[no-any-return]
        code = self._compiled(fullname)
        _codes[self.path] = marshal.dumps(code)
        return code

    def _compiled(self, fullname: str) -> types.CodeType | None:
        return super().get_code(fullname)

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the module's code."""
        module.__dict__["__builtins__"] = self._names
        super().exec_module(module)


class _SwitchingLoader(_Loader):
    """Lets other threads run before each statement of a module."""

    def _compiled(self, fullname: str) -> types.CodeType:
        del fullname
        code = compile(with_switches(self.get_data(self.path), self.path), self.path, "exec", dont_inherit=True)
        assert isinstance(code, types.CodeType)
        return code
