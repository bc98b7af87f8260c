"""Figures of scripts/gpu-check from results of the program that LOADERSCOPE names, with a simulated GPU."""
import copy
import pathlib
import sys
import tempfile
import types
import unittest
import unittest.mock

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "scripts"))
from gpu_check import device_work, ladder, peers, photos, plan, programs, worker  # noqa: E402
from gpu_check.runner import Line, Part  # noqa: E402

SIMULATED = "it was simulated"
SIZE = "256x192"


class ResultsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.scratch.name)
        (folder / "loaderscope").symlink_to(FOLDER / "simulated_gpu.py")
        cls.enterClassContext(unittest.mock.patch.multiple(photos, OTHER_PHOTOS=16, ROWS=640))
        visit = types.SimpleNamespace(folder=folder, scratch=folder, facts={"data": folder}, log=None)
        cls.part = Part(visit, Line("test", 120, "", None), 120)
        cls.on_gpu = cls.run_with("--decode", "hw", "--compute", "2ms")
        cls.augmented = cls.run_with("--decode", "cpu", "--augment-on", "gpu", "--transfer", "f16", "--drop-last")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def run_with(cls, *words, more=()):
        path = photos.manifest(cls.part, SIZE, *more)
        return device_work.run(cls.part, path, "--workers", 1, *words, seconds=0.3, limit_s=60)

    def test_derives_rates_from_time_of_device(self):
        found = device_work.figures(self.on_gpu)
        self.assertAlmostEqual(device_work.own_rate(found) * 45e-6, 1, delta=0.001)
        self.assertAlmostEqual(device_work.own_rate(found, "gpu-augment") * 1e-6, 1, delta=0.001)
        self.assertAlmostEqual(found["images_per_s"] * found["wall_s"] / found["samples"], 1, delta=0.01)
        self.assertEqual(found["shares"], {"engines": 1, "cuda": 0, "cpu": 0})
        self.assertEqual(found["gpu-decode"]["count"], found["batches"])

    def test_counts_submission_once(self):
        stages = self.on_gpu["stages"]
        submitted = [stages[name]["cpu_s"] for name in device_work.DEVICE_STAGES]
        self.assertEqual(device_work.work_cpu_s(stages), max(submitted))
        cpu_s = self.augmented["stages"]["decode"]["cpu_s"] + self.augmented["stages"]["gpu-augment"]["cpu_s"]
        self.assertAlmostEqual(device_work.work_cpu_s(self.augmented["stages"]), cpu_s)

    def test_finds_no_problem_but_the_simulation(self):
        self.assertEqual(device_work.problems(self.on_gpu, engines_decode_all=True), [SIMULATED])
        self.assertEqual(device_work.problems(self.augmented), [SIMULATED])

    def test_finds_open_account_and_other_decoder(self):
        result = copy.deepcopy(self.on_gpu)
        result["account"]["stall_s"]["decode"] -= 0.001
        result["decode"] = {"by_engines": 9, "by_cuda": 0, "by_cpu": 1}
        del result["stages"]["gpu-augment"]
        found = device_work.problems(result, engines_decode_all=True)
        self.assertIn("the account is 0.001", found[0])
        self.assertEqual(found[2:], ["the stage gpu-augment is missing",
                                     "engines decoded 90.0 % of the images (at least 99 %)"])

    def test_counts_refused_images(self):
        found = device_work.figures(self.run_with("--decode", "hw", more=("--progressive-share", "1")))
        self.assertEqual(found["shares"]["cpu"], 1)
        self.assertGreaterEqual(found["refused"]["progressive"], found["samples"])

    def test_finds_reads_of_resident_data(self):
        kept = self.run_with("--decode", "hw", "--resident", "stored", "--samples", "64")
        self.assertEqual(worker.resident_problems(kept), [])
        self.assertGreater(kept["first_batch"]["by_cause"]["read"], 0)
        self.assertEqual(worker.resident_problems(self.on_gpu),
                         ["workers still read samples", "the GPU keeps no data"])

    def test_counts_bytes_of_kernel(self):
        batch = self.augmented["window"]["samples"] / self.augmented["window"]["steps"]
        written = batch * 3 * 224 * 224 * 2
        copied = self.augmented["stages"]["h2d"]
        self.assertAlmostEqual(worker.kernel_bytes(self.augmented, "f16"), written + copied["bytes"] / copied["count"])
        self.assertGreater(copied["bytes"], 0)

    def test_predicts_upper_rungs_with_the_model(self):
        alone = {"read_s": 30e-6, "gpu-decode": {"images_per_s": 33_000}, "gpu-augment": {"images_per_s": 1e6}}
        third, fourth = (ladder.predict(self.part, name, alone) for name in list(ladder.RUNGS)[2:])
        self.assertLess(third, fourth)
        self.assertLessEqual(fourth, 1.01 * ladder.TOP)


class RulesTest(unittest.TestCase):
    def test_finds_width_for_rate_of_first_rung(self):
        self.assertEqual(ladder.width_for(4_500, 4_500, 1_300), ladder.NARROWEST)
        self.assertEqual(ladder.width_for(4_500, 3_000, 1_300), ladder.NARROWEST)
        self.assertEqual(ladder.width_for(4_500, 9_000, 4_500), ladder.WIDEST)
        self.assertEqual(ladder.width_for(4_500, 9_000, 3_000), 396)
        self.assertEqual(ladder.width_for(4_500, 4_000, 4_100), ladder.NARROWEST)

    def test_rejects_peer_that_decodes_on_cpu(self):
        answer = {"images": 100, "wall_s": 2.0, "cpu_s": 1.0, "device": "cuda:0"}
        self.assertEqual(peers.peer_figures(answer), {**answer, "images_per_s": 50, "cpu_s_per_image": 0.01,
                                                      "cores_used": 0.5})
        with self.assertRaises(programs.Failure):
            peers.peer_figures({**answer, "device": "cpu"})

    def test_keeps_lines_of_worker_within_their_time(self):
        lines = [line for line in plan.LINES if line.name in plan.WORKER_NAMES]
        self.assertLess(sum(line.limit_s for line in lines), plan.WORKER_SECONDS_MOST)
        self.assertEqual(plan.LINES[-1].name, "worker-hurt")


if __name__ == "__main__":
    unittest.main()
