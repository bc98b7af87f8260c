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


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
