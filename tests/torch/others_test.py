"""The Python side of the guest for loaders and frameworks of other packages, without these: others_test.py LIBRARY, where
LIBRARY is libloaderscope_guest.so."""

import os
import sys
import time
import types
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest_test


def setUpModule():
    guest_test.LIBRARY = LIBRARY
    guest_test.setUpModule()


def tearDownModule():
    guest_test.tearDownModule()


class Dali(unittest.TestCase):
    def test_maps_every_operator_to_stage(self):
        from loaderscope_guest import dali, library

        for operator, stage in (("readers__File", "read"), ("decoders__ImageRandomCrop", "decode"), ("Resize", "augment"),
                                ("PythonFunction", "opaque"), ("MakeContiguous", "collate")):
            self.assertEqual(dali.operator_stage(operator), stage)
        for row in dali.OPERATORS:
            self.assertIn(row.stage, library.STAGES)

    def test_keeps_other_tool_of_program(self):
        from loaderscope_guest import dali, library

        for before, after in ((None, library.PATH), ("/opt/nsys.so", "/opt/nsys.so")):
            with mock.patch.dict(os.environ):
                os.environ.pop("NVTX_INJECTION64_PATH", None)
                if before is not None:
                    os.environ["NVTX_INJECTION64_PATH"] = before
                dali.listen(None)
                self.assertEqual(os.environ["NVTX_INJECTION64_PATH"], after)

    def test_names_operators_of_pipeline(self):
        from loaderscope_guest import dali, library, opaque

        class Pipeline:
            _ops = [types.SimpleNamespace(name="Reader", _op=types.SimpleNamespace(schema_name="readers__File"))]
            num_threads, cpu_queue_size = 3, 2

            def build(self):
                return "built"

        dali.install(types.SimpleNamespace(Pipeline=Pipeline))
        operators = []
        with mock.patch.object(library, "operator", lambda name, stage: operators.append((name, stage))):
            with mock.patch.object(opaque, "seen_inside", ""):
                self.assertEqual(Pipeline().build(), "built")
        read = library.STAGES["read"]
        self.assertEqual(operators[:2], [(b"readers__File", read), (b"Reader", read)])


class Counters(unittest.TestCase):
    def test_sends_sums_with_number_of_things(self):
        from loaderscope_guest import counters, library

        own, said = counters.Counters(), []
        own.report()
        own.add("datasets.mapped", 1, 1)
        own.add("datasets.mapped", 0, 1)
        own.put("dali.queue", 2)
        own.watch("dali.busy_threads", lambda: 5.0)
        with mock.patch.object(library, "say", lambda **message: said.append(message)):
            own.report()
        self.assertEqual(said[0]["values"]["datasets.mapped"], [1.0, 2.0])
        self.assertEqual(said[0]["values"]["dali.queue"], [2.0, 1.0])
        self.assertEqual(said[0]["values"]["dali.busy_threads"][0], 0.0)

    def test_sends_changed_counters_only(self):
        from loaderscope_guest import counters, library

        own, said = counters.Counters(), []
        with mock.patch.object(library, "say", lambda **message: said.append(message["values"])):
            for parts in ({"a": 1}, {"a": 1}, {"a": 1, "b": 2}):
                own.put("dali.queue", 2)
                own.put("memory.copied_bytes", 3, parts=parts)
                own.send()
        self.assertEqual(said, [{"dali.queue": [2.0, 1.0], "memory.copied_bytes": [3.0, 1.0, {"a": 1}]},
                                {"memory.copied_bytes": [3.0, 1.0, {"a": 1, "b": 2}]}])

    def test_excludes_counters_of_parent(self):
        from loaderscope_guest import counters

        own = counters.Counters()
        own.put("dali.queue", 2)
        child = os.fork()
        if child == 0:
            os._exit(0 if own._values == {} else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Wrappers(unittest.TestCase):
    def test_excludes_waits_and_copies_from_own_time(self):
        from loaderscope_guest import library, device_copies, wrappers
        from loaderscope_guest.delivered import delivered

        def wait_and_copy():
            time.sleep(0.002)
            delivered.waited_for_all += 1_000_000_000
            return "batch"

        module = types.SimpleNamespace(outer=lambda: module.inner(), inner=wait_and_copy)
        wrappers._wrap(module, wrappers.Row("framework", "outer inner missing", "framework"))
        facts = []
        iteration = types.SimpleNamespace(fact=lambda kind, begin, end: facts.append(end - begin))
        with mock.patch.object(device_copies.step, "iteration", iteration), \
                mock.patch.object(library.flags, "is_joined", lambda: True):
            self.assertEqual(module.outer(), "batch")
            self.assertEqual(facts, [])  # all of it was a wait
            delivered.waited_for_all = 0
            with mock.patch.object(module, "inner", lambda: time.sleep(0.002)):
                module.outer()
        self.assertEqual(len(facts), 1)
        self.assertGreaterEqual(facts[0], 2_000_000)


class RayData(unittest.TestCase):
    """Iterator of batches, as far as the guest hooks it."""

    def test_reports_stages_of_batch(self):
        from loaderscope_guest import library, opaque, ray_data

        now = time.perf_counter()
        spans = [types.SimpleNamespace(start_s=now - 2, end_s=now - 1), types.SimpleNamespace(start_s=now - 9, end_s=now - 8)]
        stages = [("format", spans), ("production_wait", []), ("a stage of tomorrow", spans[:1])]

        class BatchIterator:
            def __iter__(self):
                return iter([1, 2])

            def _attribute_blocked_time(self, batch, begun, ended):
                self.attributed = True

        work = []
        with mock.patch.object(opaque, "seen_inside", ""), \
                mock.patch.object(library, "others_did", lambda *what: work.append(what)):
            ray_data.install(types.SimpleNamespace(BatchIterator=BatchIterator))
            timings = types.SimpleNamespace(stages=lambda: stages)
            batch = types.SimpleNamespace(metadata=types.SimpleNamespace(stage_timings=timings))
            iterator = BatchIterator()
            iterator._attribute_blocked_time(batch, now - 3, now)
        self.assertTrue(iterator.attributed)
        self.assertEqual([stage for stage, *_ in work], [library.STAGES["decode"], library.STAGES["opaque"]])
        for _, begin, end, cpu in work:
            self.assertAlmostEqual((end - begin) * 1e-9, 1, places=3)
            self.assertLessEqual(cpu, end - begin)
        self.assertEqual(list(BatchIterator()), [1, 2])


class LookedUp(unittest.TestCase):
    def test_counts_rows_bytes_and_faults(self):
        from loaderscope_guest import huggingface, batch_work

        class Dataset:
            _data = types.SimpleNamespace(nbytes=1000, num_rows=10)
            _indices = object()

            def _getitem(self, key):
                return key

        huggingface.install_counts(types.SimpleNamespace(Dataset=Dataset))
        counted = {}
        maker = types.SimpleNamespace(is_here=lambda: True)
        with mock.patch.object(batch_work, "current", maker), \
                mock.patch.object(huggingface.counters, "add", lambda name, value, of: counted.setdefault(name, (value, of))):
            self.assertEqual(Dataset()._getitem([3, 4]), [3, 4])
            self.assertEqual(Dataset()._getitem("column"), "column")
        self.assertEqual(counted["datasets.mapped"], (2, 2))
        self.assertEqual(counted["datasets.row_bytes"], (200.0, 2))
        self.assertEqual(counted["datasets.row_faults"][1], 2)


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
