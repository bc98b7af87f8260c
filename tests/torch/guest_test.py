"""The Python side of the guest without PyTorch: guest_test.py LIBRARY, where LIBRARY is libloaderscope_guest.so."""

import functools
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
    def setUp(self):
        from loaderscope_guest import data_identity, random_numbers

        self.said = []
        for module in (data_identity, random_numbers):
            before = module.library
            self.addCleanup(setattr, module, "library", before)
            module.library = types.SimpleNamespace(say=lambda **message: self.said.append(message))

    def test_orders_are_told_apart(self):
        from loaderscope_guest import data_identity

        iteration = types.SimpleNamespace(number=0, generation=0)
        for indices in (range(12), range(11, -1, -1), range(5)):
            order = data_identity.Order(shuffled=True)
            order.add(iteration, list(indices))
            order.say(iteration)
            order.say(iteration)
        self.assertEqual([message["shuffled"] for message in self.said], [False, True])
        self.assertNotEqual(self.said[0]["hash"], self.said[1]["hash"])
        self.assertEqual(self.said[0]["samples"], 12)

    def test_which_samplers_shuffle(self):
        from loaderscope_guest.data_identity import shuffles

        def loader(**sampler):
            return types.SimpleNamespace(sampler=types.SimpleNamespace(**sampler))

        self.assertTrue(shuffles(loader(shuffle=True)))
        self.assertFalse(shuffles(loader(shuffle=False, set_epoch=print)))
        self.assertTrue(shuffles(loader(set_epoch=print)))
        self.assertFalse(shuffles(loader()))

    def test_streams_of_alike_samples_say_nothing(self):
        from loaderscope_guest.data_identity import Stream

        making = types.SimpleNamespace(iterator=0, generation=0, worker=1)
        for samples in ([0, 0, 0, 0, 0], [1, 2, 3, 4, 5]):
            stream = Stream(workers=2, declared=10)
            for sample in samples:
                stream.add(making, sample)
            stream.end(making)
            stream.end(making)
        self.assertEqual([message["what"] for message in self.said], ["stream_end", "stream", "stream_end"])
        self.assertEqual(self.said[-1]["samples"], 5)

    def test_only_generators_that_are_used_are_told(self):
        import random

        from loaderscope_guest.random_numbers import FirstDraws

        dataset = types.SimpleNamespace(rng=random.Random(1), idle=random.Random(2))
        making = types.SimpleNamespace(iterator=0, generation=0, worker=0, dataset=dataset)
        draws = FirstDraws(making)
        dataset.rng.random()
        draws.say(making)
        self.assertEqual(self.said[0]["own"], ["rng"])
        self.assertIn("dataset", self.said[0])
        self.assertNotIn("python", self.said[0])


class DatasetValues(unittest.TestCase):
    def test_settings_are_plain_values_wherever_they_stand(self):
        from loaderscope_guest.dataset_values import settings_of

        transform = types.SimpleNamespace(p=0.5, table=object())
        dataset = types.SimpleNamespace(size=3, names=["a", "b"], transforms=[transform], lock=print, huge="x" * 5000)
        before = settings_of(dataset)
        self.assertEqual({"size", "names", "transforms.0.p"} & set(before), {"size", "names", "transforms.0.p"})
        self.assertNotIn("huge", before)
        self.assertNotIn("lock", before)
        transform.p = 0.9
        self.assertEqual([name for name, value in settings_of(dataset).items() if before[name] != value],
                         ["transforms.0.p"])

    def test_endless_ones_end(self):
        from loaderscope_guest.dataset_values import settings_of

        dataset = types.SimpleNamespace(count=1)
        dataset.itself = dataset
        dataset.many = [types.SimpleNamespace(x=i) for i in range(100_000)]
        self.assertLess(len(settings_of(dataset)), 300)


class PaddingShare(unittest.TestCase):
    class Tensor:
        def __init__(self, count):
            self.count = count

        def numel(self):
            return self.count

    def test_of_samples_that_differ(self):
        from loaderscope_guest.padding import real_and_padded

        samples = [{"ids": self.Tensor(3), "x": self.Tensor(8)}, {"ids": self.Tensor(5), "x": self.Tensor(8)}]
        self.assertEqual(real_and_padded(samples, {"ids": self.Tensor(10), "x": self.Tensor(16)}), (8, 10))

    def test_of_others_nothing_is_claimed(self):
        from loaderscope_guest.padding import real_and_padded

        alike = [self.Tensor(4), self.Tensor(4)]
        self.assertEqual(real_and_padded(alike, self.Tensor(8)), (0, 0))
        differ = [self.Tensor(3), self.Tensor(5)]
        self.assertEqual(real_and_padded(differ, self.Tensor(8)), (0, 0))  # put behind each other
        self.assertEqual(real_and_padded(differ, [self.Tensor(3), self.Tensor(5)]), (0, 0))
        self.assertEqual(real_and_padded("text", None), (0, 0))

    def test_of_lists_of_numbers(self):
        from loaderscope_guest.padding import real_and_padded

        self.assertEqual(real_and_padded([([1, 2], 0), ([1, 2, 3], 1)], (self.Tensor(6), self.Tensor(2))), (5, 6))


class UserCode(unittest.TestCase):
    def test_names(self):
        from loaderscope_guest import user_code

        def crop():
            pass

        class Photos:
            def __getitem__(self, index):
                pass

        self.assertRegex(user_code.name_of(crop), r"crop \(guest_test.py:\d+\)$")
        self.assertRegex(user_code.name_of(functools.partial(crop)), r"crop \(guest_test.py:\d+\)$")
        self.assertTrue(user_code.name_of(Photos()).endswith("Photos"))
        self.assertRegex(user_code.maker_of(Photos()), r"Photos.__getitem__ \(guest_test.py:\d+\)$")

    def test_entries_of_a_compose_are_charged_and_it_stays_as_it_is(self):
        from loaderscope_guest import user_code

        user_code.spending = user_code.Spending()
        entries = [int, Slow()]
        compose = types.SimpleNamespace(transforms=entries)
        with user_code.entries_timed(compose):
            self.assertEqual([entry("7") for entry in compose.transforms], [7, "7"])
        self.assertIs(compose.transforms, entries)
        self.assertIn(("augment", "Slow"), user_code.spending._spent)

    def test_an_entry_is_not_charged_for_what_its_own_entries_take(self):
        from loaderscope_guest import user_code

        user_code.spending = user_code.Spending()
        clock = iter(range(0, 1000, 10))
        before, user_code.now = user_code.now, lambda: next(clock)
        self.addCleanup(setattr, user_code, "now", before)
        inner = types.SimpleNamespace(transforms=[int])

        def nested(value):
            with user_code.entries_timed(inner):
                return [entry(value) for entry in inner.transforms][0]

        outer = types.SimpleNamespace(transforms=[nested])
        with user_code.entries_timed(outer):
            self.assertEqual([entry("7") for entry in outer.transforms], [7])
        spent = {name: time for (_, name), time in user_code.spending._spent.items()}
        self.assertEqual(spent.pop("type"), 10)
        self.assertEqual(list(spent.values()), [20])


class Slow:
    def __call__(self, value):
        return value


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
