#!/usr/bin/env python3
"""weft perf --local: the forms of its report, what it refuses, what it leaves."""
import pathlib
import re
import tempfile
import unittest

from weft_cli import Case, Running, shared_memory_files, weft


class Forms(Case):
    def test_json_fields(self):
        wanted = {"latency": ("p50_ns", "p99_ns", "p999_ns", "min_ns"), "rate": ("Mmsgs",), "bandwidth": ("MBps",)}
        for test, fields in wanted.items():
            outcome = weft("perf", test, "--local", "--sizes", "8,4K", "--seconds", "0.02", "--json")
            self.assertStatus(outcome, 0)
            self.assertEqual(outcome.err, "")
            rows = outcome.objects()
            self.assertEqual([row["size"] for row in rows], [8, 4096])
            for row in rows:
                for field in fields:
                    self.assertGreater(row[field], 0)
                self.assertNotIn("floor", row)
            if test == "latency":
                for row in rows:
                    self.assertLessEqual(row["min_ns"], row["p50_ns"])
                    self.assertLessEqual(row["p50_ns"], row["p99_ns"])
                    self.assertLessEqual(row["p99_ns"], row["p999_ns"])

    def test_table_and_chart(self):
        arguments = ["perf", "latency", "--local", "--sizes", "8:64", "--iterations", "100"]
        outcome = weft(*arguments)
        self.assertStatus(outcome, 0)
        for word in ("latency over", "p99.9", "64 B", "█"):
            self.assertIn(word, outcome.out)
        self.assertNotIn("\r", outcome.err)  # progress is for terminals
        self.assertNotIn("█", weft(*arguments, "--no-chart").out)

    def test_html_needs_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "report.html"
            outcome = weft("perf", "bandwidth", "--local", "--sizes", "1K:16K", "--iterations", "100", "--html",
                           str(file))
            self.assertStatus(outcome, 0)
            page = file.read_text()
        self.assertIn("<svg", page)
        self.assertIn("polyline", page)
        self.assertIn("16 KiB", page)
        self.assertIsNone(re.search(r"(src|href)\s*=|https?://|<script|@import|url\(", page))

    def test_a_size_nobody_offers(self):
        outcome = weft("perf", "latency", "--local", "--sizes", "8000T")
        self.assertStatus(outcome, 1)
        self.assertEqual(outcome.out, "")
        self.assertNotEqual(outcome.err, "")

    def test_a_provider_nobody_has(self):
        outcome = weft("perf", "latency", "--local", "--provider", "smh")
        self.assertStatus(outcome, 1)
        self.assertIn("shm", outcome.err.replace("smh", ""))
        self.assertEqual(outcome.err.count("smh"), weft("info", "--provider", "smh").out.count("smh"), outcome.err)

    def test_one_processor_is_enough_to_end(self):
        outcome = weft("perf", "latency", "--local", "--sizes", "8,100000", "--iterations", "5", "--cpu", "0,0")
        self.assertIn(outcome.status, (0, 2))  # 2: processor 0 is not ours

    def test_nothing_is_left(self):
        before = shared_memory_files()
        with Running("perf", "rate", "--local", "--sizes", "8", "--iterations", "1000") as run:
            self.assertStatus(run.end(), 0)
            self.assertEqual(run.members(), [])
        self.assertEqual(shared_memory_files() - before, set())


if __name__ == "__main__":
    unittest.main()
