"""What the tests of the command line share: where the program is, running it, and looking for what it left."""
import json
import os
import pathlib
import select
import signal
import subprocess
import time
import unittest

# Generous: it only has to end a run that hangs, on a loaded machine and under sanitizers, too.
DEADLINE_S = 100


def program():
    folder = os.environ.get("WEFT_BIN") or os.environ.get("TEST_WEFT_BIN_DIR")
    if not folder:
        raise SystemExit("set WEFT_BIN to the folder that has the program weft")
    return str(pathlib.Path(folder) / "weft")


def environment(**extra):
    """The caller's, without settings of the library and without its settings file."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    env["XDG_CONFIG_HOME"] = "/nonexistent"
    env.update(extra)
    return env


class Outcome:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def objects(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def __str__(self):
        return f"status {self.status}\nstdout:\n{self.out}\nstderr:\n{self.err}"


def weft(*arguments, **extra):
    done = subprocess.run([program(), *arguments], env=environment(**extra), capture_output=True, text=True,
                          timeout=DEADLINE_S, stdin=subprocess.DEVNULL)
    return Outcome(done.returncode, done.stdout, done.stderr)


class Running:
    """A weft in the background, in a session of its own, so that whatever it leaves can be found."""

    def __init__(self, *arguments, **extra):
        self.process = subprocess.Popen([program(), *arguments], env=environment(**extra), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        start_new_session=True)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.members():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def line(self):
        """The next line of standard output."""
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_S)
        if not ready:
            raise AssertionError("weft said nothing")
        return self.process.stdout.readline().rstrip("\n")

    def end(self):
        out, err = self.process.communicate(timeout=DEADLINE_S)
        return Outcome(self.process.returncode, out, err)

    def members(self):
        """Processes of its session that still run."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except (OSError, IndexError):
                continue
            if int(fields[3]) == self.pid and fields[0] not in "ZX":
                found.append(int(entry.name))
        return found

    def children(self):
        return [pid for pid in self.members() if pid != self.pid]


def wait_until(what, condition):
    """Looks until it is so. The deadline is for a test that fails."""
    until = time.monotonic() + DEADLINE_S
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"it never happened: {what}")
        time.sleep(0.005)


def shared_memory_files():
    return {p.name for p in pathlib.Path("/dev/shm").iterdir() if "weft" in p.name}


class Case(unittest.TestCase):
    def assertStatus(self, outcome, wanted):
        self.assertEqual(outcome.status, wanted, str(outcome))

    def assertOneLine(self, text):
        self.assertEqual(len(text.strip().splitlines()), 1, text)

    def assertUsage(self, outcome, *words):
        """A usage error: status 2, nothing on standard output, one line that has the words."""
        self.assertStatus(outcome, 2)
        self.assertEqual(outcome.out, "")
        self.assertOneLine(outcome.err)
        for word in words:
            self.assertIn(word, outcome.err)
