#!/usr/bin/env python3
"""examples/copyfile with real files, wrong words, and either side killed or failing in the middle."""
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

import weft_cli

program = os.environ["TEST_WEFT_BIN_DIR"] + "/copyfile"
if not os.path.exists(program):
    sys.exit(77)  # no libcrypto here, so no copyfile
MIB = 1 << 20
seed = int(os.environ.get("WEFT_TEST_SEED", "0")) or random.SystemRandom().getrandbits(32)
print("WEFT_TEST_SEED =", seed)
random.seed(seed)
base = pathlib.Path(tempfile.mkdtemp(prefix="copyfile-test-"))
started = []


def check(good, text):
    if not good:
        raise AssertionError(text)


class Receiver:
    def __init__(self, *words, before=(), **how):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=base))
        command = [*before, program, "receive", str(self.directory), *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=weft_cli.environment(), **how)
        started.append(self.process)
        self.address = self.process.stdout.readline().strip()
        check(re.fullmatch("shm://[0-9a-f]{32}", self.address), f"address {self.address!r}")

    def end(self):
        """(exit status, standard output after the address, standard error)"""
        out, errors = self.process.communicate(timeout=100)
        return self.process.returncode, out, errors

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def files(self):
        return sorted(p.name for p in self.directory.iterdir())


def start_send(*words):
    process = subprocess.Popen([program, "send", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env=weft_cli.environment())
    started.append(process)
    return process


def send(*words):
    process = start_send(*words)
    out, errors = process.communicate(timeout=100)
    return process.returncode, out, errors


def make(name, size, mode=0o644):
    path = base / name
    path.write_bytes(random.randbytes(size))
    path.chmod(mode)
    return path


def written(pid):
    with open(f"/proc/{pid}/io") as io:
        return int(re.search(r"^wchar: (\d+)$", io.read(), re.M).group(1))


def in_the_middle(act):
    """Starts a transfer and calls act(receiver, sender) when some, but not all, has been written. Answers what was
    left. A machine may be so quick, or so busy, that the moment is missed; then the next file is larger."""
    for size in (64 * MIB, 256 * MIB, 1024 * MIB, 3072 * MIB):
        big = base / "big"
        with open(big, "wb") as f:
            f.truncate(size)
        receiver = Receiver("--once")
        before = written(receiver.process.pid)
        sender = start_send(receiver.address, big)
        while sender.poll() is None and written(receiver.process.pid) - before < 4 * MIB:
            pass
        # Both stand still while we look and act.
        for p in (sender, receiver.process):
            p.send_signal(signal.SIGSTOP)
        caught = sender.poll() is None and written(receiver.process.pid) - before < size - 8 * MIB
        if caught:
            act(receiver, sender)
        for p in (sender, receiver.process):
            p.send_signal(signal.SIGCONT)
        out, errors = sender.communicate(timeout=100)
        result = sender.returncode, errors, *receiver.end(), receiver.files()
        os.unlink(big)
        if caught:
            return result
    raise AssertionError("was never in time for the middle of a transfer")


def test_files_arrive():
    files = [make(f"file {size}", size) for size in (0, 1, 48, 16384, MIB - 1, MIB, MIB + 1, 9 * MIB + 77)]
    files += [make("script.sh", 100, 0o755), make("secret", 5000, 0o600), make("read only", 17, 0o444)]
    files.append(make("übung", 10))
    receiver = Receiver("--once")
    status, out, errors = send(receiver.address, *files)
    check((status, errors) == (0, ""), f"send: {status} {errors}")
    check(out.count("SHA-256 verified") == len(files), out)
    status, out, errors = receiver.end()
    check((status, errors) == (0, "") and out.count("SHA-256 verified") == len(files), f"receive: {status} {errors}")
    check(receiver.files() == sorted(p.name for p in files), receiver.files())
    for path in files:
        copy = receiver.directory / path.name
        check(copy.read_bytes() == path.read_bytes(), f"{path.name} differs")
        check(stat.S_IMODE(copy.stat().st_mode) == stat.S_IMODE(path.stat().st_mode), f"mode of {path.name}")


def test_one_receiver_many_senders():
    receiver = Receiver()
    files = [make(f"part {i}", 3 * MIB + i) for i in range(4)]
    senders = [start_send(receiver.address, path) for path in files]
    for process in senders:
        _, errors = process.communicate(timeout=100)
        check(process.returncode == 0, errors)
    check(send(receiver.address, files[0])[0] == 0, "a file that is there is replaced")
    check(receiver.files() == sorted(p.name for p in files), receiver.files())
    for path in files:
        check((receiver.directory / path.name).read_bytes() == path.read_bytes(), path.name)
    status, _, errors = receiver.stop()
    check(status == 1 and errors == "copyfile: interrupted\n", f"{status} {errors}")


def test_files_that_cannot_be_sent():
    receiver = Receiver("--once")
    good = make("good", 12345)
    (receiver.directory / "taken").mkdir()
    os.mkfifo(base / "pipe")
    bad_name = make("line\nbreak", 3)
    status, out, errors = send(receiver.address, base / "nosuch", base, base / "pipe", bad_name, make("taken", 9),
                               good)
    check(status == 1 and out.count("verified") == 1, f"{status} {out}")
    for text in ("nosuch: No such file or directory", "is not a regular file", "bad characters in its name",
                 "the receiver says: cannot write taken: there is a directory of that name"):
        check(text in errors, f"{text!r} is not in {errors!r}")
    status, _, errors = receiver.end()
    check(status == 1 and "there is a directory" in errors, f"{status} {errors}")
    check(receiver.files() == ["good", "taken"], receiver.files())


def test_links_are_replaced_not_followed():
    receiver = Receiver("--once")
    outside = make("outside", 4)
    before = outside.read_bytes()
    (receiver.directory / "linked").symlink_to(outside)
    check(send(receiver.address, make("linked", 100))[0] == 0, "send")
    check(receiver.end()[0] == 0, "receive")
    check(outside.read_bytes() == before and not (receiver.directory / "linked").is_symlink(), "followed a link")


def test_addresses_and_words():
    path = make("something", 10)
    status, _, errors = send("shm://" + "1" * 32, path)
    check(status == 1 and "nobody answers" in errors, f"{status} {errors}")
    status, _, errors = send("shm://12", path)
    check(status == 1 and "not an address" in errors, f"{status} {errors}")
    status, _, errors = send("rubbish", path)
    check(status == 1 and "not an address" in errors, f"{status} {errors}")
    for words in ([], ["send"], ["send", "shm://" + "1" * 32], ["receive"], ["receive", "/", "--twice"], ["fetch"]):
        run = subprocess.run([program, *words], capture_output=True, text=True, timeout=60,
                             env=weft_cli.environment())
        check(run.returncode == 2 and "usage: copyfile" in run.stderr, f"{words}: {run}")
    run = subprocess.run([program, "receive", base / "nosuch"], capture_output=True, text=True, timeout=60,
                             env=weft_cli.environment())
    check(run.returncode == 1 and "No such file or directory" in run.stderr, f"{run}")


def test_limit_on_file_sizes():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * MIB, 2 * MIB))

    receiver = Receiver("--once", preexec_fn=limit)
    small = make("small", MIB)
    status, _, errors = send(receiver.address, make("large", 5 * MIB), small)
    check(status == 1 and "the receiver says: cannot write large: File too large" in errors, f"{status} {errors}")
    check(receiver.end()[0] == 1 and receiver.files() == ["small"], receiver.files())


def test_disk_full():
    alone = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-r", "-m"]
    small_disk = 'mount -t tmpfs -o size=3m none "$2" && exec "$0" "$@"'
    script = ["sh", "-c", small_disk]
    can = subprocess.run([*alone, "mount", "-t", "tmpfs", "-o", "size=3m", "none", str(base)], capture_output=True)
    if can.returncode != 0:
        print("     a small disk cannot be made here:", can.stderr.decode().strip())
        return
    receiver = Receiver("--once", before=[*alone, *script])
    status, out, errors = send(receiver.address, make("large", 5 * MIB), make("small", MIB))
    check("the receiver says: cannot write large, which has 5242880 bytes: No space left on device" in errors, errors)
    check(status == 1 and out.count("verified") == 1, f"{status} {out}")
    receiver.end()


def test_limit_in_the_middle():
    def act(receiver, sender):
        resource.prlimit(receiver.process.pid, resource.RLIMIT_FSIZE, (6 * MIB, 6 * MIB))

    status, errors, receiver_status, _, receiver_errors, files = in_the_middle(act)
    check(status == 1 and "the receiver says: cannot write big: File too large" in errors, f"{status} {errors}")
    check(receiver_status == 1 and "File too large" in receiver_errors, f"{receiver_status} {receiver_errors}")
    check(files == [], files)


def test_file_shrinks_in_the_middle():
    status, errors, receiver_status, _, receiver_errors, files = in_the_middle(
        lambda receiver, sender: os.truncate(base / "big", 5 * MIB))
    check(status == 1 and "became shorter while it was sent" in errors, f"{status} {errors}")
    check(receiver_status == 1 and "the sender gave up" in receiver_errors, f"{receiver_status} {receiver_errors}")
    check(files == [], files)


def test_file_grows_in_the_middle():
    def act(receiver, sender):
        with open(base / "big", "ab") as f:
            f.write(b"more")

    status, errors, receiver_status, _, receiver_errors, files = in_the_middle(act)
    check(status == 1 and "became longer while it was sent" in errors, f"{status} {errors}")
    check(receiver_status == 1 and "the sender gave up" in receiver_errors, f"{receiver_status} {receiver_errors}")
    check(files == [], files)


def test_sender_killed():
    status, _, receiver_status, _, receiver_errors, files = in_the_middle(lambda receiver, sender: sender.kill())
    check(status == -signal.SIGKILL, status)
    check(receiver_status == 1 and "the sender is lost: peer_gone" in receiver_errors, f"{receiver_errors}")
    check(files == [], files)


def test_receiver_killed():
    status, errors, receiver_status, _, _, files = in_the_middle(lambda receiver, sender: receiver.process.kill())
    check(status == 1 and "the receiver is lost: peer_gone" in errors, f"{status} {errors}")
    check(receiver_status == -signal.SIGKILL, receiver_status)
    check(files == [], f"left over: {files}")


def test_receiver_interrupted():
    status, errors, receiver_status, _, receiver_errors, files = in_the_middle(
        lambda receiver, sender: receiver.process.terminate())
    check(status == 1 and "the receiver is lost: peer_gone" in errors, f"{status} {errors}")
    check(receiver_status == 1 and "interrupted" in receiver_errors, receiver_errors)
    check(files == [], files)


def test_survives_a_lost_sender():
    """The receiver serves others after one was killed."""
    receiver = Receiver()
    big = base / "lost"
    with open(big, "wb") as f:
        f.truncate(512 * MIB)
    before = written(receiver.process.pid)
    sender = start_send(receiver.address, big)
    while sender.poll() is None and written(receiver.process.pid) - before < MIB:
        pass
    sender.kill()
    sender.communicate()
    good = make("after", 2 * MIB + 3)
    check(send(receiver.address, good)[0] == 0, "the next sender")
    receiver.stop()
    check([f for f in receiver.files() if f != "lost"] == ["after"], receiver.files())


failures = 0
try:
    for name, test in [(n, t) for n, t in globals().copy().items() if n.startswith("test_")]:
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        try:
            test()
            print("ok", name, flush=True)
        except Exception as e:
            failures += 1
            print("FAILED", name, type(e).__name__, e, flush=True)
finally:
    for p in started:
        if p.poll() is None:
            p.kill()
            p.communicate()
    shutil.rmtree(base)
sys.exit(1 if failures else 0)
