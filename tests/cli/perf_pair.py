#!/usr/bin/env python3
"""weft perf --listen and its clients, and what each side says when the other dies."""
import os
import signal
import unittest

from weft_cli import Case, Running, shared_memory_files, wait_until, weft

# Longer than any test: the run is ended from outside.
ENDLESS = ["--seconds", "3000"]


class Pair(Case):
    def test_clients_one_after_the_other(self):
        with Running("perf", "--listen") as server:
            address = server.line()
            self.assertIn("://", address)
            for arguments in (["latency", "--op", "send"], ["rate", "--op", "tagged", "--threads", "any"],
                              ["bandwidth", "--op", "send", "--window", "3"]):
                outcome = weft("perf", arguments[0], address, *arguments[1:], "--sizes", "0:64K", "--iterations", "50",
                               "--check", "--json")
                self.assertStatus(outcome, 0)
                self.assertEqual(len(outcome.objects()), 18)
            os.kill(server.pid, signal.SIGINT)
            self.assertStatus(server.end(), 0)

    def test_once(self):
        with Running("perf", "--listen", "--once") as server:
            outcome = weft("perf", "latency", server.line(), "--sizes", "8", "--iterations", "10")
            self.assertStatus(outcome, 0)
            self.assertStatus(server.end(), 0)

    def test_two_clients_at_a_time_take_turns(self):
        with Running("perf", "--listen") as server:
            address = server.line()
            clients = [Running("perf", "latency", address, "--sizes", "8", "--iterations", "2000", "--check")
                       for _ in range(2)]
            for client in clients:
                with client:
                    self.assertStatus(client.end(), 0)

    def test_nobody_listens(self):
        with Running("perf", "--listen") as server:
            address = server.line()
        outcome = weft("perf", "latency", address, "--sizes", "8")
        self.assertStatus(outcome, 1)
        self.assertEqual(outcome.out, "")
        self.assertIn("nobody answers", outcome.err.splitlines()[-1])

    def test_not_an_address(self):
        outcome = weft("perf", "latency", "shm://nonsense", "--sizes", "8")
        self.assertStatus(outcome, 1)
        self.assertIn("nonsense", outcome.err)


class Deaths(Case):
    def test_the_server_dies(self):
        with Running("perf", "--listen") as server:
            with Running("perf", "latency", server.line(), "--sizes", "8", *ENDLESS) as client:
                self.assertIn("latency over", client.line())
                os.kill(server.pid, signal.SIGKILL)
                outcome = client.end()
        self.assertStatus(outcome, 1)
        self.assertOneLine(outcome.err)
        self.assertIn("died", outcome.err)

    def test_the_client_dies_and_the_next_one_is_served(self):
        with Running("perf", "--listen") as server:
            address = server.line()
            with Running("perf", "rate", address, "--sizes", "8", *ENDLESS) as client:
                client.line()
                os.kill(client.pid, signal.SIGKILL)
            outcome = weft("perf", "latency", address, "--sizes", "8", "--iterations", "10", "--check")
            self.assertStatus(outcome, 0)
            os.kill(server.pid, signal.SIGINT)
            said = server.end()
        self.assertStatus(said, 0)
        self.assertIn("died", said.err)

    def test_once_reports_the_death(self):
        with Running("perf", "--listen", "--once") as server:
            with Running("perf", "latency", server.line(), "--sizes", "64K", *ENDLESS) as client:
                client.line()
                os.kill(client.pid, signal.SIGKILL)
            said = server.end()
        self.assertStatus(said, 1)
        self.assertIn("died", said.err)

    def local(self, victim, wanted_signal, test="latency", size="8"):
        before = shared_memory_files()
        with Running("perf", test, "--local", "--sizes", size, *ENDLESS) as run:
            self.assertIn(test + " over", run.line())
            child, = run.children()
            os.kill(run.pid if victim == "parent" else child, wanted_signal)
            outcome = run.end()  # of both: the child holds the same standard error
            wait_until("all processes have ended", lambda: run.members() == [])
        self.assertEqual(shared_memory_files() - before, set())
        return outcome

    def test_local_child_is_killed(self):
        for test, size in (("latency", "8"), ("rate", "8"), ("bandwidth", "1M")):
            with self.subTest(test=test):
                outcome = self.local("child", signal.SIGKILL, test, size)
                self.assertStatus(outcome, 1)
                self.assertOneLine(outcome.err)
                self.assertIn("died", outcome.err)

    def test_local_parent_is_killed(self):
        for test, size in (("latency", "8"), ("rate", "8"), ("bandwidth", "1M")):
            with self.subTest(test=test):
                outcome = self.local("parent", signal.SIGKILL, test, size)
                self.assertStatus(outcome, -signal.SIGKILL)
                self.assertOneLine(outcome.err)
                self.assertIn("died", outcome.err)

    def test_interrupt(self):
        for wanted in (signal.SIGINT, signal.SIGTERM):
            outcome = self.local("parent", wanted)
            self.assertStatus(outcome, 1)
            self.assertIn("interrupted", outcome.err)
            self.assertOneLine(outcome.err)


if __name__ == "__main__":
    unittest.main()
