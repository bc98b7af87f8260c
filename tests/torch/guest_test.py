"""The Python side of the guest without PyTorch: guest_test.py LIBRARY, where LIBRARY is libloaderscope_guest.so."""

import contextlib
import inspect
import io
import json
import os
import shutil
import sys
import tempfile
import threading
import types
import unittest

FOLDER = tempfile.mkdtemp()
SETTINGS = {
    "stages": {"read": 0, "read.decompress": 1, "decode": 2, "augment": 3, "collate": 4, "opaque": 5},
    "overrides": {},
    "inject": [{"stage": "decode", "seconds": 0.5, "every": 2, "probability": 1, "worker": 0}],
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
        self.assertEqual(slept, [0.5, 0.5])


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


class Device:
    def __init__(self, kind):
        self.type = kind


class Tensor:
    """As much of one as is looked at."""

    def __init__(self, kind="cpu", of=None):
        self.device = Device(kind)
        self.of = of

    def data_ptr(self):
        return id(self)

    def to(self, device=None, dtype=None, non_blocking=False):
        kind = getattr(device, "type", device)
        return Tensor(kind, self) if isinstance(kind, str) and kind != self.device.type else self

    def copy_(self, source, non_blocking=False):
        return self


class Moves(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import inject, moves

        self.moves, self.facts = moves, []
        original = Tensor.to, Tensor.copy_
        moves.install(types.SimpleNamespace(Tensor=Tensor))
        self.original = original
        self.addCleanup(self.restore, original, inject.apply)
        inject.apply = lambda stage: self.facts.append(stage)

    def restore(self, original, apply):
        from loaderscope_guest import inject

        Tensor.to, Tensor.copy_ = original
        inject.apply = apply
        self.moves.step.end()

    def begin(self):
        def fact(kind, batch, begin, end):
            self.assertGreaterEqual(end, begin)
            self.facts.append((kind, batch))

        self.moves.step.begin(types.SimpleNamespace(fact=fact), 5)

    def test_from_the_host_to_a_device_count_within_a_step(self):
        Tensor().to("meta")
        self.begin()
        Tensor().to("meta")
        Tensor().to(Device("meta"), non_blocking=True)
        Tensor().to(Tensor("meta"))
        Tensor("meta").copy_(Tensor())
        self.moves.step.end()
        Tensor().to("meta")
        self.assertEqual(self.facts, ["h2d"] + [(14, 5)] * 4)

    def test_others_do_not(self):
        self.begin()
        Tensor().to("cpu")
        Tensor().to(object())  # a type of numbers
        Tensor().to(dtype=object())
        Tensor("meta").to("cpu")
        Tensor("meta").to("xla")
        Tensor().copy_(Tensor())
        self.assertEqual(self.facts, [])

    def test_nor_those_of_another_thread(self):
        self.begin()
        thread = threading.Thread(target=lambda: Tensor().to("meta"))
        thread.start()
        thread.join()
        self.assertEqual(self.facts, [])

    def test_leave_the_method_where_it_is_looked_for(self):
        self.assertIn(self.original[0], {Tensor.to})
        self.assertIn(Tensor.to, {self.original[0]})
        self.assertEqual(Tensor.to.__name__, "to")


class Handed(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import delivered, handed, messages

        self.delivered = delivered.delivered = handed.delivered = delivered.Delivered()
        delivered._follows = True
        self.said = []
        self.addCleanup(setattr, messages, "degraded", messages.degraded)
        messages.degraded = self.said.append
        self.handed = handed.Handed()

    def deliver(self):
        batch = [Tensor(), {"y": Tensor()}]
        self.delivered.add(batch, 2_000_000)
        return batch

    def give(self, batch, deliver=0):
        self.handed.asked()
        for _ in range(deliver):
            self.deliver()
        self.handed.given(batch)

    def copied(self, batch):
        copy = Tensor("meta")
        self.delivered.copied(batch[1]["y"], copy)
        return [Tensor("meta"), copy]

    def test_a_sound_loader_is_not_spoken_of(self):
        for _ in range(2):
            for _ in range(6):
                self.handed.asked()
                self.handed.given(self.deliver())
            self.handed.end_epoch()
        self.handed.end()
        self.assertEqual(self.said, [])

    def test_a_batch_that_comes_twice(self):
        self.give(self.deliver())
        second = self.deliver()
        self.give(second)
        self.give(self.copied(second))
        self.assertIn("wrong data: the loader gave batch 1 of an epoch twice", self.said)

    def test_the_first_one_on_the_cpu(self):
        self.give(self.deliver())
        self.give([Tensor("cuda")])
        self.assertIn("the first batch of an epoch stays on the CPU, others come on cuda", self.said)

    def test_batches_that_are_held_and_the_last_one_that_is_lost(self):
        held = self.deliver()
        for _ in range(5):
            self.handed.asked()
            held, batch = self.deliver(), held
            self.handed.given(batch)
        self.handed.end_epoch()
        self.handed.end()
        self.assertEqual(self.said[0], "the loader gave 5 of the 6 batches that its DataLoader delivered in an epoch")
        self.assertIn("each of 5 batches came 2.0 ms late", self.said[1])

    def test_a_loader_with_next(self):
        from loaderscope_guest import handed

        made = []

        class Prefetcher:
            def __init__(self):
                self.left = [1, 2]
                made.append(self)

            def next(self):
                return self.left.pop(0) if self.left else (None, None)

        loader = handed.iterable(Prefetcher(), Prefetcher)
        self.assertEqual([list(loader), list(loader), len(made)], [[1, 2], [1, 2], 2])
        self.assertIsNone(handed.iterable(7, None))


class Gpu(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import gpu

        self.gpu, self.calls, self.refusal, self.timing = gpu, [], None, True
        self.addCleanup(setattr, gpu, "library", gpu.library)
        self.addCleanup(setattr, gpu.messages, "degraded", gpu.messages.degraded)
        gpu.messages.degraded = self.calls.append
        gpu.library = types.SimpleNamespace(
            gpu_watch=lambda: self.calls.append("watch") or self.refusal, say=lambda what: self.calls.append(what),
            gpu_record=self.calls.append, gpu_flush=lambda: self.calls.append("flush"),
            flags=types.SimpleNamespace(timing_wanted=lambda: self.timing, is_joined=lambda: True))

    def test_is_watched_once_the_program_uses_it(self):
        uses = [False, True, True]
        watch = self.gpu.Watch(lambda: uses.pop(0))
        watch.finish()
        for _ in range(3):
            watch.look()
        self.assertEqual((self.calls, watch.sees), (["watch", "gpu"], True))
        self.timing = False
        watch.look()
        watch.look()
        self.timing = True
        watch.look()
        watch.finish()
        self.assertEqual(self.calls[2:], [0, 1, "flush"])

    def test_that_cannot_be_watched_is_said_once(self):
        self.refusal = b"there is no libcupti"
        watch = self.gpu.Watch(lambda: True)
        watch.look()
        watch.look()
        self.assertEqual(self.calls, ["watch", "the GPU's own times are not seen, compute is what the host saw: there "
                                      "is no libcupti"])
        self.assertFalse(watch.sees)


class PretendCuda:
    """A GPU that takes virtual time: a queue per stream, events that know when they come."""

    def __init__(self):
        self.time = 0
        self.streams = [types.SimpleNamespace(free=0)]
        self.current = self.streams[0]

    def now(self):
        return self.time

    def Stream(self):
        self.streams.append(types.SimpleNamespace(free=0))
        return self.streams[-1]

    def current_stream(self):
        cuda, stream = self, self.current

        def wait_event(event):
            stream.free = max(stream.free, event.at)

        stream.wait_event = wait_event
        return stream

    @contextlib.contextmanager
    def stream(self, stream):
        before, self.current = self.current, stream
        yield
        self.current = before

    def _sleep(self, cycles):  # 2 cycles per ns
        self.run(cycles / 2)

    def run(self, ns):
        self.current.free = max(self.current.free, self.time) + ns

    def Event(self, enable_timing=False, blocking=False):
        cuda = self

        class Event:
            def record(self, stream=None):
                self.at = max((stream or cuda.current).free, cuda.time)

            def synchronize(self):
                cuda.time = max(cuda.time, self.at)

            def query(self):
                return self.at <= cuda.time

            def elapsed_time(self, other):
                return (other.at - self.at) / 1e6

        return Event()

    def get_device_name(self):
        return "pretend"


class TorchDevice(unittest.TestCase):
    MS = 1_000_000

    def setUp(self):
        from loaderscope_guest import messages, torch_device

        self.module = torch_device
        self.cuda = PretendCuda()
        self.facts = []
        self.addCleanup(setattr, torch_device, "library", torch_device.library)
        self.addCleanup(setattr, messages, "degraded", messages.degraded)
        messages.degraded = lambda sentence: None
        torch_device.library = types.SimpleNamespace(
            COPIED=12, COMPUTED=13,
            fact=lambda kind, *rest: self.facts.append((kind, rest[7], rest[4], rest[5])))

    def trained(self, batches, **trainer):
        cuda = self.cuda

        class Copied(Tensor):
            def to(self, device, non_blocking):
                cuda.run(3 * TorchDevice.MS)
                return Tensor("cuda")

        settings = {"products": False, "own_copy_stream": 0, "in_flight": 2, "sync_copies": 0,
                    "compute": [4 * self.MS, 6 * self.MS], **trainer}
        torch = types.SimpleNamespace(cuda=cuda, __version__="2.0")
        on = self.module.TorchDevice(settings, torch, cuda.now)
        begun = cuda.time
        for taken in range(batches):
            self.module.delivered.count = taken + 1
            on.wait_for_room()
            on.train([Copied(), 3], 0)
        on.finish()
        # An epoch of 0; to the thousandth of a millisecond.
        return [(kind, taken, round((begin - begun) / self.MS, 3), round((end - begun) / self.MS, 3))
                for kind, taken, begin, end in self.facts]

    def test_copies_and_computes_one_after_the_other(self):
        self.assertEqual(self.trained(3), [(12, 0, 0, 3), (13, 0, 3, 7), (12, 1, 7, 10), (13, 1, 10, 16),
                                           (12, 2, 16, 19), (13, 2, 19, 23)])

    def test_on_a_stream_of_its_own_a_copy_runs_beside_the_compute(self):
        self.assertEqual(self.trained(2, own_copy_stream=1),
                         [(12, 0, 0, 3), (13, 0, 3, 7), (12, 1, 3, 6), (13, 1, 7, 13)])

    def test_batches_that_are_there_already_are_not_copied(self):
        on = self.module.TorchDevice({"products": False, "own_copy_stream": 0, "in_flight": 2, "sync_copies": 0,
                                      "compute": [self.MS]},
                                     types.SimpleNamespace(cuda=self.cuda, __version__="2.0"), self.cuda.now)
        on.train([Tensor("cuda")], 0)
        on.finish()
        self.assertEqual([kind for kind, *_ in self.facts], [13])


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
