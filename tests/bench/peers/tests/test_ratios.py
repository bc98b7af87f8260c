import unittest

from peers.ratios import divide_rounds, median_interval


class MedianTest(unittest.TestCase):
    def test_reports_no_confidence_for_one_value(self):
        found = median_interval([3.0])
        self.assertEqual((found.median, found.low, found.high, found.confidence), (3.0, 3.0, 3.0, 0.0))

    def test_limits_confidence_of_five_rounds(self):
        found = median_interval([5, 1, 4, 2, 3])
        self.assertEqual((found.median, found.low, found.high), (3, 1, 5))
        self.assertAlmostEqual(found.confidence, 1 - 2 / 2**5)

    def test_leaves_out_the_ends_of_nine_rounds(self):
        found = median_interval([9, 1, 8, 2, 7, 3, 6, 4, 1000])
        self.assertEqual((found.median, found.low, found.high), (6, 2, 9))
        self.assertAlmostEqual(found.confidence, 1 - 2 * (1 + 9) / 2**9)

    def test_handles_even_number_of_rounds(self):
        found = median_interval([1, 2, 3, 4, 5, 6])
        self.assertEqual((found.median, found.low, found.high), (3.5, 1, 6))
        self.assertGreaterEqual(found.confidence, 0.95)


class RoundRatiosTest(unittest.TestCase):
    def test_cancels_slow_round(self):
        self.assertEqual(divide_rounds([2.0, 20.0], [1.0, 10.0]), [2.0, 2.0])

    def test_rejects_different_numbers_of_rounds(self):
        with self.assertRaises(ValueError):
            divide_rounds([1.0], [1.0, 2.0])
