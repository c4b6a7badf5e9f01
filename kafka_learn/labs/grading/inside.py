"""The first process in a sandbox: it gives away all that the code under test must not have, then becomes the check.

    python -m kafka_learn.labs.grading.inside SETTINGS COMMAND [ARGUMENT]…    # SETTINGS as ``sandbox.command_in`` makes

It runs as root of a namespace of users, which means nothing outside; its last step gives away even that.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import socket
import struct
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

# Constants of Linux: mount(2), prctl(2), netdevice(7).
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME = 1, 2, 4, 8, 1024
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE, MS_RELATIME = 32, 4096, 16384, 1 << 18, 1 << 21
FLAGS = {"nosuid": MS_NOSUID, "nodev": MS_NODEV, "noexec": MS_NOEXEC, "noatime": MS_NOATIME, "relatime": MS_RELATIME}
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
LAST_CAPABILITY = 63
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
KERNEL = ("/proc", "/sys", "/dev")
"""File systems that are no place for data, but for one below."""
SHARED_MEMORY = "/dev/shm"


def main() -> None:
    """Prepare, and become the command."""
    settings, command = json.loads(sys.argv[1]), sys.argv[2:]
    if settings["namespaces"]:
        bring_up_loopback()
        arrange_files(settings["scratch"], settings["hidden"])
    limit(settings)
    if settings["namespaces"]:
        give_away_capabilities()
    os.execve(command[0], command, settings["environment"])


def bring_up_loopback() -> None:
    """A broker and its clients meet there; the namespace has no other interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        flags = struct.unpack_from("H", fcntl.ioctl(asked, SIOCGIFFLAGS, _interface(0)), 16)[0]
        fcntl.ioctl(asked, SIOCSIFFLAGS, _interface(flags | IFF_UP))


def _interface(flags: int) -> bytes:
    """``struct ifreq``: a name of 16 bytes, flags."""
    return struct.pack("16sH22x", b"lo", flags)


def arrange_files(scratch: str, hidden: Iterable[str]) -> None:
    """All mounts read-only but the scratch folder; an empty file or folder in place of each hidden one.

    Shared memory is empty and its own, unless the grader's temporary files are there.
    """
    mount("none", "/", MS_REC | MS_PRIVATE)
    keeps_scratch = Path(scratch).is_relative_to(SHARED_MEMORY)
    if keeps_scratch:
        mount(SHARED_MEMORY, SHARED_MEMORY, MS_BIND)
    mount(scratch, scratch, MS_BIND)
    empty = Path(scratch) / "empty"
    empty.mkdir(exist_ok=True)
    for path in hidden:
        mount(str(empty) if os.path.isdir(path) else os.devnull, path, MS_BIND)
    for target, flags in mounted(Path("/proc/self/mountinfo").read_text(encoding="utf-8")):
        if target != scratch and (target == SHARED_MEMORY or not target.startswith(KERNEL)):
            mount("none", target, MS_REMOUNT | MS_BIND | MS_RDONLY | flags)
    if not keeps_scratch:
        mount("tmpfs", SHARED_MEMORY, 0, kind="tmpfs")


def mounted(mountinfo: str) -> list[tuple[str, int]]:
    """The mount points of ``/proc/self/mountinfo`` (proc(5)), with the flags that a remount must keep."""
    found = []
    for line in mountinfo.splitlines():
        fields = line.split(" ")
        target = fields[4].encode().decode("unicode_escape")  # a space is \040
        found.append((target, sum(FLAGS.get(option, 0) for option in fields[5].split(","))))
    return found


def mount(source: str, target: str, flags: int, kind: str = "") -> None:
    """``mount(2)``. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), kind.encode() or None, flags, None):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)


def limit(settings: Mapping[str, Any]) -> None:
    """The limits of this process and of all that it starts."""
    limits = {
        resource.RLIMIT_DATA: settings["memory"],
        resource.RLIMIT_CPU: settings["cpu_s"],
        resource.RLIMIT_FSIZE: settings["file_size"],
        resource.RLIMIT_CORE: 0,
    }
    for name, value in limits.items():
        _, most = resource.getrlimit(name)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(name, (value, value))


def give_away_capabilities() -> None:
    """From the next program on, root is nobody special: it can neither mount nor get capabilities back."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(LAST_CAPABILITY + 1):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # EINVAL for those that this kernel does not have
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    main()
