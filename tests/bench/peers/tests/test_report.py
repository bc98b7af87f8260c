import unittest

from peers import report
from peers.measure import Run


def runs(cpu_ms_per_image, rounds=6):
    return [Run(images=1000, wall_s=cpu_ms_per_image, cpu_s=cpu_ms_per_image, first_batch_s=0.5, peak_bytes=200_000_000)
            for _ in range(rounds)]


def result(rounds, failed):
    return {
        "engines": report.summary(rounds, failed, cores=2), "machine": {
            "cpu": "a CPU", "cores": 2, "logical_cpus": 4, "kernel": "6.1", "os": "Debian", "load_least": 0.5, "load_most": 1},
        "data": {"images": 2000, "bytes": 146_000_000}, "options": {"workers": 2, "batch_size": 64, "size": 224},
        "rounds": 6, "images": 1000, "warmup": 5, "versions": {"torch": "2.9"}, "loaderscope": "loaderscope 0.1.0",
        "python": "3.11", "date": "2026-01-01", "command": "scripts/peers",
    }


class ReportTest(unittest.TestCase):
    def test_shows_ratios_tax_and_promises(self):
        text = report.markdown(result({"native": runs(1.0), "torch": runs(4.0), "dali": runs(2.0)}, {}))
        self.assertIn("the native engine is 4.0 × torch, 2.0 × dali.", text)
        self.assertIn("| torch | 250 | 125 | 4.00 | 3.00 [3.00, 3.00] | 200 | 0.50 |", text)
        self.assertIn("| torch | 4.00 [4.00, 4.00] | 4.00 [4.00, 4.00] | ≥ 3.5: kept |", text)
        self.assertIn("| dali | 2.00 [2.00, 2.00] | 2.00 [2.00, 2.00] | ≥ 2.3: missed |", text)

    def test_shows_row_for_missing_engine(self):
        text = report.markdown(result({"native": runs(1.0)}, {"ffcv": "ffcv could not be installed: no network"}))
        self.assertIn("| ffcv | not measured |", text)
        self.assertIn("\n\nffcv was not measured: ffcv could not be installed: no network.\n\n", text)

    def test_prints_narrow_lines(self):
        rounds = {engine.name: runs(2.0) for engine in report.ENGINES if engine.name != "ffcv"}
        for line in report.markdown(result(rounds, {"ffcv": "a long reason " * 20})).splitlines():
            self.assertLessEqual(len(line), 120, line)

    def test_omits_figures_of_engine_that_failed(self):
        entries = report.summary({"native": runs(1.0), "spdl": runs(2.0, rounds=3)}, {"spdl": "killed"}, 2)
        spdl = next(entry for entry in entries if entry["engine"] == "spdl")
        self.assertEqual((spdl["figures"], spdl["not_measured"]), ({}, "killed"))

    def test_reports_undecided_promise(self):
        mixed = runs(2.0, 3) + runs(3.0, 3)
        text = report.markdown(result({"native": runs(1.0), "dali": mixed}, {}))
        self.assertIn("≥ 2.3: cannot tell", text)
