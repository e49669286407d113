#!/usr/bin/env python3
"""weft info and weft env."""
import unittest

from weft_cli import Case, weft


class Info(Case):
    def test_an_offer_with_all_its_fields(self):
        outcome = weft("info", "--provider", "shm", "--json")
        self.assertStatus(outcome, 0)
        offers = [o for o in outcome.objects() if o["kind"] == "offer"]
        self.assertGreaterEqual(len(offers), 1)
        offer = offers[0]
        self.assertEqual(offer["provider"], "shm")
        for field in ("device", "reach", "why", "rank", "capabilities", "inline_max", "eager_max", "message_size_max",
                      "inject_size_max", "posted_receives_max", "iov_count_max", "details"):
            self.assertIn(field, offer)
        self.assertIn("tagged", offer["capabilities"].split(","))
        self.assertGreater(offer["eager_max"], offer["inline_max"])

    def test_offers_come_in_rank_order(self):
        ranks = [o["rank"] for o in weft("info", "--json").objects() if o["kind"] == "offer"]
        self.assertEqual(ranks, sorted(ranks))

    def test_a_need_that_cannot_be_met(self):
        outcome = weft("info", "--provider", "shm", "--inject-size", "1T", "--json")
        self.assertStatus(outcome, 1)
        refusals = outcome.objects()
        self.assertEqual({r["kind"] for r in refusals}, {"refusal"})
        refusal = next(r for r in refusals if r["provider"] == "shm")
        for field in ("provider", "device", "property", "wanted", "offered", "remedy"):
            self.assertIn(field, refusal)
        for field in ("property", "wanted", "offered", "remedy"):
            self.assertNotEqual(refusal[field], "")
        text = weft("info", "--provider", "shm", "--inject-size", "1T")
        self.assertStatus(text, 1)
        self.assertIn(refusal["remedy"], text.out)

    def test_a_mistyped_provider_is_corrected(self):
        for arguments in (["info", "--provider", "smh"], ["info", "--provider", "smh", "--json"]):
            outcome = weft(*arguments)
            self.assertStatus(outcome, 1)
            self.assertIn("smh", outcome.out)
            self.assertIn("shm", outcome.out.replace("smh", ""))

    def test_details_only_when_wanted(self):
        brief, long = weft("info"), weft("info", "-v")
        self.assertStatus(brief, 0)
        self.assertStatus(long, 0)
        self.assertNotIn("largest message", brief.out)
        self.assertIn("largest message", long.out)

    def test_needs_are_understood(self):
        outcome = weft("info", "--capabilities", "tagged", "--threads", "any", "--message-size", "1M", "--inject-size",
                       "16", "--posted-receives", "64", "--iov-count", "2", "--order", "per-peer", "--delivery",
                       "reliable", "--progress", "caller", "--prefer", "shm", "--json")
        self.assertStatus(outcome, 0)
        self.assertStatus(weft("info", "--message-size", "many"), 2)


class Env(Case):
    def test_every_setting_has_all_fields(self):
        outcome = weft("env", "--json")
        self.assertStatus(outcome, 0)
        self.assertEqual(outcome.err, "")
        settings = outcome.objects()
        self.assertGreater(len(settings), 3)
        for setting in settings:
            self.assertEqual(setting["kind"], "setting")
            for field in ("name", "value", "origin", "default", "choices", "text", "where", "variable"):
                self.assertIn(field, setting)
            self.assertEqual(setting["origin"], "default", setting)
            self.assertEqual(setting["variable"], "WEFT_" + setting["name"].upper())
            self.assertNotEqual(setting["text"], "")

    def test_the_environment_shows(self):
        outcome = weft("env", "--json", WEFT_LOG="error")
        log = next(s for s in outcome.objects() if s["name"] == "log")
        self.assertEqual((log["value"], log["origin"]), ("error", "environment"))
        self.assertIn("WEFT_LOG", log["where"])
        text = weft("env", WEFT_LOG="error")
        self.assertIn("log = error", text.out)
        self.assertIn("WEFT_LOG", text.out)

    def test_a_near_miss_is_said_once(self):
        wrong = {"WEFT_LGO": "debug"}
        text = weft("env", **wrong)
        self.assertStatus(text, 0)
        self.assertEqual((text.out + text.err).count("WEFT_LGO"), 1, str(text))
        self.assertIn("WEFT_LOG", text.err)
        lines = weft("env", "--json", **wrong)
        self.assertEqual(lines.err, "")
        warnings = [o for o in lines.objects() if o["kind"] == "warning"]
        self.assertEqual(len(warnings), 1)
        self.assertIn("WEFT_LOG", warnings[0]["text"])
        for arguments in (["info"], ["perf", "latency", "--local", "--sizes", "8", "--iterations", "10"]):
            outcome = weft(*arguments, **wrong)
            self.assertStatus(outcome, 0)
            self.assertEqual((outcome.out + outcome.err).count("WEFT_LGO"), 1, str(outcome))


if __name__ == "__main__":
    unittest.main()
