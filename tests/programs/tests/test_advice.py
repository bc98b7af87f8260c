import unittest

import advice


def finding(change, predicted=True, command="loaderscope run", **more):
    rates = {"samples_per_s": 200, "base": {"samples_per_s": 100}} if predicted else None
    return {"id": "too-few-workers", "wrong_data": False, "mended_by": "reader", "command": command, "changes": change.split(),
            "predicted": rates, **more}


def result(*findings, busy=0.5):
    return {"findings": list(findings), "device": {"busy": busy}, "notes": [], "verdict": {"withheld_reason": None}}


class AdviceTest(unittest.TestCase):
    def test_follows_the_setting_of_the_fix_line(self):
        answer = result(finding("num-workers=2"), finding("num-workers=0"))
        self.assertEqual(advice.setting(answer, "Fix: num-workers=0 (gain unknown)")["changes"], ["num-workers=0"])
        self.assertEqual(advice.kind(answer, "Fix: num-workers=0"), "setting")

    def test_follows_both_settings_of_one_fix(self):
        both = finding("persistent-workers=true num-workers=3 decode.speed=2")
        self.assertEqual(advice.changes(both), {"persistent-workers": "true", "num-workers": "3"})
        answer = result(finding("persistent-workers=true"), both)
        printed = "Waits\nFix: persistent-workers=true num-workers=3 -> 20 % to\n  30 % busy\nWhy: restarted"
        self.assertIs(advice.setting(answer, printed), both)
        self.assertTrue(advice.fix_line(printed).endswith("to 30 % busy"))

    def test_calls_a_fix_without_settings_rewriting(self):
        answer = result(finding("decode.speed=2", command=None), finding("num-workers=2"))
        printed = "Fix: store smaller images; if decode were 2 times as fast: 90 % busy"
        self.assertEqual(advice.kind(answer, printed), "rewriting")
        self.assertEqual(advice.setting(answer, printed)["changes"], ["num-workers=2"])

    def test_reports_no_advice_without_a_fix_line(self):
        self.assertEqual(advice.kind(result(), "Training computes 99 % of the time"), "none")
        self.assertIsNone(advice.setting(result(), ""))

    def test_leaves_changes_of_an_administrator_alone(self):
        self.assertIsNone(advice.setting(result(finding("cores=8", mended_by="administrator")), "Fix: cores=8"))

    def test_prefers_a_setting_with_figures_without_a_fix_line(self):
        answer = result(finding("num-workers=2", predicted=False), finding("prefetch-factor=4"))
        self.assertEqual(advice.setting(answer, "")["changes"], ["prefetch-factor=4"])

    def test_waits_for_what_the_device_does_not_compute(self):
        self.assertAlmostEqual(advice.waited(result(busy=0.7)), 0.3)
        self.assertIsNone(advice.waited({"device": None}))
