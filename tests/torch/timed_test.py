"""Hooked functions, as the host and the program see them, without PyTorch: timed_test.py LIBRARY, where
LIBRARY is libloaderscope_guest.so."""

import collections
import copy
import functools
import gc
import inspect
import io
import os
import pickle
import resource
import signal
import sys
import threading
import time
import types
import unittest
import weakref
import zlib
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest_test
import pretend_host


def setUpModule():
    global HOST
    guest_test.LIBRARY = LIBRARY
    guest_test.setUpModule()
    HOST = pretend_host.PretendHost(guest_test.FOLDER)
    from loaderscope_guest import library

    assert library.join(role="worker", rank=-1)


def tearDownModule():
    guest_test.tearDownModule()


def halved(value, by=2, *, more=0):
    """Divided value."""
    return value // by + more


class Image:
    def __init__(self, value):
        self.value = value

    def turned(self, by=1):
        return self.value + by

    @classmethod
    def made(cls, value):
        return cls(value)

    @staticmethod
    def known(value):
        return value


class Photo(Image):
    def turned(self, by=1):
        return 10 * super().turned(by)


class Held(unittest.TestCase):
    """Functions of modules, and who else holds them."""

    def module(self, name, **names):
        module = types.ModuleType(name)
        vars(module).update(names)
        sys.modules[name] = module
        self.addCleanup(sys.modules.pop, name)
        return module

    def test_replaces_the_names_of_other_modules(self):
        from loaderscope_guest import held

        own = self.module("own_functions", unpack=lambda data: data)
        other = self.module("other_functions", renamed=own.unpack, len=len)
        held.replace(own.unpack, sorted)
        self.assertIs(own.unpack, sorted)
        self.assertIs(other.renamed, sorted)
        self.assertIs(other.len, len)

    def test_replaces_all_functions_by_one_walk(self):
        from loaderscope_guest import held

        own = self.module("own_functions", unpack=lambda data: data, pack=lambda data: data)
        other = self.module("other_functions", first=own.unpack, second=own.pack)
        walks, walk = [], held._all_names
        with mock.patch.object(held, "_all_names", lambda: walks.append(1) or walk()):
            with held.together:
                held.replace(own.unpack, sorted)
                with held.together:
                    held.replace(own.pack, reversed)
                self.assertEqual((walks, held.find_replacement(own.pack)), ([], reversed))
        self.assertEqual((len(walks), other.first, other.second), (1, sorted, reversed))
        self.assertIsNone(held.find_replacement(own.pack))

    def test_looks_into_all_functions_by_two_walks(self):
        from loaderscope_guest import held, stages

        names = {f"function_{number}": types.FunctionType((lambda: None).__code__, {}) for number in range(50)}
        module = self.module("zlib_of_test", **names)
        walks, walk = [], held._all_names
        with mock.patch.object(held, "_all_names", lambda: walks.append(1) or walk()), \
                mock.patch.object(held, "is_of_python", lambda module: True):
            stages._patch_all(module, [stages.Row("zlib_of_test", name, stages.READ) for name in names])
        self.assertLessEqual(len(walks), 2)  # to count who holds them, and to replace them

    def test_leaves_a_function_that_the_program_holds_otherwise(self):
        from loaderscope_guest import held, library

        own = self.module("own_functions", unpack=lambda data: data)
        other = self.module("other_functions", renamed=own.unpack)
        with mock.patch.object(held, "is_of_python", lambda module: True), \
                mock.patch.object(library.flags, "role", library.ROLE.trainer):
            self.assertFalse(held.must_stay(own, "unpack"))
            self.assertFalse(held.must_stay(own, "not_there"))
            for held_by in ({"unpack": own.unpack}, [own.unpack], functools.partial(own.unpack)):
                self.assertTrue(held.must_stay(own, "unpack"))
                del held_by
            other.by_default = lambda unpack=own.unpack: unpack
            self.assertTrue(held.must_stay(own, "unpack"))
            del other.by_default
            self.assertFalse(held.must_stay(own, "unpack"))
        self.assertFalse(held.must_stay(own, "unpack"))  # modules of other people are looked into first

    def test_covers_packages_that_need_no_loader_early(self):
        from loaderscope_guest import construction, install, stage_table

        importers = {"albumentations", "datasets", "fastai", "kornia", "litdata", "s3torchconnector", "streaming", "torch",
                     "torchaudio", "torchcodec", "torchvision"}  # these import torch or a package that is looked into
        packages = {row.module.partition(".")[0] for row in stage_table.TABLE}
        late = {package for package in packages if not construction.is_of_python(package)} - importers
        self.assertEqual(late - set(install.EARLY), set())
        self.assertEqual(set(install.EARLY) - packages, set())


class WithBatch(unittest.TestCase):
    """While this thread makes a batch."""

    def setUp(self):
        from loaderscope_guest import inject, library, batch_work, stages

        inject._stage_injections.clear()
        self.library, self.stages = library, stages
        self.names = {stages.READ: "read", stages.DECODE: "decode", stages.AUGMENT: "augment",
                      stages.COLLATE: "collate", library.STAGES["opaque"]: "opaque"}
        self.maker = batch_work.Making(0, 0)
        batch_work.current = self.maker
        self.addCleanup(setattr, batch_work, "current", None)
        HOST.time_stages(True)
        self.begin()

    def begin(self):
        self.library.end_work(0)
        HOST.take_spans()
        self.maker.begin(0, 0, self.library.now(), [0])
        self.maker.next_sample(0)
        self.addCleanup(self.library.end_work, 0)

    def ended_stages(self, also_opaque=False):
        """Stages in the order in which they ended, each with its bytes."""
        self.library.end_work(0)
        stages = [(self.names[span.stage], span.bytes) for span in HOST.take_spans()]
        self.begin()
        return [stage for stage in stages if also_opaque or stage[0] != "opaque"]


class Samples(WithBatch):
    """Samples of the line that runs, in `opaque`."""

    def setUp(self):
        super().setUp()
        self.taken = []
        self.addCleanup(self.library.sample_lines, None, 0)

    def take(self, since):
        self.taken.append((sys._getframe(1).f_code.co_name, since))

    def run_until(self, is_reached):
        end = time.monotonic() + 30
        while not is_reached() and time.monotonic() < end:
            pass

    def test_takes_samples_between_instructions(self):
        self.library.sample_lines(self.take, 1_000_000)
        self.run_until(lambda: len(self.taken) > 2)
        self.library.sample_lines(None, 0)
        self.assertGreater(len(self.taken), 2)
        for name, since in self.taken:  # a busy machine may take one before or after run_until() too
            self.assertIn(name, ("run_until", "<lambda>", self._testMethodName))
            self.assertGreaterEqual(since, 1_000_000)

    def test_passes_keyboard_interrupt(self):
        def interrupted(since):
            self.taken.append(since)
            if len(self.taken) == 1:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.library.sample_lines(interrupted, 1_000_000)
            self.run_until(lambda: False)

    def test_ends_in_child_of_fork(self):
        """Also if the thread of the parent had the lock then."""
        self.library.sample_lines(self.take, 1)
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                self.library.sample_lines(None, 0)
                os._exit(0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_keeps_switch_interval_in_child_of_fork(self):
        """Also if the thread of the parent has shortened it."""
        time.sleep(0.05)  # the thread of an earlier test ends
        before = sys.getswitchinterval()
        self.library.sample_lines(self.take, 1)
        for _ in range(50):
            end = time.monotonic() + 0.02
            while sys.getswitchinterval() == before and time.monotonic() < end:
                pass
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                os._exit(0 if sys.getswitchinterval() == before else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)


class Calls(WithBatch):
    def test_merges_nested_calls_of_one_stage(self):
        inner = self.stages.timed(lambda: None, self.stages.DECODE)
        self.stages.timed(lambda: (inner(), inner()), self.stages.DECODE)()
        self.assertEqual(self.ended_stages(also_opaque=True), [("opaque", 0), ("decode", 0), ("opaque", 0)])

    def test_writes_no_span_of_parent_in_fork(self):
        def fork():
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)

        decode = self.stages.timed(lambda: None, self.stages.DECODE)
        outer = self.stages.timed(self.stages.timed(fork, self.stages.READ), self.stages.DECODE)
        for _ in range(7):
            decode()
        outer()  # 16 spans are open then, as many as are kept until they are written
        expected = 7 * ["opaque", "decode"] + ["opaque", "decode", "read", "decode", "opaque"]
        self.assertEqual([name for name, _ in self.ended_stages(also_opaque=True)], expected)

    def test_separates_nested_calls_of_other_stage(self):
        read = self.stages.timed(lambda: b"123", self.stages.READ)
        decode = self.stages.timed(lambda: read(), self.stages.DECODE)
        self.stages.timed(lambda: (decode(), b"123456")[1], self.stages.READ)()
        self.assertEqual(self.ended_stages(), [("read", 0), ("decode", 0), ("read", 3), ("decode", 0), ("read", 6)])

    def test_charges_part_to_calling_stage(self):
        part = self.stages.timed(lambda: None, self.stages.AUGMENT, outermost=True)
        self.stages.timed(part, self.stages.DECODE)()
        self.assertEqual(self.ended_stages(), [("decode", 0)])
        part()
        self.assertEqual(self.ended_stages(), [("augment", 0)])

    def test_counts_bytes_of_archive_file_once(self):
        from loaderscope_guest import files

        with io.open(os.path.join(guest_test.FOLDER, "bytes"), "wb") as file:
            file.write(bytes(10000))
        raw = files.TimedFile(os.path.join(guest_test.FOLDER, "bytes"))
        self.addCleanup(raw.close)
        read = self.stages.timed(lambda size: raw.read(size) if size > 1000 else bytes(size), self.stages.READ)
        read(4000), read(100)  # the second is served by what the first has left
        self.assertEqual(self.ended_stages(), [("read", 4000), ("read", 0)])
        raw.read(500)
        self.assertEqual(self.ended_stages(), [("read", 500)])
        self.assertEqual(raw.readinto(bytearray(200)), 200)
        self.assertEqual(len(raw.readall()), 5300)
        self.assertEqual(self.ended_stages(), [("read", 200), ("read", 5300)])

    def test_counts_bytes_of_reads(self):
        for given, expected in ((b"12345", 5), (bytearray(4), 4), (types.SimpleNamespace(nbytes=12), 12),
                                (types.SimpleNamespace(nbytes="no"), 0), ({"a": 1}, 0), (None, 0), (7, 7),
                                (-7, 0), (1 << 70, 0)):
            self.assertIs(self.stages.timed(lambda: given, self.stages.READ)(), given)
            self.assertEqual(self.ended_stages(), [("read", expected)])

    def test_charges_transform_of_datasets_as_augment(self):
        from loaderscope_guest import huggingface, user_code

        class CustomFormatter:
            def __init__(self, transform):
                self.transform = transform

        user_code.spending = self.stages.user_code.spending = user_code.Spending()
        huggingface.install(types.SimpleNamespace(CustomFormatter=CustomFormatter))

        def tokenized(batch):
            return batch * 2

        read = self.stages.timed(lambda: CustomFormatter(tokenized).transform(4), self.stages.READ)
        self.assertEqual([read(), read()], [8, 8])
        self.assertEqual([stage for stage, _ in self.ended_stages()], ["read", "augment", "read"] * 2)
        (((stage, name), spent),) = user_code.spending.parts()
        self.assertEqual(stage, "augment")
        self.assertRegex(name, r"tokenized \(timed_test.py:\d+\)$")
        self.assertGreater(spent, 0)
        self.assertIs(CustomFormatter(tokenized).transform, CustomFormatter(tokenized).transform)
        for _ in range(100):  # created again for each sample
            CustomFormatter(lambda batch: batch).transform(4)
        self.assertEqual(len(user_code.spending._timed), huggingface._MOST)

    def test_survives_failing_stage(self):
        read = self.stages.timed(lambda: {}["missing"], self.stages.READ)
        for _ in range(2):
            with self.assertRaisesRegex(KeyError, "missing"):
                read()
        self.assertFalse(self.library.is_in_stage())
        self.assertEqual(self.ended_stages(), [("read", 0)] * 2)

    def test_charges_time_to_innermost_name(self):
        inner = self.stages.timed(functools.partial(sum, range(20000)), self.stages.AUGMENT)
        outer = self.stages.timed(lambda: inner(), self.stages.DECODE)
        outer()
        self.assertGreater(self.library.spent_by(inner), 4 * self.library.spent_by(outer))
        self.assertGreater(self.library.spent_by(outer), 0)

    def test_charges_wait_for_helper_thread_to_its_stage(self):
        inner = self.stages.timed(functools.partial(time.sleep, 0.02), self.stages.READ)
        decode = self.stages.timed(lambda: inner(), self.stages.DECODE)
        other = threading.Thread(target=decode)
        other.start()
        other.join()
        self.assertEqual(self.ended_stages(), [("decode", 0)])  # the outermost call
        self.assertGreaterEqual(self.library.spent_by(inner), 20_000_000)
        self.assertLess(self.library.spent_by(decode), self.library.spent_by(inner))

    def test_ignores_helper_thread_without_batch(self):
        self.library.end_work(0)
        read = self.stages.timed(lambda: b"123", self.stages.READ)
        other = threading.Thread(target=read)
        other.start()
        other.join()
        self.begin()
        self.assertEqual((self.ended_stages(), self.library.spent_by(read)), ([], 0))

    def test_ignores_calls_without_batch_or_timing(self):
        read = self.stages.timed(lambda: b"123", self.stages.READ)
        self.library.end_work(0)
        self.assertEqual(read(), b"123")
        HOST.time_stages(False)
        self.begin()
        self.assertEqual(read(), b"123")
        self.assertEqual(self.ended_stages(), [])
        self.assertEqual(self.library.spent_by(read), 0)

    def test_ends_open_call_in_child_of_fork(self):
        decode = self.stages.timed(os.fork, self.stages.DECODE)
        child = decode()
        if child == 0:
            os._exit(0 if self.stages.timed(halved, self.stages.READ)(4) == 2 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(self.ended_stages(), [("decode", 0)])

    def test_keeps_stage_of_batch_that_begins_within_call(self):
        def loads():
            self.begin()
            self.library.enter(self.stages.AUGMENT)

        self.stages.timed(loads, self.stages.DECODE)()
        self.assertTrue(self.library.is_in_stage())

    def test_sleeps_for_delay_within_stage(self):
        from loaderscope_guest import inject

        slept = []
        self.addCleanup(setattr, inject, "ANY", inject.ANY)
        self.addCleanup(setattr, inject, "once_per_sample", inject.once_per_sample)
        inject.ANY = True
        inject.once_per_sample = lambda stage, maker: slept.append((stage, maker, self.library.is_in_stage()))
        self.assertEqual(self.stages.timed(halved, self.stages.DECODE)(6), 3)
        self.assertEqual(slept, [("decode", self.maker, 1)])

    def test_charges_entries_of_compose(self):
        from loaderscope_guest import user_code

        user_code.spending = self.stages.user_code.spending = user_code.Spending()

        class Compose:
            def __call__(self, value):
                for entry in self.transforms:
                    value = entry(value)
                return value

        Compose.__call__ = self.stages._timed_by(self.stages.Row("", "Compose", self.stages.AUGMENT, entries=True), "Compose",
                                                 Compose.__call__)
        compose = Compose()
        compose.transforms = [halved, str]
        self.assertEqual(compose(9), "4")
        self.assertEqual({name for (_, name), _ in user_code.spending.parts()}, {user_code.name_of(halved), "str"})

    def test_takes_same_arguments_and_returns_same_result(self):
        timed = self.stages.timed(halved, self.stages.DECODE)
        self.assertEqual((timed(9), timed(9, 3), timed(value=9, more=1), timed(*[9], **{"by": 3})), (4, 3, 5, 3))
        for arguments, named in (((), {}), ((1, 2, 3), {}), ((1,), {"none": 1})):
            with self.assertRaisesRegex(TypeError, "halved"):
                timed(*arguments, **named)

    def test_keeps_no_memory_after_many_calls(self):
        timed = self.stages.timed(halved, self.stages.DECODE)
        refused = self.stages.timed(lambda value: value.none, self.stages.READ)
        value = object()
        for _ in range(2000):
            timed(7)
        references, before = sys.getrefcount(value), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for number in range(300_000):
            timed(number, by=3)
            if number % 100 == 0:
                with self.assertRaises(AttributeError):
                    refused(value)
        self.assertEqual(sys.getrefcount(value), references)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 2000)  # KiB


class Methods(WithBatch):
    def setUp(self):
        super().setUp()
        from loaderscope_guest import stages

        before = dict(vars(Image))
        self.addCleanup(lambda: [setattr(Image, name, before[name]) for name in ("turned", "made", "known")])
        module = types.SimpleNamespace(Image=Image)
        stages._patch(module, stages.Row("timed_test", "Image.turned Image.made Image.known", stages.AUGMENT))

    def test_binds_like_original(self):
        image = Image(3)
        turned = image.turned
        self.assertEqual((image.turned(), image.turned(by=2), turned(4), Image.turned(image, 5)), (4, 5, 7, 8))
        self.assertIs(turned.__self__, image)
        self.assertIs(type(turned), types.MethodType)
        self.assertEqual((Image.made(5).value, Image(1).made(6).value, Photo.made(7).value), (5, 6, 7))
        self.assertIs(type(Photo.made(7)), Photo)
        self.assertEqual((Image.known(5), Image(1).known(6)), (5, 6))
        self.assertEqual(self.ended_stages(), [("augment", 0)] * 10)

    def test_supports_overrides_and_super(self):
        self.assertEqual(Photo(3).turned(2), 50)
        self.assertEqual(self.ended_stages(), [("augment", 0)])

    def test_restores_methods_from_pickles(self):
        for method in (Image.turned, Image.made, Image(3).turned):
            self.assertEqual(pickle.loads(pickle.dumps(method)).__name__, method.__name__)
        self.assertIs(pickle.loads(pickle.dumps(Image.turned)), Image.turned)
        self.assertEqual(pickle.loads(pickle.dumps(Image(3).turned))(), 4)

    def test_times_methods_of_c_types(self):
        stages = self.stages
        original = collections.deque.rotate
        stages._set(collections.deque, "rotate", stages.timed(original, stages.AUGMENT))
        try:
            turned = collections.deque([1, 2, 3])
            turned.rotate(1)
            pickled = pickle.dumps(collections.deque.rotate)
        finally:
            stages._set(collections.deque, "rotate", original)
        self.assertEqual(list(turned), [3, 1, 2])
        self.assertIs(pickle.loads(pickled), original)
        self.assertEqual(self.ended_stages(), [("augment", 0)])


class Looks(WithBatch):
    """Looks at a hooked function by other code."""

    def setUp(self):
        super().setUp()
        self.timed = self.stages.timed(halved, self.stages.DECODE)

    def test_looks_like_original_function(self):
        timed = self.timed
        self.assertTrue(callable(timed) and inspect.isfunction(timed) and isinstance(timed, types.FunctionType))
        self.assertEqual((timed.__name__, timed.__qualname__, timed.__module__, timed.__doc__, timed.__kwdefaults__),
                         ("halved", "halved", __name__, "Divided value.", {"more": 0}))
        self.assertEqual(inspect.signature(timed), inspect.signature(halved))
        self.assertEqual(inspect.getsource(timed), inspect.getsource(halved))
        self.assertEqual(inspect.getfile(timed), inspect.getfile(halved))
        self.assertEqual(repr(timed), repr(halved))
        self.assertIs(inspect.unwrap(timed), halved)
        self.assertIs(timed.__wrapped__, halved)
        self.assertFalse(hasattr(timed, "none"))
        self.assertEqual(functools.wraps(timed)(lambda: 0).__name__, "halved")
        self.assertEqual((timed == timed, timed == halved, len({timed, timed})), (True, False, 1))

    def test_shows_original_function_to_torch_jit(self):
        self.assertIs(getattr(self.timed, "__script_if_tracing_wrapper"), True)
        self.assertIs(getattr(self.timed, "__original_fn"), halved)

    def test_stores_attributes_on_original(self):
        self.addCleanup(vars(halved).clear)
        self.timed.note = 3
        self.assertEqual((halved.note, self.timed.note, vars(self.timed)), (3, 3, {"note": 3}))
        del self.timed.note
        self.assertFalse(hasattr(halved, "note"))

    def test_looks_like_original_c_function(self):
        timed = self.stages.timed(zlib.decompress, self.stages.DECODE)
        self.assertEqual(inspect.signature(timed), inspect.signature(zlib.decompress))
        self.assertTrue(inspect.isbuiltin(timed))

        class Uses:
            decompress = timed  # builtins do not become methods

        self.assertEqual(Uses().decompress(zlib.compress(b"text")), b"text")
        self.assertEqual(self.ended_stages(), [("decode", 0)])

    def test_returns_itself_from_copies_and_pickles(self):
        module = sys.modules[__name__]
        self.assertIs(copy.copy(self.timed), self.timed)
        self.assertIs(copy.deepcopy([self.timed])[0], self.timed)
        with self.assertRaises(pickle.PicklingError):
            pickle.dumps(self.timed)  # another function has its name
        own, module.halved = halved, self.timed
        self.addCleanup(setattr, module, "halved", own)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            self.assertIs(pickle.loads(pickle.dumps(self.timed, protocol)), self.timed)
        partial = functools.partial(self.timed, by=3)
        self.assertEqual(pickle.loads(pickle.dumps(partial))(9), 3)
        own_c, zlib.decompress = zlib.decompress, self.stages.timed(zlib.decompress, self.stages.DECODE)
        self.addCleanup(setattr, zlib, "decompress", own_c)
        self.assertIs(pickle.loads(pickle.dumps(zlib.decompress)), zlib.decompress)

    def test_allows_weak_references(self):
        class Held:
            pass

        held = Held()
        held.timed = self.stages.timed(lambda it=held: it, self.stages.DECODE)  # makes a reference cycle
        weak, weakly_held = weakref.ref(held.timed), weakref.ref(held)
        self.assertIs(weak()(), held)
        del held
        gc.collect()
        self.assertEqual((weak(), weakly_held()), (None, None))

    def test_refuses_new_instances(self):
        kind = type(self.timed)
        for make in (kind, functools.partial(object.__new__, kind), functools.partial(kind, halved)):
            with self.assertRaises(TypeError):
                make()
        with self.assertRaises(TypeError):
            type("Other", (kind,), {})
        for wrong in ((), (halved,), (halved, "decode", 0, 0, 0, None, None)):
            with self.assertRaises(TypeError):
                self.library.timed(*wrong)
        with self.assertRaises(TypeError):
            self.library.spent_by(halved)

    def test_raises_type_errors_for_wrong_arguments(self):
        for arguments in ((), (1, 2), ("one",), (None,)):
            with self.assertRaises(TypeError):
                self.library.enter(*arguments)
        with self.assertRaises(OverflowError):
            self.library.enter(1 << 70)
        self.assertFalse(self.library.is_in_stage())


class Generators(WithBatch):
    def test_creates_generator_in_stage_and_runs_it_outside(self):
        def two():
            yield self.library.is_in_stage()
            yield self.library.is_in_stage()

        made = self.stages.timed(two, self.stages.READ)()
        self.assertTrue(inspect.isgenerator(made))
        self.assertEqual(list(made), [0, 0])
        self.assertEqual([stage for stage, _ in self.ended_stages()], ["read"])


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
