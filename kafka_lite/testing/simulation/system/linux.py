"""Linux's numbers for the constants of ``fcntl``, ``posix``, ``select`` and ``_socket``, on whatever host a world runs.

Not in Kafka. Programs of a world choose by them what they do: whether there is ``epoll``, whether a file has holes. A
host that lacks some of them, or numbers them in another way, must not change what happens in the world.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# fcntl.h, sys/file.h
F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW, F_DUPFD_CLOEXEC = 0, 1, 2, 3, 4, 5, 6, 7, 1030
FD_CLOEXEC = 1
LOCK_SH, LOCK_EX, LOCK_NB, LOCK_UN = 1, 2, 4, 8

# unistd.h
SEEK_DATA, SEEK_HOLE = 3, 4

# sys/poll.h, sys/epoll.h
POLLIN, POLLPRI, POLLOUT, POLLERR, POLLHUP, POLLNVAL, POLLRDHUP = 1, 2, 4, 8, 16, 32, 0x2000
EPOLLIN, EPOLLPRI, EPOLLOUT, EPOLLERR, EPOLLHUP, EPOLLRDHUP = 1, 2, 4, 8, 16, 0x2000
EPOLLEXCLUSIVE, EPOLLONESHOT, EPOLLET, EPOLL_CLOEXEC = 1 << 28, 1 << 30, 1 << 31, 1 << 19

# sys/socket.h, netinet/in.h, netinet/tcp.h, netdb.h
AF_UNSPEC, AF_UNIX, AF_INET, AF_INET6 = 0, 1, 2, 10
SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_NONBLOCK, SOCK_CLOEXEC = 1, 2, 3, 1 << 11, 1 << 19
SOL_SOCKET, SOL_TCP = 1, 6
SO_DEBUG, SO_REUSEADDR, SO_TYPE, SO_ERROR, SO_DONTROUTE, SO_BROADCAST, SO_SNDBUF, SO_RCVBUF = 1, 2, 3, 4, 5, 6, 7, 8
SO_KEEPALIVE, SO_OOBINLINE, SO_LINGER, SO_REUSEPORT, SO_RCVTIMEO, SO_SNDTIMEO, SO_ACCEPTCONN = 9, 10, 13, 15, 20, 21, 30
SOMAXCONN = 4096
MSG_OOB, MSG_PEEK, MSG_DONTROUTE, MSG_TRUNC, MSG_DONTWAIT, MSG_WAITALL, MSG_NOSIGNAL = 1, 2, 4, 32, 64, 256, 1 << 14
IPPROTO_IP, IPPROTO_ICMP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_IPV6, IPV6_V6ONLY = 0, 1, 6, 17, 41, 26
INADDR_ANY, INADDR_LOOPBACK, INADDR_BROADCAST = 0, 0x7F000001, 0xFFFFFFFF
TCP_NODELAY, TCP_MAXSEG, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, TCP_USER_TIMEOUT = 1, 2, 3, 4, 5, 6, 18
SHUT_RD, SHUT_WR, SHUT_RDWR = 0, 1, 2
AI_PASSIVE, AI_CANONNAME, AI_NUMERICHOST, AI_V4MAPPED, AI_ALL, AI_ADDRCONFIG, AI_NUMERICSERV = 1, 2, 4, 8, 16, 32, 1024
EAI_BADFLAGS, EAI_NONAME, EAI_AGAIN, EAI_FAIL, EAI_FAMILY, EAI_SOCKTYPE, EAI_SERVICE = -1, -2, -3, -4, -6, -7, -8
NI_NUMERICHOST, NI_NUMERICSERV, NI_NOFQDN, NI_NAMEREQD, NI_DGRAM, NI_MAXHOST, NI_MAXSERV = 1, 2, 4, 8, 16, 1025, 32


def _named(*prefixes: str) -> Mapping[str, int]:
    return {name: value for name, value in globals().items() if name.startswith(prefixes)}


FCNTL: Final = _named("F_", "FD_", "LOCK_")
SEEK: Final = _named("SEEK_")
POLL: Final = _named("POLL", "EPOLL")
SOCKET: Final = _named(
    "AF_", "SOCK_", "SOL_", "SO_", "SOMAXCONN", "MSG_", "IPPROTO_", "IPV6_", "INADDR_", "TCP_", "SHUT_", "AI_", "EAI_",
    "NI_",
)  # fmt: skip
