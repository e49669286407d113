#!/usr/bin/env python3
"""A peer of the same user does what no correct peer does; what waits for it must still end, and nothing may pile up.

The process under attack is `pingpong listen`: after its first ping it has a receive from that very peer posted, and it
ends when that receive does. Layouts: docs/wire.md; sizes are asked of the process itself.
"""
import array
import fcntl
import mmap
import os
import random
import resource
import socket
import struct
import subprocess
import sys
import time

import weft_cli

program = os.environ["TEST_WEFT_BIN_DIR"] + "/pingpong"
MAGIC = 0x316D687374666577
OPEN, ACCEPT, REFUSE = 1, 2, 3
TAGGED_SMALL, FINISHED = 64, 18
PING = 1
DEADLINE_S = 6  # for a test that fails; what is waited for takes milliseconds
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
SEED = int(os.environ.get("SEED", "1"))
rng = random.Random(SEED)
failures = 0


def check(good, text):
    global failures
    if not good:
        failures += 1
        print(f"FAILED (SEED={SEED}):", text)


def identity():
    return rng.getrandbits(64) | 1, rng.getrandbits(32) << 32 | 1


class Listener:
    def __init__(self, **settings):
        self.process = subprocess.Popen([program, "listen"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, env=weft_cli.environment(**settings))
        address = self.process.stdout.readline().strip()
        self.id = int(address[6:22], 16), int(address[22:], 16)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def ends(self):
        try:
            return self.process.wait(DEADLINE_S) == 0
        except subprocess.TimeoutExpired:
            return False

    def resident(self):
        with open(f"/proc/{self.process.pid}/statm") as f:
            return int(f.read().split()[1]) * resource.getpagesize()

    def descriptors(self):
        return {int(name) for name in os.listdir(f"/proc/{self.process.pid}/fd")}


class Peer:
    def __init__(self, listener):
        self.target = listener.id
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(DEADLINE_S)
        self.socket.connect(b"\0weft-shm-%016x%08x" % (self.target[0], self.target[1] >> 32))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, mine, fds=(), version=1, sizes=(0, 0, 0, 0)):
        data = struct.pack("<QII QQ QQ II QQQ II 128s 40s", MAGIC, version, OPEN, *mine, *self.target, 0, sizes[0],
                           sizes[1], 0, 0, sizes[2], sizes[3], b"", b"")
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([data], rights)

    def answer(self):
        """(kind, reason, sizes), or None when there is none."""
        try:
            data = self.socket.recv(4096)
        except (ConnectionResetError, TimeoutError):
            return None
        if not data:
            return None
        field = struct.unpack_from("<QII QQ QQ II QQQ II", data)
        return field[2], field[7], (field[8], field[9], field[12], field[13])


def sizes_of(listener):
    with Peer(listener) as p:
        p.send(identity())
        return p.answer()[2]


def memory(size):
    fd = os.memfd_create("hostile", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)
    return fd


class Channel:
    """A proper contact, then a ping, so that the listener waits for this very peer."""

    def __init__(self, peer, sizes):
        fd = memory(sizes[1])
        self.room = mmap.mmap(fd, sizes[1])
        peer.send(identity(), (fd,), sizes=sizes)
        os.close(fd)
        answer = peer.answer()
        check(answer is not None and answer[0] == ACCEPT, f"a proper open: {answer}")
        self.rings = {"main": 4096, "bulk": 4096 + sizes[0] * 64}
        self.put = {"main": 0, "bulk": 0}
        self.packet("main", TAGGED_SMALL + 8, PING, bytes(8))
        pong = sizes[1] // 2 + 4096
        until = time.monotonic() + DEADLINE_S
        while self.room[pong:pong + 2] != b"\1\0" and time.monotonic() < until:
            time.sleep(0.001)
        check(self.room[pong:pong + 2] == b"\1\0", "the ping was not answered")

    def packet(self, ring, kind, key, payload):
        at = self.rings[ring] + self.put[ring] * 64
        self.put[ring] += 1
        self.room[at + 8:at + 16 + len(payload)] = struct.pack("<Q", key) + payload
        self.room[at:at + 8] = struct.pack("<HBBI", self.put[ring], kind, 0, 0)


# Its last word is about a large message that does not exist.
with Listener() as victim, Peer(victim) as p:
    Channel(p, sizes_of(victim)).packet("bulk", FINISHED, 1 << 32, b"")
    p.socket.close()
    check(victim.ends(), "a receive from a dead peer did not end: a control packet of nothing was left in the bulk ring")

# It leaves more messages without a receive than the process keeps.
with Listener(WEFT_SHM_UNEXPECTED_MAX="64K") as victim, Peer(victim) as p:
    channel = Channel(p, sizes_of(victim))
    for _ in range(1500):
        channel.packet("main", TAGGED_SMALL + 48, 77, bytes(48))
    p.socket.close()
    check(victim.ends(), "a receive from a dead peer did not end: its messages beyond shm_unexpected_max are kept waiting")

# The descriptor that comes with an open finds no number: the peer is told, so that it does not wait for ever.
with Listener() as victim:
    sizes = sizes_of(victim)
    with Peer(victim) as p:
        p.send(identity())
        p.answer()  # so that the connection has its descriptor
        used = max(victim.descriptors()) + 1
        resource.prlimit(victim.process.pid, resource.RLIMIT_NOFILE, (used, used))
        fd = memory(sizes[1])
        p.send(identity(), (fd,), sizes=sizes)
        os.close(fd)
        a = p.answer()
        check(a is not None and a[0] == REFUSE, f"an open whose descriptor was lost is not refused: {a}")

# Opens that are refused, by somebody who never reads the answers.
with Listener() as victim, Peer(victim) as p:
    sizes_of(victim)
    before = victim.resident()
    p.socket.settimeout(0.2)
    mine = identity()
    until = time.monotonic() + 2
    try:
        for _ in range(200_000):
            p.send(mine, version=2)
            if time.monotonic() > until:
                break
    except (TimeoutError, ConnectionError, BrokenPipeError):
        pass  # it may well stop reading, or hang up
    grown = victim.resident() - before
    check(grown < 8 << 20, f"answers that nobody reads take {grown >> 20} MiB")

# Nobody else can be an endpoint of our own domain.
with Listener() as victim:
    sizes = sizes_of(victim)
    for mine in (victim.id, (victim.id[0], victim.id[1] ^ 2), (rng.getrandbits(64), rng.getrandbits(32) << 32)):
        with Peer(victim) as p:
            fd = memory(sizes[1])
            p.send(mine, (fd,), sizes=sizes)
            os.close(fd)
            a = p.answer()
            check(a is None or a[0] == REFUSE, f"an open of {mine[0]:016x}{mine[1]:016x} to {victim.id[0]:016x}"
                                               f"{victim.id[1]:016x} is accepted")

sys.exit(1 if failures else 0)
