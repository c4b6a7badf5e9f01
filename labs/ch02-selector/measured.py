"""What is measured: frames that come in on several connections, and their responses."""

import socket
import struct

from kafka_lite.common.time import MockTime
from kafka_lite.network.selector import Selector
from kafka_lite.network.send import NetworkSend

SHOWN = "receive four frames on each of eight connections, and answer each frame"
SHOWN_ZH = "从八个连接各接收四个帧，每个帧都响应"
ROUNDS = 800
CONNECTIONS, FRAMES = 8, 4


def prepare(_folder):
    selector = Selector(1_000_000, connections_max_idle_ms=600_000, time=MockTime())
    peers = []
    for number in range(CONNECTIONS):
        mine, theirs = socket.socketpair()
        mine.setblocking(False)
        selector.register(f"c{number}", mine, f"peer {number}")
        peers.append(theirs)
    frames = b"".join(struct.pack(">i", 20) + b"%020d" % number for number in range(FRAMES))

    def one_round(_number):
        for peer in peers:
            peer.sendall(frames)
        received, sent = [], 0
        for _ in range(4 * FRAMES):  # it takes half of them
            selector.poll(0)
            sent += len(selector.completed_sends)
            for receive in selector.completed_receives:
                received.append((receive.source, int(bytes(receive.payload))))
                selector.send(NetworkSend(receive.source, [b"y" * 20]))
            if sent == CONNECTIONS * FRAMES:
                break
        answers = [len(peer.recv(1000, socket.MSG_DONTWAIT)) for peer in peers]
        return sent, answers, [[number for source, number in received if source == f"c{n}"] for n in range(CONNECTIONS)]

    return one_round
