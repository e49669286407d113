#!/usr/bin/env python3
"""weft perf --floor: what is in its rows. How the figures compare is no matter of a test."""
import unittest

from weft_cli import Case, weft


class Floor(Case):
    def test_the_floor_is_in_the_row(self):
        # How long a busy machine takes for it is nobody's promise: the fields count, not the figures.
        outcome = weft("perf", "latency", "--local", "--sizes", "8", "--floor", "--json")
        self.assertStatus(outcome, 0)
        row, = outcome.objects()
        for field in ("floor", "ratio", "kept", "slices", "class", "verdict", "probe_ns"):
            self.assertIn(field, row)
        self.assertIn(row["verdict"], ("ok", "inconclusive"))
        if row["verdict"] == "ok":
            self.assertGreaterEqual(row["kept"], 20)
            self.assertGreater(row["floor"], 0)


if __name__ == "__main__":
    unittest.main()
