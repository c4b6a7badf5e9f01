"""What the first process in a sandbox gives away."""

import resource
import struct
import subprocess
import sys

import pytest

from kafka_learn.labs.grading import inside

MOUNTINFO = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:21 / /proc rw,nosuid,nodev,noexec - proc proc rw
24 22 0:22 / /a\\040b ro,nodev,noatime - tmpfs tmpfs rw
"""


def test_mount_points_and_the_flags_to_keep():
    assert inside.mounted(MOUNTINFO) == [
        ("/", inside.MS_RELATIME),
        ("/proc", inside.MS_NOSUID | inside.MS_NODEV | inside.MS_NOEXEC),
        ("/a b", inside.MS_NODEV | inside.MS_NOATIME),
    ]


def test_an_interface_request_has_the_size_of_the_kernels():
    request = inside._interface(inside.IFF_UP)
    assert len(request) == 40
    assert struct.unpack_from("16sH", request) == (b"lo" + b"\0" * 14, 1)


def test_a_mount_that_is_refused_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        inside.mount(str(tmp_path / "nowhere"), str(tmp_path / "nowhere"), inside.MS_BIND)


def in_a_process(statements):
    source = f"from kafka_learn.labs.grading import inside\n{statements}"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_limits_are_those_of_the_settings_and_never_above_those_of_the_process():
    settings = {"memory": 1 << 30, "cpu_s": 7, "file_size": 1000}
    asked = "import resource; print(resource.getrlimit(resource.RLIMIT_CPU), resource.getrlimit(resource.RLIMIT_CORE))"
    assert in_a_process(f"inside.limit({settings})\n{asked}") == "(7, 7) (0, 0)"
    lower = f"import resource; resource.setrlimit(resource.RLIMIT_CPU, (3, 3)); inside.limit({settings})\n{asked}"
    assert in_a_process(lower) == "(3, 3) (0, 0)"
    assert in_a_process(f"inside.limit({settings})\nbytearray(2 << 30)") == "MemoryError"
    assert resource.getrlimit(resource.RLIMIT_CPU)[0] != 7


def test_capabilities_cannot_be_had_back():
    asked = "print([line for line in open('/proc/self/status') if line.startswith('NoNewPrivs')])"
    assert in_a_process(f"inside.give_away_capabilities()\n{asked}") == "['NoNewPrivs:\\t1\\n']"
