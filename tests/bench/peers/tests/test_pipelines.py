"""Every pipeline gives the same kind of batches; what is not installed here is skipped."""

import dataclasses
import os
import pathlib
import random
import tempfile
import unittest

from peers import pipelines
from peers.pipelines.spdl_ffmpeg import random_crop


class PipelineTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        images = pathlib.Path(self._folder.name) / "images" / "class"
        images.mkdir(parents=True)
        for number in range(3):
            (images / f"{number}.jpg").write_bytes(b"")
        self.options = pipelines.Options(str(images.parent), os.path.join(self._folder.name, "made"), workers=0,
                                         batch_size=3, size=32)

    def _batch(self, loader, workers):
        options = dataclasses.replace(self.options, workers=workers)
        try:
            from PIL import Image

            for path in options.files():
                Image.new("RGB", (60, 40), (255, 128, 0)).save(path)
            return next(iter(pipelines.load_module(loader).make_loader(options)))
        except ImportError as error:
            self.skipTest(str(error))

    def _expect_batches(self, loader, workers=0):
        batch = self._batch(loader, workers)
        self.assertEqual(tuple(batch.shape[1:]), (3, 32, 32))
        self.assertIn("float32", str(batch.dtype))
        # Red at 255, green at 128 and blue at 0, normalised; JPEG and scaling are not exact.
        for channel, expected in enumerate((2.249, 0.205, -1.804)):
            self.assertAlmostEqual(float(batch[:, channel].min()), expected, delta=0.1)
            self.assertAlmostEqual(float(batch[:, channel].max()), expected, delta=0.1)

    def test_makes_batches_with_torch(self):
        self._expect_batches("torch:pillow")

    def test_makes_batches_with_torch_opencv(self):
        self._expect_batches("torch:opencv")

    def test_makes_batches_with_webdataset(self):
        self._expect_batches("webdataset:pillow")

    def test_makes_batches_with_dali(self):
        self._expect_batches("dali:cpu", workers=1)

    def test_makes_batches_with_dali_tar(self):
        self._expect_batches("dali:tar", workers=1)

    def test_makes_batches_with_streaming(self):
        self._expect_batches("streaming:pillow")

    def test_makes_batches_with_litdata(self):
        self._expect_batches("litdata:pillow")

    def test_makes_batches_with_datasets(self):
        self._expect_batches("datasets:pillow")

    def test_makes_batches_with_spdl(self):
        self._expect_batches("spdl:ffmpeg", workers=1)

    def test_makes_batches_with_ffcv(self):
        self._expect_batches("ffcv:jpeg", workers=1)

    def test_lists_files_in_the_same_order(self):
        self.assertEqual([os.path.basename(path) for path in self.options.files()], ["0.jpg", "1.jpg", "2.jpg"])

    def test_rejects_folder_without_files(self):
        empty = pipelines.Options(self._folder.name + "/none", "")
        with self.assertRaisesRegex(FileNotFoundError, "no JPEG files"):
            empty.files()

    def test_changes_made_path_for_other_files(self):
        before, _ = self.options.made_path("shards")
        (pathlib.Path(self.options.folder) / "class" / "3.jpg").write_bytes(b"another")
        self.assertNotEqual(self.options.made_path("shards")[0], before)


class RandomCropTest(unittest.TestCase):
    def test_stays_within_the_image(self):
        draw = random.Random(0)
        for _ in range(1000):
            w, h, left, top = random_crop(500, 375, draw)
            self.assertTrue(0 < w <= 500 - left and 0 < h <= 375 - top and left >= 0 and top >= 0)

    def test_crops_flat_image_in_its_middle(self):
        self.assertEqual(random_crop(1000, 2, random.Random(0)), (3, 2, 498, 0))
