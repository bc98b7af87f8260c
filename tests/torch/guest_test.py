"""The Python side of the guest without PyTorch: guest_test.py LIBRARY, where LIBRARY is libloaderscope_guest.so."""

import inspect
import io
import json
import os
import shutil
import sys
import tempfile
import types
import unittest

FOLDER = tempfile.mkdtemp()
SETTINGS = {
    "stages": {"read": 0, "read.decompress": 1, "decode": 2, "augment": 3, "collate": 4, "opaque": 5},
    "overrides": {},
    "inject": [{"stage": "decode", "seconds": 0.0, "every": 2, "probability": 1, "worker": 0}],
    "seed": 0,
    "trainer": {},
}
PACKAGE = os.path.join(os.path.dirname(__file__), "..", "..", "src", "engine", "guest", "python")


def setUpModule():
    sys.path.insert(0, os.path.abspath(PACKAGE))
    os.environ["LOADERSCOPE_GUEST"] = FOLDER
    shutil.copy(LIBRARY, os.path.join(FOLDER, "libloaderscope_guest.so"))
    with open(os.path.join(FOLDER, "settings.json"), "w") as file:
        json.dump(SETTINGS, file)


def tearDownModule():
    shutil.rmtree(FOLDER)


class Hooks(unittest.TestCase):
    def test_run_after_the_import_and_leave_the_module_as_it_is(self):
        from loaderscope_guest import hooks

        seen = []
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "looked_into.py"), "w") as file:
                file.write("value = 1\n")
            sys.path.insert(0, folder)
            hooks.after_import("looked_into", lambda module: seen.append(module.value))
            sys.meta_path.insert(0, hooks._finder)
            import looked_into

            self.assertEqual(seen, [1])
            self.assertNotIn("LoaderAndThen", type(looked_into.__loader__).__name__)
            hooks.after_import("looked_into", lambda module: seen.append(2))
            self.assertEqual(seen, [1, 2])

    def test_that_fail_do_not_break_the_import(self):
        from loaderscope_guest import hooks

        def breaks(module):
            raise RuntimeError("no")

        hooks.run_all(types.ModuleType("x"), [breaks])


class Overrides(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import overrides

        self.overrides = overrides
        self.addCleanup(overrides.OVERRIDES.clear)

    def applied(self, given, **flags):
        def init(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 prefetch_factor=None, persistent_workers=False):
            pass

        self.overrides.OVERRIDES.update(flags)
        self.overrides.apply(inspect.signature(init), given)
        return given

    def test_take_the_place_of_arguments(self):
        self.assertEqual(self.applied({"num_workers": 2}, num_workers=4, batch_size=8),
                         {"num_workers": 4, "batch_size": 8})

    def test_without_workers_take_along_what_needs_them(self):
        given = {"num_workers": 2, "prefetch_factor": 4, "persistent_workers": True}
        self.assertEqual(self.applied(given, num_workers=0), {"num_workers": 0})

    def test_refuse_what_a_sampler_decides(self):
        for given, flags in (({"sampler": [1]}, {"shuffle": True}), ({"batch_sampler": [[1]]}, {"batch_size": 2}),
                             ({"batch_size": None}, {"batch_size": 2}), ({}, {"in_order": False}),
                             ({}, {"prefetch_factor": 4})):
            self.overrides.OVERRIDES.clear()
            with self.assertRaises(SystemExit):
                self.applied(given, **flags)


class Inject(unittest.TestCase):
    def test_every_second_one_of_its_worker(self):
        from loaderscope_guest import inject

        slept = []
        inject.time = types.SimpleNamespace(sleep=slept.append)
        for _ in range(4):
            inject.apply("decode", 0)
            inject.apply("decode", 1)
            inject.apply("augment", 0)
        self.assertEqual(slept, [0.0, 0.0])


class Sizes(unittest.TestCase):
    def test_of_what_batches_are_made_of(self):
        from loaderscope_guest.sizes import bytes_of

        array = types.SimpleNamespace(nbytes=12)
        self.assertEqual(bytes_of({"x": array, "y": [array, (b"12345", "abc")], "z": 7}), 32)
        self.assertEqual(bytes_of(None), 0)


class Files(unittest.TestCase):
    def test_read_as_before(self):
        from loaderscope_guest import files

        path = os.path.join(FOLDER, "settings.json")
        opened = files._timed_open(io.open)
        with io.open(path, "rb") as file:
            expected = file.read()
        files._is_here = lambda: True
        with opened(path, "rb") as file:
            self.assertIsInstance(file, io.BufferedReader)
            self.assertEqual(file.name, path)
            self.assertEqual(file.peek(1)[:1] + file.read(), expected[:1] + expected)
            self.assertEqual(file.seek(0), 0)
            self.assertGreater(file.fileno(), 2)
            self.assertEqual(b"".join(file), expected)
        with opened(path) as file:
            self.assertEqual(file.read().encode(), expected)
        with self.assertRaises(FileNotFoundError):
            opened(path + ".missing", "rb")


class Identity(unittest.TestCase):
    def test_orders_are_told_apart(self):
        from loaderscope_guest import data_identity

        said = []
        data_identity.library = types.SimpleNamespace(say=lambda **message: said.append(message))
        iteration = types.SimpleNamespace(number=0, generation=0)
        for indices in ([0, 1], [2, 3]), ([3, 1], [2, 0]):
            order = data_identity.Order()
            for index in indices:
                order.add(iteration, index)
            order.say(iteration)
            order.say(iteration)
        self.assertEqual([message["ascending"] for message in said], [True, False])
        self.assertNotEqual(said[0]["hash"], said[1]["hash"])
        self.assertEqual(said[0]["samples"], 4)


class FakeLoader:
    def __init__(self, dataset, workers=2):
        self.dataset, self.num_workers, self.batch_size = dataset, workers, 8


class Numbers(unittest.TestCase):
    """Of DataLoaders."""

    def setUp(self):
        from loaderscope_guest import places, torch_loader

        self.loaders = torch_loader._Loaders()
        self.places = places

    def number(self, loader):
        self.places.remember(loader)
        return self.loaders.number_of(loader)

    def test_stay_with_a_loader_that_is_made_anew(self):
        numbers = [self.number(FakeLoader([index])) for index in range(3)]
        self.assertEqual(numbers, [0, 0, 0])

    def test_differ_where_both_are_alive_or_unlike(self):
        alive = [FakeLoader([1]), FakeLoader([1])]
        self.assertEqual([self.number(loader) for loader in alive], [0, 1])
        self.assertEqual([self.number(loader) for loader in reversed(alive)], [1, 0])
        self.assertEqual(self.number(FakeLoader([1], workers=3)), 2)

    def test_come_with_the_line_of_the_program(self):
        loader = FakeLoader([])
        self.places.remember(loader)
        line = inspect.currentframe().f_lineno - 1
        self.assertEqual(self.places.of(loader).line, f"{os.path.abspath(__file__)}:{line}")


class TypesMadeInC(unittest.TestCase):
    def test_are_looked_into_like_others(self):
        import collections

        from loaderscope_guest import stages

        original, called = collections.deque.rotate, []
        stages._set(collections.deque, "rotate", lambda self, by: called.append(by))
        try:
            collections.deque().rotate(3)
        finally:
            stages._set(collections.deque, "rotate", original)
        self.assertEqual(called, [3])
        turned = collections.deque([1, 2, 3])
        turned.rotate(1)
        self.assertEqual(list(turned), [3, 1, 2])

    def test_reads_know_their_bytes(self):
        from loaderscope_guest import stages

        self.assertEqual(stages._bytes_in(b"12345"), 5)
        self.assertEqual(stages._bytes_in(types.SimpleNamespace(nbytes=12)), 12)
        self.assertEqual(stages._bytes_in({"a": 1}), 0)


class TinySamples(unittest.TestCase):
    def making(self, nanoseconds):
        """Of a batch of two samples that took so long."""
        from loaderscope_guest import inject, worker

        inject._by_stage.clear()
        fetcher = types.SimpleNamespace(auto_collation=True)
        fetcher.dataset = worker._Dataset([10, 11])
        making = worker.Making(0, 0)
        making._says_draws = False
        making.watch(fetcher)
        making.begin(0, 0, worker.now() - nanoseconds, [0, 1])
        worker.making = making
        values = [fetcher.dataset[key] for key in (0, 1)]
        worker.making = None
        self.assertEqual(values, [10, 11])
        self.assertEqual(making.samples, 2)
        making.finish(values, by_trainer=False)
        return making, fetcher

    def test_are_not_told_apart_once_they_are_seen_to_be(self):
        making, fetcher = self.making(nanoseconds=0)
        self.assertEqual(fetcher.dataset, [10, 11])
        making.begin(1, 0, 0, [0, 1, 0])
        self.assertEqual(making.samples, 3)

    def test_are_told_apart_again_in_the_next_epoch(self):
        making, _ = self.making(nanoseconds=0)
        making.watch(types.SimpleNamespace(auto_collation=True))
        making.begin(1, 0, 0, [0, 1, 0])
        self.assertEqual(making.samples, 0)

    def test_others_are(self):
        _, fetcher = self.making(nanoseconds=10**9)
        self.assertNotEqual(fetcher.dataset, [10, 11])


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
