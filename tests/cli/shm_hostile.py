#!/usr/bin/env python3
"""A listening process meets peers that send garbage, speak another version, or write nonsense into shared memory.

Each of them is refused with its reason or dropped; the process stays, and a proper peer is served afterwards.
Layouts: docs/wire.md.
"""
import array
import fcntl
import mmap
import os
import random
import re
import socket
import struct
import subprocess
import sys
import time

import weft_cli

program = os.environ["TEST_WEFT_BIN_DIR"] + "/pingpong"
MAGIC = 0x316D687374666577
REGION, SLOTS, EAGER, BULK = 5005312, 2048, 1 << 18, 1 << 21
RING, BULK_RING, DIRECTION = 4096, 135168, 2502656
OPEN, ACCEPT, REFUSE = 1, 2, 3
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
failures = 0


def check(good, text):
    global failures
    if not good:
        failures += 1
        print("FAILED:", text)


def datagram(listener_id, mine, version=1, kind=OPEN, magic=MAGIC, slots=SLOTS, region=REGION):
    return struct.pack("<QII QQ QQ II QQQ II 128s 40s", magic, version, kind, *mine, *listener_id, 0, slots, region, 0, 0,
                       EAGER, BULK, b"", b"")


def memory(size, seal=True):
    fd = os.memfd_create("hostile", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    if seal:
        fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)
    return fd


class Peer:
    def __init__(self, listener_id):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(20)
        self.socket.connect(b"\0weft-shm-%016x%08x" % (listener_id[0], listener_id[1] >> 32))

    def send(self, data, fds=()):
        self.socket.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])

    def answer(self):
        """(kind, version, reason, text), or None when the connection was closed."""
        try:
            data = self.socket.recv(4096)
        except ConnectionResetError:
            return None
        if not data:
            return None
        _, version, kind, _, _, _, _, reason = struct.unpack_from("<QII QQ QQ I", data)
        return kind, version, reason, data[88:216].split(b"\0")[0].decode()


listener = subprocess.Popen([program, "listen"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=weft_cli.environment())
address = listener.stdout.readline().strip()
check(re.fullmatch("shm://[0-9a-f]{32}", address), f"address {address!r}")
target = (int(address[6:22], 16), int(address[22:], 16))
seed = int(os.environ.get("SEED", "1"))
rng = random.Random(seed)


def identity():
    return rng.getrandbits(64) | 1, (rng.getrandbits(32) << 32) | 1


# Not weft's at all, or not whole: the connection is closed.
for junk in (b"x", bytes(255), bytes(256), bytes(257), rng.randbytes(256), rng.randbytes(4000),
             datagram(target, identity(), magic=1), datagram(target, (0, 0)), datagram(target, identity(), kind=77)):
    p = Peer(target)
    p.send(junk)
    check(p.answer() is None, f"garbage {junk[:16]!r}... was answered")

# Another version is told so.
p = Peer(target)
p.send(datagram(target, identity(), version=2), (memory(REGION),))
a = p.answer()
check(a is not None and a[0] == REFUSE and a[2] == 1 and "version" in a[3], f"version 2: {a}")

# What comes with an open must be right: (descriptors, fields, reason)
for fds, fields, reason in (
        ((), {}, 6),
        ((memory(REGION), memory(REGION)), {}, 6),
        ((memory(REGION, seal=False),), {}, 6),
        ((memory(4096),), {}, 6),
        ((os.pipe()[0],), {}, 6),
        ((os.open("/dev/zero", os.O_RDWR),), {}, 6),
        ((memory(REGION),), {"slots": 4}, 4),
        ((memory(REGION),), {"region": 1}, 4)):
    p = Peer(target)
    p.send(datagram(target, identity(), **fields), fds)
    a = p.answer()
    check(a is not None and a[0] == REFUSE and a[2] == reason and a[3], f"{fds} {fields}: {a}, not reason {reason}")

# An endpoint that does not exist; a connection that says nothing; many of them.
p = Peer(target)
p.send(datagram((target[0], target[1] ^ 0xff00), identity()), (memory(REGION),))
a = p.answer()
check(a is not None and a[0] == REFUSE and a[2] == 2, f"no such endpoint: {a}")
silent = [Peer(target) for _ in range(50)]

# A proper channel, full of nonsense: the peer is treated as gone, the process goes on.
for turn in range(40):
    p = Peer(target)
    fd = memory(REGION)
    room = mmap.mmap(fd, REGION)
    me = identity()
    p.send(datagram(target, me), (fd,))
    a = p.answer()
    check(a is not None and a[0] == ACCEPT, f"proper open: {a}")
    for slot in range(rng.randrange(1, 200)):
        kind = rng.choice((2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 16, 17, 18, 64, 70, 112, 113, 128, 176, 177, 255))
        size = rng.choice((0, 1, 48, 49, 4096, 65536, 1 << 18, (1 << 32) - 1))
        body = struct.pack("<QQQQ", *(rng.choice((0, 1, 64, 1 << 18, 1 << 63, rng.getrandbits(64))) for _ in range(4)))
        for ring in (RING + slot * 64, BULK_RING + (slot % 128) * 64):
            room[ring + 8:ring + 16] = struct.pack("<Q", rng.choice((7, rng.getrandbits(64))))
            room[ring + 16:ring + 48] = body
            room[ring:ring + 8] = struct.pack("<HBBI", slot + 1, kind, 0, size)
    for at in (0, 8, 64, 72):  # what we have "released" of what it sends
        room[DIRECTION + at:DIRECTION + at + 8] = struct.pack("<Q", rng.getrandbits(64))
    if turn % 2:
        time.sleep(0)  # some are looked at alive, some dead
    p.socket.close()

check(listener.poll() is None, f"the process ended with {listener.poll()} (SEED={seed})")
for p in silent:
    p.socket.close()
done = subprocess.run([program, address], capture_output=True, text=True, timeout=90, env=weft_cli.environment())
check(done.returncode == 0, f"a proper peer afterwards: {done} (SEED={seed})")
try:
    _, errors = listener.communicate(timeout=60)
    check(listener.returncode == 0, f"listen ended with {listener.returncode}: {errors[-2000:]} (SEED={seed})")
except subprocess.TimeoutExpired:
    listener.kill()
    check(False, f"listen did not end (SEED={seed})")
sys.exit(1 if failures else 0)
