"""Calls that decode or augment on the GPU, as the program and the host see them, without PyTorch: gpu_stages_test.py
LIBRARY, where LIBRARY is libloaderscope_guest.so."""

import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import timed_test


def setUpModule():
    timed_test.LIBRARY = LIBRARY
    timed_test.setUpModule()


def tearDownModule():
    timed_test.tearDownModule()


class Tensor:
    def __init__(self, is_cuda):
        self.is_cuda = is_cuda

    def data_ptr(self):
        return 0


class Hostile:
    """Fails when it is examined."""

    def __getattribute__(self, name):
        raise RuntimeError(name)


class Transform:
    def __init__(self, inner=None):
        self.inner = inner

    def forward(self, *images):
        if type(images[0]) is str:
            raise ValueError(images[0])
        return self.inner.forward(*images) if self.inner else images


def decode(images, mode="RGB", device="cpu"):
    return [f"{mode} on {device}" for _ in images]


class Gpu:
    """Records the stages that are begun and ended."""

    def __init__(self):
        self.did = []
        self.marks = True

    def begin(self, stage):
        if self.marks:
            self.did.append(stage)
        return int(self.marks)

    def end(self):
        self.did.append("end")


class GpuStagesTest(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import device_copies, gpu, gpu_stages, library, stages
        from loaderscope_guest.library import STAGES

        self.gpu_stages, self.library = gpu_stages, library
        self.decode_stage, self.augment_stage = STAGES["gpu-decode"], STAGES["gpu-augment"]
        self.gpu = Gpu()
        self.iteration = mock.Mock()
        for patch in (mock.patch.object(library, "gpu_begin_stage", self.gpu.begin),
                      mock.patch.object(library, "gpu_end_stage", self.gpu.end),
                      mock.patch.object(gpu.watch, "sees", True),
                      mock.patch.object(device_copies.step, "iteration", self.iteration),
                      mock.patch.object(Transform, "forward", self.timed(stages.AUGMENT, Transform.forward,
                                                                         gpu_stages.augmenting))):
            patch.start()
            self.addCleanup(patch.stop)
        self.decode = self.timed(stages.DECODE, decode, gpu_stages.decoding, only=False)
        self.addCleanup(library.step, False)
        library.step(True)

    def timed(self, stage, function, make, only=True):
        from loaderscope_guest import library, stages

        timed = stages.timed(function, stage)
        library.set_step_call(timed, make(function), only)
        return timed

    def test_marks_transforms_of_gpu_tensors_once(self):
        image = Tensor(True)
        self.assertEqual(Transform(Transform()).forward(image, 3), (image, 3))
        self.assertEqual(self.gpu.did, [self.augment_stage, "end"])
        Transform().forward({"image": [Tensor(True)]})
        self.assertEqual(len(self.gpu.did), 4)

    def test_leaves_calls_for_cpu_alone(self):
        Transform().forward(Tensor(False))
        Transform().forward(7)
        self.assertEqual(self.decode([1, 2]), ["RGB on cpu"] * 2)
        self.assertEqual(self.decode([1], "RGB", "cpu"), ["RGB on cpu"])
        self.assertEqual(self.gpu.did, [])

    def test_leaves_calls_outside_step_alone(self):
        self.library.step(False)
        Transform().forward(Tensor(True))
        self.decode([1], device="cuda")
        self.assertEqual(self.gpu.did, [])

    def test_leaves_calls_alone_if_gpu_is_not_watched(self):
        self.gpu.marks = False
        self.assertEqual(self.decode([1], device="cuda"), ["RGB on cuda"])
        self.iteration.fact.assert_not_called()
        from loaderscope_guest import gpu

        self.gpu.marks = True
        with mock.patch.object(gpu.watch, "sees", False):
            Transform().forward(Tensor(True))
        self.assertEqual(self.gpu.did, [])

    def test_ends_stage_after_exception(self):
        with self.assertRaisesRegex(ValueError, "odd"):
            Transform().forward("odd", Tensor(True))
        self.assertEqual(self.gpu.did, [self.augment_stage, "end"])
        Transform().forward(Tensor(True))  # the step continues
        self.assertEqual(len(self.gpu.did), 4)

    def test_survives_hostile_arguments(self):
        image = Hostile()
        self.assertIs(Transform().forward(image)[0], image)
        self.assertEqual(self.gpu.did, [])

    def test_reports_images_and_wait_of_decoder(self):
        from loaderscope_guest.counters import counters
        from loaderscope_guest.library import FACT

        for arguments, named in ((([1, 2, 3],), {"device": "cuda:0"}), (([1, 2, 3], "GRAY", 0), {})):
            self.assertEqual(len(self.decode(*arguments, **named)), 3)
            kind, = self.iteration.fact.call_args.args
            named = self.iteration.fact.call_args.kwargs
            self.assertEqual((kind, named["count"]), (FACT.decoded_on_gpu, 3))
            self.assertLessEqual(named["begin"], named["end"])
        self.assertEqual(self.gpu.did, [self.decode_stage, "end"] * 2)
        values = counters._values
        self.assertEqual(values["gpu_decode.images"][0], 3 * values["gpu_decode.calls"][0])

    def test_keeps_time_of_worker(self):
        """The function is a stage of a batch, as before."""
        from loaderscope_guest import library

        library.step(False)
        library.begin_work(0, 0, 0, 1)
        self.addCleanup(library.end_work, 0)
        before = library.spent_by(self.decode)
        self.decode([1], device="cuda")
        self.assertGreater(library.spent_by(self.decode), before)
        self.assertEqual(self.gpu.did, [])


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
