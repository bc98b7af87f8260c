import unittest

from peers.ratios import by_round, median_of


class MedianTest(unittest.TestCase):
    def test_one_value_says_nothing_of_others(self):
        found = median_of([3.0])
        self.assertEqual((found.median, found.low, found.high, found.confidence), (3.0, 3.0, 3.0, 0.0))

    def test_five_rounds_cannot_have_95_percent(self):
        found = median_of([5, 1, 4, 2, 3])
        self.assertEqual((found.median, found.low, found.high), (3, 1, 5))
        self.assertAlmostEqual(found.confidence, 1 - 2 / 2**5)

    def test_nine_rounds_leave_out_the_ends(self):
        found = median_of([9, 1, 8, 2, 7, 3, 6, 4, 1000])
        self.assertEqual((found.median, found.low, found.high), (6, 2, 9))
        self.assertAlmostEqual(found.confidence, 1 - 2 * (1 + 9) / 2**9)

    def test_an_even_number_of_rounds(self):
        found = median_of([1, 2, 3, 4, 5, 6])
        self.assertEqual((found.median, found.low, found.high), (3.5, 1, 6))
        self.assertGreaterEqual(found.confidence, 0.95)


class ByRoundTest(unittest.TestCase):
    def test_a_slow_round_is_slow_for_both(self):
        self.assertEqual(by_round([2.0, 20.0], [1.0, 10.0]), [2.0, 2.0])

    def test_other_rounds_are_refused(self):
        with self.assertRaises(ValueError):
            by_round([1.0], [1.0, 2.0])
