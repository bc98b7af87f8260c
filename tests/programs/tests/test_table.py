import unittest

import table


def row(**more):
    return {"name": "one", "kind": "setting", "waited": 0.5, "cores_used": 1.0, "rates_before": [100.0], "advice": "no-workers",
            "changes": ["num-workers=2"], "promised": 200.0, "ratio_promised": 2.0, "ratio_got": 1.9, "rates_after": [190.0],
            "rates_measured": [98.0], "window_s": 10.0, **more}


class TableTest(unittest.TestCase):
    def test_counts_promises_of_programs_that_wait(self):
        busy = row(waited=0.04)
        late = row(ratio_got=1.7)
        unknown = row(ratio_promised=None, ratio_got=0.9, kind="rewriting")
        del unknown["ratio_promised"], unknown["promised"]
        text = table.summary([row(), busy, late, unknown, {"name": "two", "failed": "exit code 1"}])
        self.assertIn("Of 4 programs 3 wait at least 5% of the time, and 2 of 3 (67%) of these got a\nfigure", text)
        self.assertIn("Of the promises, 2 of 3 (67%) were kept within 10%. 1 of 4 (25%)", text)
        self.assertIn("a setting for 2, rewriting for\n1, and missing for 0. 1 programs did not run", text)

    def test_prints_cell_for_each_column(self):
        columns = table._HEAD.splitlines()[0].count("|")
        none = {"name": "none", "no_figures": "no setting helps", "cores_used": 1, "rates_before": [1.0], "waited": None}
        for one in (row(), none, {"name": "two", "failed": "exit code 1"}):
            self.assertEqual(table.line(one).count("|"), columns)

    def test_counts_promise_in_epochs_for_short_window(self):
        self.assertTrue(table.is_kept(row(ratio_got=1.2, ratio_of_epochs=1.95)))
        self.assertFalse(table.is_kept(row(ratio_got=1.2)))
