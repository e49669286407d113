#!/usr/bin/env python3
"""weft perf --local --check: every byte arrives, in every combination."""
import unittest

from weft_cli import Case, weft


class Checked(Case):
    def check(self, test, op, threads):
        # From nothing to 1 MiB, and lengths that are no multiple of anything.
        outcome = weft("perf", test, "--local", "--op", op, "--threads", threads, "--check", "--json", "--iterations",
                       "20", "--sizes", "0:1M,3,57,4095,65537,1000003")
        self.assertStatus(outcome, 0)
        rows = outcome.objects()
        sizes = [row["size"] for row in rows]
        self.assertEqual(sizes, sorted([0, 3, 57, 4095, 65537, 1000003] + [1 << i for i in range(21)]))
        for row in rows:
            self.assertEqual((row["test"], row["op"], row["threads"], row["count"], row["checked"]),
                             (test, op, threads, 20, True))
            self.assertNotEqual(row["provider"], "")

    def test_latency(self):
        for op in ("send", "tagged"):
            for threads in ("one", "any"):
                with self.subTest(op=op, threads=threads):
                    self.check("latency", op, threads)

    def test_rate(self):
        for op in ("send", "tagged"):
            for threads in ("one", "any"):
                with self.subTest(op=op, threads=threads):
                    self.check("rate", op, threads)

    def test_bandwidth(self):
        for op in ("send", "tagged"):
            with self.subTest(op=op):
                self.check("bandwidth", op, "one")

    def test_windows(self):
        for window in ("1", "2", "1024"):
            with self.subTest(window=window):
                outcome = weft("perf", "rate", "--local", "--check", "--window", window, "--sizes", "8,20000",
                               "--iterations", "3000", "--json")
                self.assertStatus(outcome, 0)
                self.assertEqual([row["count"] for row in outcome.objects()], [3000, 3000])


if __name__ == "__main__":
    unittest.main()
