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
        self.assertIn("Of 4 programs 3 wait at least 5% of the time, and 2 of 3 (67%) of these got a figure", " ".join(text.split()))
        self.assertIn("Of the promises, 2 of 3 (67%) were kept within 10%. 1 of 4 (25%)", " ".join(text.split()))
        self.assertIn("a setting for 2, rewriting for 1, and missing for 0. 1 programs did not run", " ".join(text.split()))

    def test_prints_cell_for_each_column(self):
        none = {"name": "none", "no_figures": "the run is not steady", "cores_used": 1, "rates_before": [1.0], "waited": None}
        failed = {"name": "two", "failed": "exit code 1"}
        lines = table.tables([row(), none, failed]).splitlines()
        first, second = lines[:lines.index("")], lines[-4:]
        self.assertEqual([len(first), {line.count("|") for line in first}], [5, {len(table._ADVICE_HEAD) + 1}])
        self.assertEqual([len(second), {line.count("|") for line in second}], [4, {len(table._RATES_HEAD) + 1}])

    def test_prints_narrow_lines(self):
        programs = [row(name="n" * 24, promised=62795.0, rates_before=[57377.0, 57377.0], rates_after=[62795.0, 62795.0], ratio_of_epochs=1.5,
                        changes=["num-workers=128", "persistent-workers=true"], no_figures="the model misses the run " * 9),
                    {"name": "two", "failed": "exit code 1: " + "a long reason " * 20}]
        about = {"gpu": "a GPU", "cpu": "a CPU of two sockets", "cores": 2, "kernel": "6.1", "date": "2026-01-01",
                 "loaderscope": "loaderscope 0.1.0", "command": "scripts/follow-advice --set kinds", "set": "kinds"}
        for line in table.markdown({**about, "programs": programs}).splitlines():
            self.assertLessEqual(len(line), 120, line)

    def test_numbers_reason_once(self):
        notes = table._Notes()
        self.assertEqual([notes.number(text) for text in ("a", "b", "a")], ["(1)", "(2)", "(1)"])
        self.assertEqual(notes.paragraph(), "(1) A. (2) B.")

    def test_counts_promise_in_epochs_for_short_window(self):
        self.assertTrue(table.is_kept(row(ratio_got=1.2, ratio_of_epochs=1.95)))
        self.assertFalse(table.is_kept(row(ratio_got=1.2)))
