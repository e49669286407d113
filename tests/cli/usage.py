#!/usr/bin/env python3
"""Help, version, and what is said about a command line that makes no sense."""
import unittest

from weft_cli import Case, weft


class Help(Case):
    def test_version(self):
        outcome = weft("--version")
        self.assertStatus(outcome, 0)
        self.assertRegex(outcome.out, r"^weft \d+\.\d+\.\d+\n$")

    def test_help_in_every_form(self):
        for arguments in (["help"], ["--help"], ["-h"]):
            outcome = weft(*arguments)
            self.assertStatus(outcome, 0)
            for word in ("info", "env", "perf", "Examples"):
                self.assertIn(word, outcome.out)

    def test_every_subcommand_has_help_with_examples(self):
        for sub in ("info", "env", "perf"):
            by_option = weft(sub, "--help")
            self.assertStatus(by_option, 0)
            self.assertIn("Examples:", by_option.out)
            self.assertIn(f"weft {sub}", by_option.out)
            self.assertEqual(weft("help", sub).out, by_option.out)

    def test_nothing_asked(self):
        outcome = weft()
        self.assertStatus(outcome, 2)
        self.assertIn("Usage:", outcome.err)


class Mistakes(Case):
    def test_unknown_subcommand(self):
        self.assertUsage(weft("perv"), "'perv'", "did you mean 'perf'?")
        self.assertUsage(weft("perv", "latency", "--local"), "'perv'", "did you mean 'perf'?")
        self.assertUsage(weft("frobnicate"), "unknown subcommand 'frobnicate'")
        self.assertUsage(weft("help", "inof"), "did you mean 'info'?")

    def test_unknown_option(self):
        self.assertUsage(weft("--versoin"), "did you mean '--version'?")
        self.assertUsage(weft("info", "--jsno"), "unknown option '--jsno'", "did you mean '--json'?")
        self.assertUsage(weft("perf", "latency", "--local", "--size", "8"), "did you mean '--sizes'?")
        self.assertUsage(weft("perf", "latency", "--local", "--size=8"), "did you mean '--sizes'?")
        self.assertUsage(weft("env", "--zzzzzzzz"), "unknown option '--zzzzzzzz'")

    def test_words_too_many(self):
        self.assertUsage(weft("env", "surplus"), "surplus")

    def test_choices(self):
        self.assertUsage(weft("perf", "latncy", "--local"), "did you mean 'latency'?")
        self.assertUsage(weft("perf", "latency", "--local", "--op", "taged"), "did you mean 'tagged'?")
        self.assertUsage(weft("perf", "latency", "--local", "--threads", "two"), "one, any")
        self.assertUsage(weft("info", "--capabilities", "msg,taged"), "did you mean 'tagged'?")

    def test_where_the_other_side_is(self):
        self.assertUsage(weft("perf", "latency"), "--local")
        self.assertUsage(weft("perf"), "latency, bandwidth, rate")
        self.assertUsage(weft("perf", "latency", "--local", "--listen"), "one of")
        self.assertUsage(weft("perf", "latency", "somewhere"), "shm://")

    def test_sizes(self):
        for wrong in ("x", "8,", "4K:8", "-1", "99999999999999999999", "20000000T", "8:x", ""):
            outcome = weft("perf", "latency", "--local", f"--sizes={wrong}")
            if wrong == "":
                self.assertStatus(outcome, 2)
            else:
                self.assertUsage(outcome, "--sizes")

    def test_numbers(self):
        self.assertUsage(weft("perf", "rate", "--local", "--window", "0"), "--window")
        self.assertUsage(weft("perf", "rate", "--local", "--window", "1000000"), "--window", "1024")
        self.assertUsage(weft("perf", "rate", "--local", "--iterations", "none"), "--iterations")
        self.assertUsage(weft("perf", "rate", "--local", "--seconds=-1"), "--seconds")
        self.assertUsage(weft("perf", "rate", "--local", "--seconds", "soon"), "--seconds")
        self.assertUsage(weft("perf", "rate", "--local", "--seconds", "1", "--iterations", "5"), "one of")

    def test_processors(self):
        for wrong in ("a", "0", "0,", "0,1,2", "0,99999"):
            self.assertUsage(weft("perf", "latency", "--local", "--cpu", wrong), "--cpu")

    def test_combinations(self):
        self.assertUsage(weft("perf", "latency", "shm://0", "--floor"), "--floor needs --local")
        self.assertUsage(weft("perf", "latency", "--local", "--floor", "--seconds", "1"), "--floor")
        self.assertUsage(weft("perf", "latency", "--local", "--once"), "--once")
        self.assertUsage(weft("perf", "latency", "--local", "--html", "/nonexistent/x.html"), "/nonexistent")


if __name__ == "__main__":
    unittest.main()
