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
    "inject": [],
    "seed": 0,
    "replay": None,
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
    def setUp(self):
        from loaderscope_guest import inject

        self.inject, self.slept, self.clock, self.said = inject, [], 0.0, []
        inject.time = types.SimpleNamespace(sleep=self.sleep, monotonic=lambda: self.clock)
        inject.library = types.SimpleNamespace(say=lambda **message: self.said.append(message))
        self.addCleanup(inject._by_stage.clear)

    def sleep(self, seconds):
        """Too long by a sixteenth of a second."""
        self.slept.append(seconds)
        self.clock += seconds + 0.0625

    def use(self, **given):
        self.inject._by_stage["decode"] = [self.inject._Injection(7, {
            "stage": "decode", "seconds": 0.25, "every": 1, "probability": 1, **given})]

    def test_every_second_one_of_its_worker(self):
        self.use(every=2, worker=0)
        for _ in range(4):
            self.inject.apply("decode", 0)
            self.inject.apply("decode", 1)
            self.inject.apply("augment", 0)
        self.assertEqual(len(self.slept), 2)

    def test_sleeps_make_up_for_the_one_before(self):
        self.use()
        for _ in range(3):
            self.inject.apply("decode")
        self.assertEqual(self.slept, [0.25, 0.1875, 0.1875])

    def test_the_host_is_told_once(self):
        self.use(probability=0.0)
        for _ in range(3):
            self.inject.apply("decode")
        self.assertEqual(self.said, [{"what": "injected", "number": 7}])
        self.assertEqual(self.slept, [])

    def test_samples_made_at_once_have_one_each(self):
        self.use()
        making = types.SimpleNamespace(injected={}, samples_at_once=3, worker=0)
        for _ in range(5):
            self.inject.once_per_sample("decode", making)
        self.assertEqual(len(self.slept), 3)


class Replay(unittest.TestCase):
    TURNS = {"lead": 2, "loader": 3, "replay": 4}

    def test_comes_by_turns_and_repeats_what_was_kept(self):
        from loaderscope_guest import replay

        kept, given = replay.Kept(self.TURNS), []
        for step in range(16):
            if kept.is_next():
                given.append(kept.take())
            else:
                kept.taken([step])
                given.append(step)
        again = [(number, [number]) for number in (0, 1, 2, 3, 4)] + [(0, [0]), (1, [1]), (2, [2])]
        self.assertEqual(given, [0, 1, 2, 3, 4, *again[:4], 9, 10, 11, *again[4:]])

    def test_is_never_next_where_nobody_asked(self):
        from loaderscope_guest import replay

        kept = replay.Kept(None)
        kept.taken([1])
        self.assertFalse(kept.is_next())

    def test_keeps_what_there_is_room_for_and_one_at_least(self):
        from loaderscope_guest import replay

        kept = replay.Kept(self.TURNS)
        kept._room = 10
        for _ in range(3):
            kept.taken([b"eight by", 1])
        self.assertEqual(len(kept._batches), 1)

    def test_a_batch_that_is_taken_apart_is_whole_the_next_time(self):
        from loaderscope_guest import replay

        kept = replay.Kept({"lead": 1, "loader": 0, "replay": 9})
        kept.taken({"x": [1, 2], "y": (3, [4])})
        for _ in range(2):
            _, batch = kept.take()
            self.assertEqual(batch, {"x": [1, 2], "y": (3, [4])})
            batch.pop("y")[1].clear()
            batch["x"].append(5)


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
