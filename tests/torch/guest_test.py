"""The Python side of the guest without PyTorch: guest_test.py LIBRARY, where LIBRARY is libloaderscope_guest.so."""

import ast
import atexit
import contextlib
import faulthandler
import functools
import gc
import graphlib
import hashlib
import importlib.util
import inspect
import io
import itertools
import json
import multiprocessing
import multiprocessing.queues
import os
import pathlib
import pickle
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import weakref
from unittest import mock

FOLDER = tempfile.mkdtemp()
SETTINGS = {
    "overrides": {},
    "bind": None,
    "inject": [],
    "seed": 0,
    "replay": None,
    "trainer": {},
    "batch_function": "",
}
PACKAGE = os.path.join(os.path.dirname(__file__), "..", "..", "src", "guest", "python")


def setUpModule():
    sys.path.insert(0, os.path.abspath(PACKAGE))
    os.environ["LOADERSCOPE_GUEST"] = FOLDER
    shutil.copy(LIBRARY, os.path.join(FOLDER, "libloaderscope_guest.so"))
    with open(os.path.join(FOLDER, "settings.json"), "w") as file:
        json.dump(SETTINGS, file)


def tearDownModule():
    shutil.rmtree(FOLDER)


def unmeasured_link(role):
    """Returns the path of this process's error link for the host. The link does not exist yet."""
    os.makedirs(os.path.join(FOLDER, "unmeasured"), exist_ok=True)
    link = os.path.join(FOLDER, "unmeasured", f"{os.getpid()}-{role}")
    with contextlib.suppress(FileNotFoundError):
        os.remove(link)
    return link


def imported_modules(path):
    """Returns the modules of our package that a file imports, also within functions."""
    with open(path, encoding="utf-8") as file:
        nodes = list(ast.walk(ast.parse(file.read())))
    package, imported = "loaderscope_guest", set()
    for node in nodes:
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name.name}" for name in node.names] if node.module == package else [node.module]
        elif isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        imported.update(name.split(".")[1] for name in names if name.startswith(package + "."))
    return imported


class Stacks(unittest.TestCase):
    """Python stacks of this process."""

    def setUp(self):
        from loaderscope_guest import library, stacks

        self.stacks = stacks
        stacks._kept = (0, -1, 0)
        say = mock.patch.object(library, "say")
        self.said = say.start()
        self.addCleanup(say.stop)
        self.addCleanup(faulthandler.unregister, stacks._SIGNAL)

    def sent_fields(self):
        return self.said.call_args.kwargs

    def test_writes_stack_to_descriptor_on_signal(self):
        self.stacks.offer()
        self.stacks.offer()
        self.said.assert_called_once()
        os.kill(os.getpid(), self.sent_fields()["signal"])
        written = os.pread(self.sent_fields()["descriptor"], 1 << 16, 0)
        self.assertIn(b"test_writes_stack_to_descriptor_on_signal", written)

    def test_uses_own_memory_in_child(self):
        self.stacks.offer()
        descriptor, inode = self.sent_fields()["descriptor"], self.sent_fields()["inode"]
        child = os.fork()
        if child == 0:
            self.stacks.offer()
            os.kill(os.getpid(), self.sent_fields()["signal"])
            is_own = self.sent_fields()["inode"] != inode and os.fstat(self.sent_fields()["descriptor"]).st_size > 0
            os._exit(0 if is_own else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(os.fstat(descriptor).st_size, 0)

    def test_skips_signal_that_has_a_handler(self):
        before = signal.signal(self.stacks._SIGNAL, lambda *of_signal: None)
        self.addCleanup(signal.signal, self.stacks._SIGNAL, before)
        self.stacks.offer()
        self.said.assert_not_called()


class Package(unittest.TestCase):
    def test_imports_modules_without_cycles(self):
        folder = os.path.join(PACKAGE, "loaderscope_guest")
        imported = {name[:-3]: imported_modules(os.path.join(folder, name))
                    for name in os.listdir(folder) if name.endswith(".py")}
        self.assertIn("library", imported["batch_work"])  # imports are found
        order = list(graphlib.TopologicalSorter(imported).static_order())  # a CycleError names the circle
        self.assertLess(order.index("library"), order.index("torch_loader"))
        self.assertEqual(set(order), set(imported))


class Hooks(unittest.TestCase):
    def test_runs_after_import_and_keeps_module_loader(self):
        from loaderscope_guest import import_hooks

        seen = []
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "looked_into.py"), "w") as file:
                file.write("value = 1\n")
            sys.path.insert(0, folder)
            import_hooks.after_import("looked_into", lambda module: seen.append(module.value))
            sys.meta_path.insert(0, import_hooks._finder)
            import looked_into

            self.assertEqual(seen, [1])
            self.assertNotIn("LoaderAndThen", type(looked_into.__loader__).__name__)
            import_hooks.after_import("looked_into", lambda module: seen.append(2))
            self.assertEqual(seen, [1, 2])

    def test_runs_hook_added_by_hook_before_import_returns(self):
        from loaderscope_guest import import_hooks

        seen = []
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "looked_into_twice.py"), "w") as file:
                file.write("value = 1\n")
            sys.path.insert(0, folder)
            self.addCleanup(sys.path.remove, folder)
            name = "looked_into_twice"
            import_hooks.after_import(name, lambda _: import_hooks.after_import(name, lambda module: seen.append(module.value)))
            sys.meta_path.insert(0, import_hooks._finder)
            self.addCleanup(sys.meta_path.remove, import_hooks._finder)
            import looked_into_twice  # noqa: F401

            self.assertEqual(seen, [1])

    def test_tolerates_failing_hook(self):
        from loaderscope_guest import import_hooks

        def breaks(module):
            raise RuntimeError("no")

        import_hooks.run_all(types.ModuleType("x"), [breaks])


    def test_leaves_error_link_without_library(self):
        from loaderscope_guest import import_hooks, messages

        link = unmeasured_link("program")
        with mock.patch.object(messages, "degraded", side_effect=OSError("no library")):
            import_hooks.run_all(types.ModuleType("y"), [lambda module: 1 / 0])
        self.assertIn("ZeroDivisionError", os.readlink(link))


class Interpreters(unittest.TestCase):
    IS_HOOKED = "print(any(type(one).__module__ == 'loaderscope_guest.import_hooks' for one in sys.meta_path), flush=True)"

    def run_python(self, code, *flags):
        environment = dict(os.environ, PYTHONPATH=os.path.abspath(PACKAGE), LOADERSCOPE_GUEST=FOLDER)
        for folder in ("seen", "unmeasured"):
            os.makedirs(os.path.join(FOLDER, folder), exist_ok=True)
        ended = subprocess.run([sys.executable, *flags, "-c", code], env=environment, capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout

    def test_installs_hooks_in_main_interpreter_only(self):
        names = [name for name in ("_interpreters", "_xxsubinterpreters") if importlib.util.find_spec(name)]
        if not names:
            self.skipTest("this Python has no sub-interpreters")
        other = f"import sys\n{self.IS_HOOKED}"
        code = f"import sys, {names[0]} as subs\n{self.IS_HOOKED}\nsubs.run_string(subs.create(), {other!r})"
        self.assertEqual(self.run_python(code).split(), ["True", "False"])

    def test_reports_free_threaded_python(self):
        code = f"import os, sys; sys._is_gil_enabled = lambda: False; import sitecustomize; {self.IS_HOOKED}; print(os.getpid())"
        hooked, process = self.run_python(code, "-S").split()
        self.assertEqual(hooked, "False")
        link = os.path.join(FOLDER, "unmeasured", f"{process}-program")
        self.assertIn("free-threaded Python is not supported; set PYTHON_GIL=1", os.readlink(link))

    def test_runs_with_warnings_as_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "PIL.py"), "w").close()
            code = f"import sys; sys.path.append({folder!r}); import zlib, PIL; print(type(zlib.decompress).__name__)"
            self.assertEqual(self.run_python(code, "-W", "error").split(), ["timed_callable"])


class UnderWay(unittest.TestCase):
    """A module asks, while it is imported, for one that makes us ask for it."""

    def test_runs_hook_once_module_is_loaded(self):
        from loaderscope_guest import import_hooks

        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "half_there.py"), "w", encoding="utf-8") as file:
                file.write("import hooked_by_test\nhooked_by_test.ask()\nlast = 1\n")
            seen = []
            ask = functools.partial(import_hooks.after_import, "half_there", lambda module: seen.append(module.last))
            sys.modules["hooked_by_test"] = types.SimpleNamespace(ask=ask)
            sys.path.insert(0, folder)
            try:
                import half_there  # noqa: F401

                self.assertEqual(seen, [])
                import_hooks.catch_up()
                import_hooks.catch_up()
                self.assertEqual(seen, [1])
            finally:
                sys.path.remove(folder)
                del sys.modules["hooked_by_test"]


class Said(unittest.TestCase):
    def test_replaces_invalid_utf8_by_question_marks(self):
        from loaderscope_guest import library

        self.assertEqual(json.loads(library.spelled(place="caf\udce9.py"))["place"], "caf?.py")

    def test_shortens_long_message_to_valid_json(self):
        from loaderscope_guest import library

        text = library.spelled(what="loader", dataset="D" * 300_000, code={"opaque": ["x" * 300_000]})
        message = json.loads(text)
        self.assertEqual(message["what"], "loader")
        self.assertLess(len(text), 2000)

    def test_enables_timing_before_host_answers(self):
        from loaderscope_guest import library

        self.assertGreater(library.ask(0, 0), 0)
        self.assertTrue(library.Flags().timing_wanted())

    def test_reports_full_host_without_waiting(self):
        from loaderscope_guest import library

        link = unmeasured_link("trainer")
        with contextlib.ExitStack() as sockets:
            host, *others = (sockets.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) for _ in range(4))
            host.bind(os.path.join(FOLDER, "host"))
            host.listen(0)
            with contextlib.suppress(BlockingIOError):  # the backlog is full
                for other in others:
                    other.setblocking(False)
                    other.connect(os.path.join(FOLDER, "host"))
            self.assertFalse(library.join(role="trainer", rank=-1))
            host.close()
            self.assertFalse(library.join(role="trainer", rank=-1))
        os.remove(os.path.join(FOLDER, "host"))
        self.assertEqual(os.readlink(link), "loaderscope takes in no more processes")

    def test_keeps_signals_out_under_small_file_limit(self):
        from loaderscope_guest import library

        link, signals = unmeasured_link("trainer"), []
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(signal.signal, signal.SIGXFSZ, signal.signal(signal.SIGXFSZ, lambda *_: signals.append(1)))
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as host:
            host.bind(os.path.join(FOLDER, "host"))
            host.listen(1)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
            try:
                self.assertFalse(library.join(role="trainer", rank=-1))
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        os.remove(os.path.join(FOLDER, "host"))
        self.assertEqual(signals, [])
        self.assertIn("(ulimit -f) is too small", os.readlink(link))


class Unspellable(Exception):
    def __repr__(self):
        raise ValueError("no words")


class NeverFailing(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import messages

        self.messages, self.said = messages, []
        degraded = mock.patch.object(messages, "degraded", self.said.append)
        degraded.start()
        self.addCleanup(degraded.stop)

    def test_catches_errors_but_passes_exits(self):
        def look(error):
            raise error

        with self.messages.never_failing("a batch is"):
            look(KeyError("x"))
        looked = self.messages.never_failing("a batch is")(look)
        self.assertIsNone(looked(KeyError("x")))
        self.assertIsNone(looked(Unspellable()))
        self.assertEqual(self.said, ["a batch is not looked into: KeyError('x')"] * 2)
        for ends in (SystemExit, KeyboardInterrupt):
            self.assertRaises(ends, looked, ends())

    def test_returns_result_of_function(self):
        self.assertEqual(self.messages.never_failing("a batch is")(max)(3, 4), 4)


class FailedLoaders(unittest.TestCase):
    def fail(self, error, *processes):
        from loaderscope_guest import library, messages

        with mock.patch.object(library, "say") as say:
            messages.failed(error, types.SimpleNamespace(_workers=processes))
        return [call.kwargs["text"] for call in say.call_args_list]

    def test_names_signal_by_number(self):
        process = types.SimpleNamespace(pid=7, exitcode=-(signal.SIGRTMIN + 3))
        said = self.fail(RuntimeError("a worker is dead"), process)
        self.assertEqual(said, [f"worker 0 (process 7) was killed by signal {signal.SIGRTMIN + 3}"])

    def test_reports_error_of_closed_process(self):
        process = multiprocessing.get_context("fork").Process(target=int)
        process.start()
        process.join()
        process.close()
        self.assertEqual(self.fail(ConnectionResetError("reset"), process), ["ConnectionResetError: reset"])
        from loaderscope_guest import messages

        self.assertEqual(messages._dead_workers([process], said_of="DataLoader worker (pid 7)"), "")


    def test_releases_worker_but_keeps_its_exit_code(self):
        """Only its number and its end, for the error that its death has raised."""
        from loaderscope_guest import library, messages

        process = multiprocessing.get_context("fork").Process(target=os._exit, args=(3,))
        process.start()
        process.join()
        number, kept = process.pid, weakref.ref(process)
        iterator = types.SimpleNamespace(_workers=[process])
        messages._forget_workers(iterator._workers)
        del iterator, process
        self.assertIsNone(kept())
        with mock.patch.object(library, "say") as say:
            messages._say_dead_workers(lambda *of_error: None, RuntimeError, RuntimeError(f"(pid {number}) is dead"), None)
        self.assertEqual(say.call_args.kwargs["text"], f"worker 0 (process {number}) ended with exit code 3")


class Binding(unittest.TestCase):
    """CPUs that are requested, without a call of the kernel."""

    def bound(self, bind, rank, call):
        from loaderscope_guest import binding

        asked = []
        with mock.patch.object(binding, "BIND", bind), mock.patch.object(binding, "RANK", rank), \
                mock.patch.object(binding.os, "sched_setaffinity", lambda thread, cpus: asked.append((thread, list(cpus)))):
            call(binding)
        return asked

    def test_assigns_cpus_in_turn_across_ranks(self):
        order = {"in_turn": [4, 0, 5], "by_rank": []}
        for rank, worker, cpu in [(-1, 0, 4), (-1, 1, 0), (0, 1, 0), (1, 0, 5), (1, 1, 4)]:
            self.assertEqual(self.bound(order, rank, lambda b, w=worker: b.bind_worker(w, 2)), [(0, [cpu])], (rank, worker))
        self.assertEqual(self.bound(order, 1, lambda b: b.bind_pin_thread(2)), [(0, [4, 5])])

    def test_binds_worker_to_all_cpus_near_gpu_of_rank(self):
        sets = {"in_turn": [], "by_rank": [[0, 1], [2, 3]]}
        self.assertEqual(self.bound(sets, 1, lambda b: b.bind_worker(7, 8)), [(0, [2, 3])])
        self.assertEqual(self.bound(sets, 2, lambda b: b.bind_pin_thread(8)), [(0, [0, 1])])

    def test_requests_nothing_without_binding(self):
        self.assertEqual(self.bound(None, 0, lambda b: (b.bind_worker(0, 2), b.bind_pin_thread(2))), [])

    def test_reports_refused_binding(self):
        from loaderscope_guest import binding

        with mock.patch.object(binding, "BIND", {"in_turn": [1 << 20], "by_rank": []}), \
                mock.patch.object(binding.messages, "degraded") as said:
            binding.bind_worker(0, 1)
        said.assert_called_once()
        self.assertIn("worker 0 could not be bound to CPUs 1048576: ", said.call_args.args[0])


class Overrides(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import construction

        self.overrides = construction
        self.addCleanup(construction.OVERRIDES.clear)

    def applied(self, given, **flags):
        def init(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 prefetch_factor=None, persistent_workers=False):
            pass

        self.overrides.OVERRIDES.update(flags)
        self.overrides.apply(inspect.signature(init), given, lacks="has none")
        return given

    def test_replaces_arguments(self):
        self.assertEqual(self.applied({"num_workers": 2}, num_workers=4, batch_size=8),
                         {"num_workers": 4, "batch_size": 8})

    def test_removes_worker_options_without_workers(self):
        given = {"num_workers": 2, "prefetch_factor": 4, "persistent_workers": True}
        self.assertEqual(self.applied(given, num_workers=0), {"num_workers": 0})

    def test_applies_to_substitute_class(self):
        class Substitute:
            def __init__(self, d, num_workers, persistent_workers):
                self.said = (num_workers, persistent_workers)

        self.overrides.install(Substitute, lacks="has none")
        self.overrides.OVERRIDES.update(num_workers=3)
        self.assertEqual(Substitute(None, 1, True).said, (3, True))
        self.overrides.OVERRIDES.update(num_workers=0)
        self.assertEqual(Substitute(None, 1, False).said, (0, False))
        self.overrides.OVERRIDES.update(batch_size=8)
        with self.assertRaises(SystemExit):
            Substitute(None, 1, False)

    def test_refuses_conflicting_or_unsupported_flags(self):
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
        self.addCleanup(inject._stage_injections.clear)

    def sleep(self, seconds):
        """Too long by a sixteenth of a second."""
        self.slept.append(seconds)
        self.clock += seconds + 0.0625

    def use(self, **given):
        self.inject._stage_injections["decode"] = [self.inject._Injection(7, {
            "stage": "decode", "seconds": 0.25, "every": 1, "probability": 1, **given})]

    def test_delays_every_second_sample_of_worker(self):
        self.use(every=2, worker=0)
        for _ in range(4):
            self.inject.apply("decode", 0)
            self.inject.apply("decode", 1)
            self.inject.apply("augment", 0)
        self.assertEqual(len(self.slept), 2)

    def test_subtracts_excess_of_previous_sleep(self):
        self.use()
        for _ in range(3):
            self.inject.apply("decode")
        self.assertEqual(self.slept, [0.25, 0.1875, 0.1875])

    def test_notifies_host_once(self):
        self.use(probability=0.0)
        for _ in range(3):
            self.inject.apply("decode")
        self.assertEqual(self.said, [{"what": "injected", "number": 7}])
        self.assertEqual(self.slept, [])

    def test_delays_once_per_concurrent_sample(self):
        self.use()
        making = types.SimpleNamespace(injected={}, samples_at_once=3, worker=0)
        for _ in range(5):
            self.inject.once_per_sample("decode", making)
        self.assertEqual(len(self.slept), 3)


class Replay(unittest.TestCase):
    TURNS = {"lead": 2, "loader": 3, "replay": 4}

    def test_alternates_and_repeats_kept_batches(self):
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

    def test_stays_off_without_request(self):
        from loaderscope_guest import replay

        kept = replay.Kept(None)
        kept.taken([1])
        self.assertFalse(kept.is_next())

    def test_keeps_at_least_one_batch_in_limited_room(self):
        from loaderscope_guest import replay

        kept = replay.Kept(self.TURNS)
        kept._room = 10
        for _ in range(3):
            kept.taken([b"eight by", 1])
        self.assertEqual(len(kept._batches), 1)

    def test_returns_fresh_copy_of_batch_each_time(self):
        from loaderscope_guest import replay

        kept = replay.Kept({"lead": 1, "loader": 0, "replay": 9})
        kept.taken({"x": [1, 2], "y": (3, [4])})
        for _ in range(2):
            _, batch = kept.take()
            self.assertEqual(batch, {"x": [1, 2], "y": (3, [4])})
            batch.pop("y")[1].clear()
            batch["x"].append(5)


    def test_stops_and_reports_uncopyable_batch(self):
        from loaderscope_guest import messages, replay

        class Frozen(dict):
            def __setitem__(self, key, value):
                raise TypeError("frozen")

        kept, said = replay.Kept({"lead": 1, "loader": 0, "replay": 9}), []
        with mock.patch.object(messages, "degraded", said.append):
            for _ in range(3):
                kept.taken(Frozen(x=1))
        self.assertFalse(kept.is_next())
        self.assertEqual(len(said), 1)


class Sizes(unittest.TestCase):
    def test_sums_nested_arrays_and_texts(self):
        from loaderscope_guest.batch_sizes import count_bytes

        array = types.SimpleNamespace(nbytes=12)
        self.assertEqual(count_bytes({"x": array, "y": [array, (b"12345", "abc")], "z": 7}), 32)
        self.assertEqual(count_bytes(None), 0)

    def test_tolerates_failing_attributes(self):
        from loaderscope_guest.batch_sizes import count_bytes, get_length, count_samples

        class Refuses(dict):
            def __getattr__(self, name):
                raise KeyError(name)

        class Sparse:
            @property
            def nbytes(self):
                raise RuntimeError("not defined for sparse tensors")

        self.assertEqual(count_bytes(Refuses(x=b"123")), 3)
        self.assertEqual(count_samples(Refuses(x=[1, 2])), 2)
        self.assertEqual(count_bytes([Sparse(), b"12"]), 2)
        self.assertEqual(get_length(iter(())), 0)

    def test_measures_equal_samples_exactly(self):
        from loaderscope_guest.batch_sizes import count_bytes

        array = types.SimpleNamespace(nbytes=12)
        self.assertEqual(count_bytes([[array, [b"12", "345"], list(range(100))]] * 256), 256 * 17)
        self.assertEqual(count_bytes([array] * 1_000_000), 12_000_000)
        self.assertEqual(count_bytes({key: b"123" for key in range(5000)}), 15_000)

    def test_estimates_unequal_parts(self):
        from loaderscope_guest.batch_sizes import count_bytes

        texts = ["x" * (place % 5) for place in range(100_000)]
        self.assertAlmostEqual(count_bytes([b"1234", texts]) / 200_000, 1, delta=0.05)


class Visited:
    """A part of a batch that counts how often it is looked at."""

    looks = 0

    @property
    def nbytes(self):
        Visited.looks += 1
        return 1


class Walks(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import walks

        Visited.looks = 0
        patch = mock.patch.object(walks, "budget", walks.Budget())
        patch.start()
        self.addCleanup(patch.stop)

    def nested(self, *lengths):
        return [self.nested(*lengths[1:]) for _ in range(lengths[0])] if lengths else Visited()

    def test_limits_visited_objects_for_any_batch(self):
        from loaderscope_guest import walks
        from loaderscope_guest.batch_sizes import count_bytes, count_samples

        batches = (self.nested(1_000_000), self.nested(100, 100, 100), self.nested(30, 30, 30, 30), self.nested(3, 300_000),
                   [Visited(), self.nested(500_000)], [self.nested(500_000), Visited()], self.nested(2, 2, 2, 100_000),
                   {key: self.nested(1000) for key in range(1000)}, [[Visited()] * 3 + ["text"]] * 100_000)
        for number, batch in enumerate(batches):
            Visited.looks = 0
            self.assertGreater(count_bytes(batch), 0, number)
            self.assertLessEqual(Visited.looks, walks.MOST, number)
            count_samples(batch)
            self.assertLessEqual(Visited.looks, walks.MOST + 4, number)

    def test_skips_numbers_in_lists(self):
        """Numbers would cost function calls, which this test counts."""
        from loaderscope_guest import walks
        from loaderscope_guest.batch_sizes import count_bytes

        batch = [[list(range(100)) for _ in range(3)] for _ in range(256)]
        calls = []
        sys.setprofile(lambda frame, event, argument: calls.append(event) if event == "call" else None)
        try:
            size = count_bytes(batch)
        finally:
            sys.setprofile(None)
        self.assertEqual(size, 0)
        self.assertLess(len(calls), 3 * walks.MOST)

    def test_reuses_last_size_to_limit_time(self):
        from loaderscope_guest import batch_sizes, walks

        clock = [0]
        sizes = batch_sizes.Sizes()
        batch = self.nested(10, 10)
        with mock.patch.object(batch_sizes, "now", lambda: clock[0]), mock.patch.object(walks, "now", lambda: clock[0]):
            before = batch_sizes._walk

            def walk(data, most, depth):
                clock[0] += 100 if depth == 0 and most > walks.FEW else 0
                return before(data, most, depth)

            with mock.patch.object(batch_sizes, "_walk", walk):
                for _ in range(1000):
                    clock[0] += 100
                    self.assertEqual(sizes.count_bytes(batch, 10), 100)
                self.assertEqual(sizes.count_bytes(batch, 20), 200)  # twice as many samples
        self.assertLess(Visited.looks, 100 * 6 + 1000 * walks.FEW)  # six looks in 1,000 batches

    def test_separates_estimates_of_loaders(self):
        from loaderscope_guest import batch_work, library, walks

        facts = []
        with mock.patch.object(walks.budget, "is_due", lambda: False), \
                mock.patch.object(library, "fact", lambda *of_fact: facts.append(of_fact[-1])):
            for number, parts in enumerate((100, 400, 100)):
                maker = batch_work.Making(number, 0, batch_work.Known())
                maker.samples = 1
                maker.finish([[types.SimpleNamespace(nbytes=1) for _ in range(parts)]], by_trainer=True)
        self.assertEqual(facts, [100, 400, 100])

    def test_measures_simple_batches_without_walk(self):
        from loaderscope_guest import library

        part = types.SimpleNamespace(nbytes=7)
        for batch in (part, [part] * 16, (part, part), {"x": part, "y": part}, {}, []):
            self.assertGreater(library.finish(0, 0, 0, 0, True, 1, batch), 0, batch)
        for batch in ("text", [part] * 17, [part, "text"], [[part]], types.SimpleNamespace(nbytes="7"),
                      types.SimpleNamespace(nbytes=-7), types.SimpleNamespace(nbytes=1 << 80)):
            self.assertLess(library.finish(0, 0, 0, 0, True, 1, batch), 0, batch)

    def test_returns_no_size_if_part_changes_batch(self):
        from loaderscope_guest import library

        class Clears:
            def __init__(self, batch):
                self.batch = batch

            @property
            def nbytes(self):
                self.batch.clear()
                return 3

        for batch, fill in (([], lambda batch, part: batch.extend([part] * 3)),
                            ({}, lambda batch, part: batch.update(x=part, y=part))):
            fill(batch, Clears(batch))
            self.assertLess(library.finish(0, 0, 0, 0, True, 1, batch), 0)

    def test_passes_system_exit(self):
        from loaderscope_guest import library

        class Exits:
            @property
            def nbytes(self):
                raise SystemExit(3)

        with self.assertRaises(SystemExit):
            library.finish(0, 0, 0, 0, True, 1, [Exits()])

    def test_measures_every_small_batch(self):
        from loaderscope_guest import batch_sizes

        sizes = batch_sizes.Sizes()
        for length in range(1, 100):
            tensor = types.SimpleNamespace(nbytes=length)
            self.assertEqual(sizes.count_bytes({"x": tensor, "y": [tensor, tensor]}, 1), 3 * length)

    def test_limits_visited_objects_for_tensors(self):
        from loaderscope_guest.delivered import find_tensors

        class Part:
            looks = 0

            def __getattr__(self, name):
                Part.looks += 1
                raise AttributeError(name)

        batch = [[[[Part() for _ in range(20)] for _ in range(20)] for _ in range(20)] for _ in range(20)]
        self.assertEqual(list(find_tensors(batch)), [])
        self.assertLessEqual(Part.looks, 64)


class Files(unittest.TestCase):
    def test_reads_like_original_open(self):
        from loaderscope_guest import files

        path = os.path.join(FOLDER, "settings.json")
        opened = files._Open(io.open)
        with io.open(path, "rb") as file:
            expected = file.read()
        files._is_here = lambda maker: True
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
        from loaderscope_guest import wrong_data_samples, wrong_data_state

        self.said = []
        for module in (wrong_data_samples, wrong_data_state):
            before = module.library
            self.addCleanup(setattr, module, "library", before)
            module.library = types.SimpleNamespace(say=lambda **message: self.said.append(message))

    def test_distinguishes_orders(self):
        from loaderscope_guest import wrong_data_samples

        iteration = types.SimpleNamespace(number=0, generation=0)
        for indices in (range(12), range(11, -1, -1), range(5)):
            order = wrong_data_samples.Order(shuffled=True)
            order.add(iteration, list(indices))
            order.say(iteration)
            order.say(iteration)
        self.assertEqual([message["shuffled"] for message in self.said], [False, True])
        self.assertNotEqual(self.said[0]["hash"], self.said[1]["hash"])
        self.assertEqual(self.said[0]["samples"], 12)

    def test_detects_shuffling_samplers(self):
        from loaderscope_guest.wrong_data_samples import shuffles

        def loader(**sampler):
            return types.SimpleNamespace(sampler=types.SimpleNamespace(**sampler))

        self.assertTrue(shuffles(loader(shuffle=True)))
        self.assertFalse(shuffles(loader(shuffle=False, set_epoch=print)))
        self.assertTrue(shuffles(loader(set_epoch=print)))
        self.assertFalse(shuffles(loader()))
        self.assertTrue(shuffles(loader(batch_size=8, sampler=types.SimpleNamespace(shuffle=True))))

    def test_reports_only_streams_with_unlike_samples(self):
        from loaderscope_guest.wrong_data_samples import Stream

        making = types.SimpleNamespace(iterator=0, generation=0, worker=1)
        for samples in ([0, 0, 0, 0, 0], [1, 2, 3, 4, 5]):
            stream = Stream(2, range(10))
            for sample in samples:
                stream.add(making, sample)
            stream.end(making, len(samples))
            stream.end(making, len(samples))
        self.assertEqual([message["what"] for message in self.said], ["stream_end", "stream", "stream_end"])
        self.assertEqual(self.said[-1]["samples"], 5)
        self.assertEqual(self.said[-1]["declared"], 10)

    def test_keeps_no_samples_of_stream(self):
        from loaderscope_guest.wrong_data_samples import Stream

        making = types.SimpleNamespace(iterator=0, generation=0, worker=1)

        def stream_hashes(*samples):
            before, stream = len(self.said), Stream(2, range(10))
            for sample in samples:
                stream.add(making, sample)
            self.assertLess(len(pickle.dumps(stream._first)), 200)
            return [message["hash"] for message in self.said[before:]]

        large = [bytes([place]) * (8 << 20) for place in range(4)]
        self.assertEqual(len(stream_hashes(*large)), 1)
        self.assertEqual(stream_hashes(*large), stream_hashes(*large))
        self.assertNotEqual(stream_hashes(*large), stream_hashes(*large[:3], large[3][:-1] + b"!"))
        self.assertNotEqual(stream_hashes("a", "b", "c", "d"), stream_hashes("a", "b", "c", "e"))

    def test_limits_visited_parts_of_sample(self):
        from loaderscope_guest import wrong_data_samples

        looks = []

        class Part(int):
            def __str__(self):
                looks.append(self)
                return "1"

        wrong_data_samples._identity([[Part(1) for _ in range(1000)] for _ in range(1000)])
        self.assertLessEqual(len(looks), 2000)

    def test_reports_used_generators_only(self):
        import random

        from loaderscope_guest.wrong_data_state import FirstDraws

        dataset = types.SimpleNamespace(rng=random.Random(1), idle=random.Random(2))
        making = types.SimpleNamespace(iterator=0, generation=0, worker=0, dataset=dataset)
        draws = FirstDraws(making)
        dataset.rng.random()
        draws.say(making)
        self.assertEqual(self.said[0]["own"], ["rng"])
        self.assertIn("dataset", self.said[0])
        self.assertNotIn("python", self.said[0])

    def test_charges_failed_walks(self):
        from loaderscope_guest import walks, wrong_data_state

        making = types.SimpleNamespace(iterator=0, generation=0, worker=0, dataset=None)
        draws, clock = wrong_data_state.FirstDraws(making), itertools.count(0, 1000)
        with mock.patch.object(wrong_data_state, "list_values", side_effect=ZeroDivisionError), \
                mock.patch.object(wrong_data_state, "now", lambda: next(clock)), \
                mock.patch.object(walks, "now", lambda: next(clock)), \
                mock.patch.object(walks, "epochs_with_draws", walks.Epochs()), \
                mock.patch.object(walks, "epochs_with_settings", walks.Epochs()):
            for walk, epochs in ((lambda: wrong_data_state.FirstDraws(making), walks.epochs_with_draws),
                                 (lambda: draws.say(making), walks.epochs_with_draws),
                                 (lambda: wrong_data_state.say_settings(None, iterator=0), walks.epochs_with_settings)):
                epochs.forget()
                self.assertRaises(ZeroDivisionError, walk)
                self.assertFalse(epochs.is_due())


class DatasetValues(unittest.TestCase):
    def test_reads_plain_values_at_any_depth(self):
        from loaderscope_guest.wrong_data_state import hash_settings

        transform = types.SimpleNamespace(p=0.5, table=object())
        dataset = types.SimpleNamespace(size=3, names=["a", "b"], transforms=[transform], lock=print, huge="x" * 5000)
        before = hash_settings(dataset)
        self.assertEqual({"size", "names", "transforms.0.p"} & set(before), {"size", "names", "transforms.0.p"})
        self.assertNotIn("huge", before)
        self.assertNotIn("lock", before)
        transform.p = 0.9
        self.assertEqual([name for name, value in hash_settings(dataset).items() if before[name] != value],
                         ["transforms.0.p"])

    def test_limits_settings_of_cyclic_objects(self):
        from loaderscope_guest.wrong_data_state import hash_settings

        dataset = types.SimpleNamespace(count=1)
        dataset.itself = dataset
        dataset.many = [types.SimpleNamespace(x=i) for i in range(100_000)]
        self.assertLess(len(hash_settings(dataset)), 300)


class PaddingShare(unittest.TestCase):
    class Tensor:
        def __init__(self, count):
            self.count = count

        def numel(self):
            return self.count

    def test_counts_real_and_padded_elements(self):
        from loaderscope_guest.padding import real_and_padded

        samples = [{"ids": self.Tensor(3), "x": self.Tensor(8)}, {"ids": self.Tensor(5), "x": self.Tensor(8)}]
        self.assertEqual(real_and_padded(samples, {"ids": self.Tensor(10), "x": self.Tensor(16)}), (8, 10))

    def test_claims_nothing_without_padding(self):
        from loaderscope_guest.padding import real_and_padded

        alike = [self.Tensor(4), self.Tensor(4)]
        self.assertEqual(real_and_padded(alike, self.Tensor(8)), (0, 0))
        differ = [self.Tensor(3), self.Tensor(5)]
        self.assertEqual(real_and_padded(differ, self.Tensor(8)), (0, 0))  # concatenated
        self.assertEqual(real_and_padded(differ, [self.Tensor(3), self.Tensor(5)]), (0, 0))
        self.assertEqual(real_and_padded("text", None), (0, 0))

    def test_counts_lists_of_numbers(self):
        from loaderscope_guest.padding import real_and_padded

        self.assertEqual(real_and_padded([([1, 2], 0), ([1, 2, 3], 1)], (self.Tensor(6), self.Tensor(2))), (5, 6))

    def test_visits_bounded_number_of_objects(self):
        from loaderscope_guest import walks
        from loaderscope_guest.padding import real_and_padded

        visited = []

        class Counted(self.Tensor):
            def numel(self):
                visited.append(self)
                return self.count

        def sample(length):
            return [[Counted(length) for _ in range(30)] for _ in range(30)]

        real_and_padded([sample(length % 7) for length in range(200)], sample(6))
        self.assertLessEqual(len(visited), walks.MOST)

    def test_searches_in_small_part_of_time(self):
        from loaderscope_guest import padding, walks

        clock = [0]

        def looked(samples, batch):
            clock[0] += 1000  # ns, that a look takes
            return 0, 0

        for module, name, value in ((walks, "now", lambda: clock[0]), (padding, "now", lambda: clock[0]),
                                    (padding, "real_and_padded", looked), (walks, "budget", walks.Budget())):
            patch = mock.patch.object(module, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        shares, looks = padding.Padding(), 0
        for batch in range(10_000):
            clock[0] += 100
            shares.keep([], None)
            if shares.samples is not None:
                shares.look_at_kept()
                looks += 1
        self.assertEqual(looks, 5)  # in 1 ms, at most one in 0.2 ms

    def test_keeps_no_batch_after_search(self):
        from loaderscope_guest import padding, walks

        class Batch(list):
            pass

        batch = Batch([1, 2])
        ended = weakref.ref(batch)
        shares = padding.Padding()
        with mock.patch.object(walks, "budget", walks.Budget()):
            shares.keep([[1], [2]], batch)
            shares.look_at_kept()
        del batch
        self.assertIsNone(ended())


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
        self.assertRegex(user_code.maker_name(Photos()), r"Photos.__getitem__ \(guest_test.py:\d+\)$")

    def test_names_wrapped_function_by_original_place(self):
        from loaderscope_guest import stages, user_code

        class Photos:
            def __getitem__(self, index):
                pass

        crop, flip = (stages.timed(own, stages.AUGMENT) for own in (lambda image: image, lambda image: image + 1))
        for wrapped in (crop, flip):
            line = wrapped.__wrapped__.__code__.co_firstlineno
            self.assertTrue(user_code.quick_name(wrapped).endswith(f" (guest_test.py:{line})"))
        line = Photos.__getitem__.__code__.co_firstlineno
        Photos.__getitem__ = stages.timed(Photos.__getitem__, stages.READ)
        self.assertTrue(user_code.maker_name(Photos()).endswith(f" (guest_test.py:{line})"))

    def test_prefers_program_samplers_to_pytorch_samplers(self):
        from loaderscope_guest import user_code

        class Balanced:
            def __iter__(self):
                pass

        torch_sampler = type("BatchSampler", (), {"__module__": "torch.utils.data.sampler"})()
        torch_sampler.sampler, own = Balanced(), Balanced()
        for batches in (torch_sampler, own):
            name = user_code.chooser_name(types.SimpleNamespace(batch_sampler=batches, sampler=None))
            self.assertRegex(name, r"Balanced.__iter__ \(guest_test.py:\d+\)$")

    def test_charges_entries_and_restores_compose(self):
        from loaderscope_guest import user_code

        user_code.spending = user_code.Spending()
        entries = [int, Slow()]
        compose = types.SimpleNamespace(transforms=entries)
        with user_code.entries_timed(compose):
            self.assertEqual([entry("7") for entry in compose.transforms], [7, "7"])
        self.assertIs(compose.transforms, entries)
        self.assertIn(("augment", "Slow"), dict(user_code.spending.parts()))

    def test_charges_entries_of_sliced_tuple(self):
        from loaderscope_guest import user_code

        user_code.spending = user_code.Spending()
        compose = types.SimpleNamespace(transforms=(int, Slow()))
        with user_code.entries_timed(compose):
            self.assertEqual([entry("7") for entry in compose.transforms[0:None]], [7, "7"])
            self.assertIs(compose.transforms[0], int)
        self.assertIs(type(compose.transforms), tuple)
        self.assertIn(("augment", "Slow"), dict(user_code.spending.parts()))

    def test_excludes_time_of_nested_entries(self):
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
        spent = {name: time for (_, name), time in user_code.spending.parts()}
        self.assertEqual(spent.pop("int"), 10)
        self.assertEqual(list(spent.values()), [20])


class Search(unittest.TestCase):
    def test_stops_and_reports_error_of_search(self):
        from loaderscope_guest import messages, search

        said, looks = [], search.Search()
        looks._note = lambda *of_call: 1 / 0
        with mock.patch.object(messages, "degraded", said.append):
            self.assertTrue(looks.begin())
            self.assertEqual(os.path.basename("a/b"), "b")
        self.assertIsNone(sys.getprofile())
        self.assertEqual(said, ["what gives the batches is not looked into: ZeroDivisionError('division by zero')"])


class Spent(unittest.TestCase):
    def test_tolerates_failing_report(self):
        from loaderscope_guest import messages, user_code

        said, spending = [], user_code.Spending()
        spending.also.append(lambda: 1 / 0)
        with mock.patch.object(messages, "degraded", said.append):
            spending.say(5)
        self.assertEqual(len(said), 1)
        self.assertGreater(spending.not_before, 5)


class ExceptionWrapper:
    """Mimics PyTorch's wrapper of an exception of a worker."""


class Received(unittest.TestCase):
    def test_ignores_exception_of_worker(self):
        from loaderscope_guest.iteration import Iteration

        iteration = Iteration(0, 1, types.SimpleNamespace(num_workers=1))
        raised, batch = ExceptionWrapper(), [1]
        iteration.received(3, raised)
        iteration.received(4, batch)
        self.assertEqual(iteration.find_batch(batch), 4)
        self.assertEqual(iteration.find_batch(raised), iteration.taken)

    def test_matches_repeated_object_to_each_batch(self):
        from loaderscope_guest.iteration import Iteration

        iteration, batch, other = Iteration(0, 1, types.SimpleNamespace(num_workers=1)), [1], [2]
        for number, data in ((1000, batch), (1001, other), (1002, batch), (1003, batch)):
            iteration.received(number, data)
        self.assertEqual([iteration.find_batch(data) for data in (batch, batch, other, batch)], [1000, 1002, 1001, 1003])
        self.assertEqual(iteration.find_batch(batch), iteration.taken)


class Fetcher:
    def fetch(self, keys):
        return keys


class CurrentBatch(unittest.TestCase):
    """The batch that is to be pinned by the thread that has made it."""

    def fetched(self, pins):
        from loaderscope_guest import batch_work, queues, worker

        queues.pinning.batch = None
        worker.TrainerFetcher(Fetcher(), batch_work.Making(0, 0), pins).fetch([1])
        return queues.pinning.batch

    def test_keeps_batch_only_for_pinning(self):
        self.assertIsNone(self.fetched(False))
        self.assertEqual(self.fetched(True), 0)


class Sending(unittest.TestCase):
    """Batches that a worker sends to the trainer, among all that it sends."""

    def setUp(self):
        from loaderscope_guest import batch_work, library, queues

        self.facts = []
        for patch in (mock.patch.object(library, "fact", lambda kind, *of_fact: self.facts.append(kind)),
                      mock.patch.object(batch_work, "current", batch_work.Making(0, 0)),
                      mock.patch.object(multiprocessing.queues, "_ForkingPickler", multiprocessing.queues._ForkingPickler)):
            patch.start()
            self.addCleanup(patch.stop)
        self.ours, self.others = multiprocessing.Queue(), multiprocessing.Queue()
        queues._Sending(self.ours)

    def sent(self, queue):
        queue.put((1, "data"))
        got = queue.get()
        queue.close()
        queue.join_thread()
        self.assertEqual(got, (1, "data"))
        return len(self.facts)

    def test_reports_batches_but_not_queues_of_program(self):
        self.assertEqual(self.sent(self.others), 0)
        self.assertEqual(self.sent(self.ours), 2)  # one fact for pickling, one for sending


class Keys(unittest.TestCase):
    def test_replaces_large_keys_by_place_in_batch(self):
        from loaderscope_guest import batch_work, library

        maker, sampled = batch_work.Making(0, 0), []

        def sample(number):
            if number >= 1 << 63:
                raise OverflowError
            sampled.append(number)

        with mock.patch.object(library, "sample", sample), mock.patch.object(library, "say") as say:
            for key in (1 << 70, 5, 1 << 70):
                maker.next_sample(key)
        self.assertEqual(sampled, [0, 5, 2])
        say.assert_called_once()


class Chunks(unittest.TestCase):
    """Chunks of arrays; each chunk is read as a whole."""

    def added_counts(self, chosen, given, chunks=(16, 3, 8)):
        from loaderscope_guest import chunks as looked_into

        dataset = types.SimpleNamespace(chunks=chunks, shape=(100, 3, 20))
        with mock.patch.object(looked_into.counters, "add") as added:
            looked_into.look_at_hdf5(types.SimpleNamespace(size=given), dataset, chosen)
        return [call.args for call in added.call_args_list]

    def test_counts_chunks_of_slice(self):
        row = 16 * 3 * 24  # bytes; 20 columns lie in three chunks
        self.assertEqual(self.added_counts(5, 60), [("read.chunks_per_used", row, 60)])
        self.assertEqual(self.added_counts((5, Ellipsis), 60), [("read.chunks_per_used", row, 60)])
        self.assertEqual(self.added_counts((slice(15, 17), slice(None), 3), 6), [("read.chunks_per_used", 32 * 3 * 8, 6)])

    def test_skips_unknown_selections(self):
        self.assertEqual(self.added_counts(5, 60, chunks=None), [])
        self.assertEqual(self.added_counts([1, 7], 120), [])
        self.assertEqual(self.added_counts(slice(0, 10, 2), 300), [])
        self.assertEqual(self.added_counts("field", 100), [])


class OpensOfLibraries(unittest.TestCase):
    """Files that a library opens for a sample."""

    def test_recognises_files_opened_before(self):
        from loaderscope_guest import opens

        class Own(str):
            def __hash__(self):
                raise RuntimeError("asked")

        with mock.patch.object(opens, "_seen", set()), mock.patch.object(opens.counters, "add") as added:
            for name in ("a.h5", pathlib.Path("a.h5"), b"b.h5", Own("a.h5"), 7, None):
                opens.look_at_file(None, object(), name, "r")
        self.assertEqual([call.args for call in added.call_args_list],
                         [("read.opened_again", again, 1) for again in (False, True, False)])


class Opens(unittest.TestCase):
    """Opens of files by an interpreter."""

    def setUp(self):
        from loaderscope_guest import library

        self.library, self.seen = library, []
        self.addCleanup(library.watch_opens, None)

    def test_counts_opens_of_other_interpreter_without_names(self):
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            import _interpreters as interpreters
        path = os.path.join(FOLDER, "settings.json")
        other = interpreters.create()
        self.addCleanup(interpreters.destroy, other)
        before = self.library.opened(0)
        self.library.watch_opens(lambda name, what: self.seen.append(name))
        interpreters.run_string(other, f"open({path!r}).close()")
        self.assertEqual((self.seen, self.library.opened(0) - before), ([], 1))
        open(path).close()
        self.assertEqual(self.seen, [path])

    def test_passes_keyboard_interrupt_but_not_errors(self):
        def note(name, what):
            raise self.error

        self.library.watch_opens(note)
        self.error = ValueError()
        open(os.path.join(FOLDER, "settings.json")).close()
        self.error = KeyboardInterrupt()
        self.assertRaises(KeyboardInterrupt, open, os.path.join(FOLDER, "settings.json"))

    def test_refuses_callables_to_other_interpreter(self):
        if sys.version_info[:2] == (3, 12):
            self.skipTest("its ctypes cannot be loaded there")
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            import _interpreters as interpreters
        other = interpreters.create()
        self.addCleanup(interpreters.destroy, other)
        asks = """
import ctypes
library = ctypes.PyDLL(%r)
library.lsg_python_functions.restype = ctypes.py_object
try:
    library.lsg_python_functions()
except TypeError:
    pass
else:
    raise AssertionError("they are those of another interpreter")
"""
        failure = interpreters.run_string(other, asks % self.library.PATH)
        self.assertIsNone(failure)


class Lines(unittest.TestCase):
    """Lines of a worker's own code, as another thread sees them."""

    def setUp(self):
        from loaderscope_guest import batch_work, line_sampler

        self.lines, self.maker, self.spent = line_sampler, batch_work.Making(0, 0), {}
        self.maker.thread = threading.get_ident()
        self.samples = line_sampler.Samples(self.maker, self.spent)

    def test_ignores_samples_in_stage_or_without_batch(self):
        with mock.patch.object(self.lines.library, "is_in_stage", lambda: 1):
            self.samples.take(sys._getframe(), 7)
        self.maker.thread = 0
        self.samples.take(sys._getframe(), 7)
        self.assertEqual(self.spent, {})

    def test_names_the_line_that_runs_when_a_sample_is_taken(self):
        self.lines._watched = 0
        with mock.patch.object(self.lines.library, "sample_lines") as begun, mock.patch.object(atexit, "register"):
            self.lines.watch(self.maker)
        (taken, every), _ = begun.call_args
        taken(every)
        (line, spent), = self.lines.user_code.spending.lines.items()
        self.assertRegex(line, r"^test_names_the_line_that_runs_when_a_sample_is_taken \(guest_test.py:\d+\)$")
        self.assertEqual(spent, every)

    def test_catches_no_signal(self):
        with mock.patch.object(self.lines.library, "sample_lines"), mock.patch.object(atexit, "register"):
            before = [signal.getsignal(number) for number in signal.valid_signals()]
            self.lines._watched = 0
            self.lines.watch(self.maker)
        self.assertEqual([signal.getsignal(number) for number in signal.valid_signals()], before)

    def test_names_program_line_that_called_library(self):
        frame = None

        class Frame:
            def __init__(self, file, name, line, back=None):
                self.f_code = types.SimpleNamespace(co_filename=file, co_name=name)
                self.f_lineno, self.f_back = line, back

        frame = Frame("/home/me/train.py", "__getitem__", 12)
        inner = Frame("/x/site-packages/numpy/core.py", "dot", 4, frame)
        self.assertEqual(self.lines.frame_line(inner), "__getitem__ (train.py:12)")
        self.assertEqual(self.lines.frame_line(Frame(inner.f_code.co_filename, "dot", 4)), "dot (core.py:4)")
        self.assertIsNone(self.lines.frame_line(Frame(self.lines.construction.OURS + "files.py", "read", 3, frame)))
        trainer = Frame("/home/me/train.py", "<module>", 34)
        forked = Frame("/usr/lib/python3.11/multiprocessing/process.py", "_bootstrap", 314, trainer)
        inner = Frame("/x/site-packages/torch/worker.py", "fetch", 4, forked)
        self.assertEqual(self.lines.frame_line(inner), "fetch (worker.py:4)")
        self.assertIsNone(self.lines.frame_line(None))


class Slow:
    def __call__(self, value):
        return value


class FakeLoader:
    def __init__(self, dataset, workers=2):
        self.dataset, self.num_workers, self.batch_size = dataset, workers, 8


class Numbers(unittest.TestCase):
    """Numbers of DataLoaders."""

    def setUp(self):
        from loaderscope_guest import construction, loaders

        self.loaders = loaders.Loaders()
        self.places = construction

    def number(self, loader):
        self.places.remember(loader)
        return self.loaders.get_number(loader)

    def test_stays_with_recreated_loader(self):
        numbers = [self.number(FakeLoader([index])) for index in range(3)]
        self.assertEqual(numbers, [0, 0, 0])

    def test_differs_for_live_or_unlike_loaders(self):
        alive = [FakeLoader([1]), FakeLoader([1])]
        self.assertEqual([self.number(loader) for loader in alive], [0, 1])
        self.assertEqual([self.number(loader) for loader in reversed(alive)], [1, 0])
        self.assertEqual(self.number(FakeLoader([1], workers=3)), 2)

    def test_records_line_of_program(self):
        loader = FakeLoader([])
        self.places.remember(loader)
        line = inspect.currentframe().f_lineno - 1
        self.assertEqual(self.places.find_place(loader).line, f"{os.path.abspath(__file__)}:{line}")


    def test_records_packages_that_create_loader(self):
        trainer = {"__name__": "transformers.trainer", "remember": self.places.remember}
        exec("def make(loader): remember(loader)", trainer)
        prepare = {"__name__": "accelerate", "make": trainer["make"]}
        exec("def prepare(loader): make(loader)", prepare)
        loader = FakeLoader([])
        prepare["prepare"](loader)
        self.assertEqual(self.places.find_place(loader).packages[:2], ("transformers", "accelerate"))
        self.assertNotIn("unittest", self.places.find_place(loader).packages)

    def test_finds_packages_of_data_set(self):
        Stream = type("Stream", (dict,), {"__module__": "streaming.base"})
        Own = type("Own", (Stream,), {"__module__": "__main__"})
        self.assertEqual(self.places.find_libraries(Own), ["streaming"])
        self.assertEqual(self.places.find_libraries(dict), [])


class Iterators(unittest.TestCase):
    """Iterators of one loader, which is described once."""

    def setUp(self):
        from loaderscope_guest import library, loaders, messages, walks

        self.loaders, self.walks = loaders, walks
        self.said = []
        for patch in (mock.patch.object(messages, "join_as_trainer", lambda: True),
                      mock.patch.object(library, "say_spelled", lambda text: self.said.append(json.loads(text))),
                      mock.patch.object(walks, "budget", walks.Budget()), mock.patch.object(walks, "now", lambda: 0),
                      mock.patch.object(loaders, "now", lambda: -1_000_000)):
            patch.start()
            self.addCleanup(patch.stop)
        self.all = loaders.Loaders()

        class Loader:
            collate_fn = print

        self.loader = Loader()
        vars(self.loader).update(dataset=Slow(), num_workers=0, batch_size=4, pin_memory=False)

    def begin(self, count):
        calls = []
        self.all.begin(self.loader, 0)
        sys.setprofile(lambda frame, event, argument: calls.append(event) if event == "call" else None)
        try:
            for _ in range(count):
                self.all.begin(self.loader, 0)
        finally:
            sys.setprofile(None)
        return len(calls) / count

    def test_stops_after_last_iterator_number(self):
        from loaderscope_guest import messages

        self.all._iterators = (1 << 31) - 3
        self.assertIsNotNone(self.all.begin(self.loader, 0))
        with mock.patch.object(messages, "degraded") as degraded:
            self.assertIsNone(self.all.begin(self.loader, 0))
        self.assertIn("after the first 2,147,483,646", degraded.call_args[0][0])

    def test_costs_bounded_number_of_calls(self):
        self.assertLess(self.begin(1000), 60)
        loaders = [message for message in self.said if message["what"] == "loader"]
        self.assertEqual([message["iterator"] for message in loaders], list(range(1001)))
        self.assertEqual(loaders[1], {**loaders[1000], "iterator": 1})
        self.assertEqual(loaders[1000]["num_workers"], 0)

    def test_describes_changed_loader_again(self):
        self.begin(2)
        self.loader.num_workers = 2
        self.loader.multiprocessing_context = None
        self.begin(1)
        self.assertEqual([message["num_workers"] for message in self.said if message["what"] == "loader"], [0, 0, 0, 2, 2])

    def test_describes_failing_loader_once(self):
        from loaderscope_guest import loaders, messages, walks

        with mock.patch.object(loaders, "describe", side_effect=ZeroDivisionError) as described, \
                mock.patch.object(messages, "degraded") as degraded:
            for _ in range(10):
                self.assertIsNone(self.all.begin(self.loader, 0))
        self.assertEqual((described.call_count, degraded.call_count), (1, 1))
        self.assertIsNone(self.all.begin(self.loader, 0))
        walks.budget.forget()
        self.assertIsNotNone(self.all.begin(self.loader, 0))


class LookedAtEpochs(unittest.TestCase):
    def test_includes_first_epochs_then_limits_time(self):
        from loaderscope_guest import walks

        clock = [0]
        with mock.patch.object(walks, "now", lambda: clock[0]):
            epochs, looked_at = walks.Epochs(), 0
            for _ in range(10_000):
                clock[0] += 1000
                if epochs.begins():
                    looked_at += 1
                    clock[0] += 500
                    epochs.spend(clock[0] - 500)
        self.assertLess(looked_at, 4 + 10_000 * 1000 / (200 * 500) + 1)
        self.assertGreater(looked_at, 50)

    def test_includes_every_long_epoch(self):
        from loaderscope_guest import walks

        clock = [0]
        with mock.patch.object(walks, "now", lambda: clock[0]):
            epochs = walks.Epochs()
            for _ in range(100):
                clock[0] += 10**9
                self.assertTrue(epochs.begins())
                epochs.spend(clock[0] - 10**6)


class LibraryThreads(unittest.TestCase):
    """Threads that compute while the thread that makes a batch waits for them, as those of a tokenizer do."""

    def setUp(self):
        from loaderscope_guest import counters, library, library_threads

        self.library, self.said = library, []
        patch = mock.patch.object(library, "say", lambda **message: self.said.append(message))
        patch.start()
        self.addCleanup(patch.stop)
        self.counters = counters.counters
        self.counters.forget()
        self.addCleanup(self.counters.forget)
        for _ in range(17):  # the batches before may have been short
            self.make(lambda: time.sleep(0.0011))
        library_threads.watch()

    def make(self, work):
        at = time.monotonic_ns()
        self.library.begin_batch(0, 0, 0, 0, at, at, False, False)
        work()
        self.library.end_work(0)

    def values(self):
        self.counters.report()
        return self.said[-1]["values"]["making.library_cores"]

    def compute_in_thread(self):
        spent = []

        def compute():
            hashlib.pbkdf2_hmac("sha512", b"", b"", 200_000)  # releases the interpreter's lock
            spent.append(time.thread_time_ns())

        thread = threading.Thread(target=compute)
        thread.start()
        thread.join()
        return spent[0]

    def test_counts_while_batch_is_made(self):
        spent = []
        self.make(lambda: spent.append(self.compute_in_thread()))
        others, making = self.values()
        self.assertGreater(others, 0.8 * spent[0])
        self.assertLess(others, 1.2 * spent[0] + 20e6)
        self.assertGreater(making, spent[0])

    def test_excludes_thread_that_makes_batch(self):
        self.make(lambda: hashlib.pbkdf2_hmac("sha512", b"", b"", 200_000))
        others, making = self.values()
        self.assertGreater(making, 0)
        self.assertLess(abs(others), 0.1 * making)

    def test_excludes_time_between_batches(self):
        self.make(lambda: time.sleep(0.002))
        self.compute_in_thread()
        others, making = self.values()
        self.assertLess(abs(others), 2e6)

    def test_reads_few_clocks_for_short_batches(self):
        for _ in range(150):
            self.make(lambda: None)
        self.make(lambda: time.sleep(0.002))  # left out
        self.assertLess(self.values()[1], 1e6)


class Garbage(unittest.TestCase):
    """Garbage collections of the interpreter."""

    def setUp(self):
        from loaderscope_guest import counters, garbage, library

        self.garbage, self.said = garbage, []
        for patch in (mock.patch.object(library, "say", lambda **message: self.said.append(message)),
                      mock.patch.object(library.flags, "role", "worker")):
            patch.start()
            self.addCleanup(patch.stop)
        self.counters = counters.counters
        self.counters.forget()
        self.addCleanup(self.counters.forget)
        self.addCleanup(lambda: gc.callbacks.remove(library.count_collection))

    def values(self):
        self.counters.report()
        return self.said[-1]["values"]

    def test_counts_and_times_collections(self):
        self.garbage.watch()
        before = self.values()["gc.worker_full"]
        for generation in (0, 1, 2, 2):
            gc.collect(generation)
        values = self.values()
        self.assertEqual(before, [0, 1])
        self.assertEqual(values["gc.worker_full"], [2, 1])
        self.assertEqual(values["gc.full_s"][1], 2)
        self.assertGreater(values["gc.full_s"][0], 0)
        spent, since = values["gc.worker_share"]
        self.assertTrue(0 < values["gc.full_s"][0] * 1e9 <= spent < since)
        self.assertGreaterEqual(since, 10**9)  # holds for a new process too

    def test_excludes_collections_of_parent(self):
        self.garbage.watch()
        gc.collect()
        child = os.fork()
        if child == 0:
            self.garbage.watch()
            is_new = self.values()["gc.worker_full"] == [0, 1]
            gc.collect()
            is_one = self.values()["gc.worker_full"] == [1, 1]
            os._exit(0 if is_new and is_one and len(gc.callbacks) == 1 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_passes_exceptions_of_signal_handlers(self):
        class Interrupted(BaseException):
            pass

        def interrupt(*_):
            raise Interrupted

        self.garbage.watch()
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))
        held = [[[]] for _ in range(300_000)]  # a collection that visits them takes longer than the timer
        with mock.patch.object(sys, "unraisablehook") as discarded:
            for _ in range(3):
                with self.assertRaises(Interrupted):
                    signal.setitimer(signal.ITIMER_REAL, 0.002)
                    gc.collect()
                    time.sleep(10)  # also where the timer is late
        self.assertEqual(discarded.call_count, 0)
        self.assertEqual(len(held), 300_000)


class RandomSampler:
    def __len__(self):
        return 100


class BatchSampler:
    def __init__(self):
        self.sampler, self.batch_size, self.drop_last = RandomSampler(), 8, True

    def __len__(self):
        return 12


class SimpleShardList:
    urls = ["0.tar", "1.tar", "2.tar"]


def split_by_worker():
    pass


class Described(unittest.TestCase):
    """Facts that are read from a DataLoader."""

    class Loader(FakeLoader):
        def __init__(self, dataset=(), **attributes):
            super().__init__(dataset)
            self.batch_sampler = self.sampler = None
            self.__dict__.update(attributes)

    def facts(self, *names, **attributes):
        from loaderscope_guest.loaders import describe

        described = describe(self.Loader(**attributes))
        return tuple(described[name] for name in names)

    def test_reads_facts_of_batch_sampler(self):
        names = "batch_size", "samples", "batches", "drop_last", "sampler", "shuffle"
        expected = (8, 100, 0, True, "RandomSampler", True)
        sampler = BatchSampler()
        self.assertEqual(self.facts(*names, batch_size=None, batch_sampler=sampler), expected)
        # In the sampler's place, with batch_size=None.
        self.assertEqual(self.facts(*names, batch_size=None, sampler=sampler), expected)

    def test_counts_batches_without_samples(self):
        names = "batch_size", "samples", "batches"
        self.assertEqual(self.facts(*names, batch_size=None, sampler=range(12)), (0, 0, 12))
        self.assertEqual(self.facts(*names, batch_size=8, sampler=range(12), batch_sampler=range(2)), (8, 0, 2))

    def test_counts_shards_that_workers_divide(self):
        def shards(*steps):
            stream = types.SimpleNamespace(pipeline=list(steps))  # has no items by number
            return self.facts("shards", dataset=stream)[0]

        self.assertEqual(shards(SimpleShardList(), split_by_worker), 3)
        self.assertEqual(shards(SimpleShardList()), 0)
        self.assertEqual(shards(iter([]), split_by_worker), 0)


class TinySamples(unittest.TestCase):
    class Fetcher:
        auto_collation = True

    def making(self, nanoseconds):
        """Makes a batch of two samples that takes `nanoseconds`."""
        from loaderscope_guest import batch_work, inject, library
        from loaderscope_guest.fetcher import _Dataset, watch

        inject._stage_injections.clear()
        fetcher = TinySamples.Fetcher()
        maker = batch_work.Making(0, 0)
        fetcher.dataset = _Dataset([10, 11], gives_batches=False, maker=maker)
        at = library.now()
        with mock.patch.object(batch_work, "now", lambda: at):
            watch(fetcher, maker)
            maker.begin(0, 0, at - nanoseconds, [0, 1])
            values = [fetcher.dataset[key] for key in (0, 1)]
            self.assertEqual(values, [10, 11])
            self.assertEqual(maker.samples, 2)
            maker.finish(values, by_trainer=False)
        return maker, fetcher

    def test_stops_separating_samples_after_fast_batch(self):
        making, fetcher = self.making(nanoseconds=0)
        self.assertEqual(fetcher.dataset, [10, 11])
        making.begin(1, 0, 0, [0, 1, 0])
        self.assertEqual(making.samples, 3)

    def test_separates_samples_again_in_next_epoch(self):
        from loaderscope_guest.fetcher import watch

        making, _ = self.making(nanoseconds=0)
        watch(TinySamples.Fetcher(), making)
        making.begin(1, 0, 0, [0, 1, 0])
        self.assertEqual(making.samples, 0)

    def test_separates_samples_of_new_iterator_when_due(self):
        from loaderscope_guest import batch_work, walks
        from loaderscope_guest.fetcher import _Dataset, watch

        clock, known, seen = [0], batch_work.Known(), []
        with mock.patch.object(walks, "now", lambda: clock[0]), mock.patch.object(batch_work, "now", lambda: clock[0]):
            for at in (0, 200_000, 600_000):
                clock[0] = at
                maker = batch_work.Making(0, 0, known)
                fetcher = TinySamples.Fetcher()
                fetcher.dataset = _Dataset([10, 11], gives_batches=False, maker=maker)
                watch(fetcher, maker)
                seen.append(type(fetcher.dataset))
                maker.samples = 2
                maker._stop_separating_samples()
        self.assertEqual(seen, [_Dataset, list, _Dataset])  # costs 1.2 of each 240 us

    def test_keeps_no_fetcher_alive(self):
        gc.disable()
        self.addCleanup(gc.enable)
        maker, fetcher = self.making(nanoseconds=10**9)
        ended = weakref.ref(fetcher)
        del fetcher
        self.assertIsNone(ended())  # and no collection of garbage was needed

    def test_separates_slow_samples(self):
        _, fetcher = self.making(nanoseconds=10**9)
        self.assertNotEqual(fetcher.dataset, [10, 11])


class TinySamplesOfStreams(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import batch_work, inject, library
        from loaderscope_guest.fetcher import watch
        from loaderscope_guest.streams import Samples

        inject._stage_injections.clear()
        info = types.ModuleType("torch.utils.data")
        info.get_worker_info = lambda: None
        self.messages = []
        for patch in (mock.patch.dict(sys.modules, {"torch": info, "torch.utils": info, "torch.utils.data": info}),
                      mock.patch.object(library, "say", lambda **message: self.messages.append(message))):
            patch.start()
            self.addCleanup(patch.stop)
        self.maker = batch_work.Making(0, 0)

        class Fetcher:
            auto_collation = True

        self.fetcher = Fetcher()
        self.own = iter(range(23))
        self.fetcher.dataset_iter = Samples(self.own, [], gives_batches=False, maker=self.maker)
        watch(self.fetcher, self.maker)

    def batch(self, size):
        """Makes a batch like PyTorch's fetcher."""
        from loaderscope_guest import library

        now = library.now()
        self.maker.begin(0, now, now, [None] * size)
        samples = list(itertools.islice(iter(lambda: next(self.fetcher.dataset_iter), None), size))
        self.maker.finish(samples, by_trainer=True)
        return samples, self.maker.samples

    def test_counts_samples_to_end_of_stream(self):
        given = [self.batch(8), self.batch(8), self.batch(8)]
        self.assertEqual(given, [(list(range(8)), 8), (list(range(8, 16)), 8), (list(range(16, 23)), 7)])
        self.assertIs(self.fetcher.dataset_iter, self.own)
        self.assertEqual([message["samples"] for message in self.messages if message["what"] == "stream_end"], [23])

    def test_separates_samples_until_stream_is_known(self):
        self.assertEqual(self.batch(2), ([0, 1], 2))
        self.assertEqual(self.batch(2), ([2, 3], 2))
        self.assertEqual(type(self.fetcher.dataset_iter).__name__, "Samples")
        self.assertEqual(self.batch(2), ([4, 5], 2))
        self.assertIs(type(self.fetcher.dataset_iter), itertools.chain)

    def test_ends_stream_when_fetcher_is_released(self):
        ended = []

        def stream():
            try:
                yield from range(100)
            finally:
                ended.append(True)

        self.fetcher.dataset_iter.stand_for(stream())
        self.batch(8)
        self.batch(8)
        del self.fetcher
        self.assertEqual(ended, [True])


class Device:
    def __init__(self, kind):
        self.type = kind


class Tensor:
    """Substitute for a tensor with the members that the guest reads."""

    def __init__(self, kind="cpu", source=None):
        self.device = Device(kind)
        self.source = source

    def data_ptr(self):
        return id(self)

    def to(self, device=None, dtype=None, non_blocking=False):
        kind = getattr(device, "type", device)
        return Tensor(kind, self) if isinstance(kind, str) and kind != self.device.type else self

    def copy_(self, source, non_blocking=False):
        return self


class Moves(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import device_copies, inject

        self.moves, self.facts = device_copies, []
        original = Tensor.to, Tensor.copy_
        device_copies.install(types.SimpleNamespace(Tensor=Tensor))
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

    def test_counts_copies_to_device_within_step(self):
        Tensor().to("meta")
        self.begin()
        Tensor().to("meta")
        Tensor().to(Device("meta"), non_blocking=True)
        Tensor().to(Tensor("meta"))
        Tensor("meta").copy_(Tensor())
        self.moves.step.end()
        Tensor().to("meta")
        self.assertEqual(self.facts, ["h2d"] + [(15, 5)] * 4)

    def test_ignores_other_copies(self):
        self.begin()
        Tensor().to("cpu")
        Tensor().to(object())  # a type of numbers
        Tensor().to(dtype=object())
        Tensor("meta").to("cpu")
        Tensor("meta").to("xla")
        Tensor().copy_(Tensor())
        self.assertEqual(self.facts, [])

    def test_calls_slow_path_for_copies_only(self):
        dtype, kind = type("dtype", (), {}), type("device", (), {"type": "cpu"})
        modes = [0]
        for name in ("to", "copy_"):
            original = getattr(Tensor, name)
            slow = mock.Mock(return_value=None)
            quick = mock.Mock(return_value=None, __name__=name)
            torch = types.SimpleNamespace(Tensor=Tensor, dtype=dtype, device=kind,
                                          _C=types.SimpleNamespace(_len_torch_function_stack=lambda: modes[0]))
            with mock.patch.object(self.moves, "_Slowly", lambda *of_method: slow):
                number = [method for method, _ in self.moves._METHODS].index(name)
                Tensor.quick = self.moves._moving(quick, None, torch, number)
            self.addCleanup(lambda: vars(Tensor).get("quick") and delattr(Tensor, "quick"))
            here, there = Tensor(), Tensor("meta")
            here.is_cpu, there.is_cpu = True, False
            none = [(here, ("cpu",)), (here, (dtype(),)), (here, (kind(),)), (here, (None,)), (here, (here,)), (here, ()),
                    (there, ("meta",)), (there, (there,))] if name == "to" else [(here, (there,)), (here, (here,)), (there, (there,))]
            copies = [(here, ("meta",)), (here, (there,))] if name == "to" else [(there, (here,))]
            for tensor, arguments in none + copies:
                tensor.quick(*arguments)
            self.assertEqual((quick.call_count, slow.call_count), (len(none) + len(copies), 0))  # no step is open
            self.begin()
            for tensor, arguments in none + copies:
                tensor.quick(*arguments)
            self.assertEqual((quick.call_count, slow.call_count), (2 * len(none) + len(copies), len(copies)))
            there.quick(*(("cpu", ) if name == "to" else (there,)), non_blocking=True)
            here.quick(*(() if name == "to" else (here,)), device="cpu")
            self.assertEqual(slow.call_count, len(copies))
            modes[0] = 1  # the program's own mode is not to see that we look
            there.quick(there)
            self.assertEqual(slow.call_count, len(copies) + 1)
            modes[0] = 0
            self.moves.step.end()
            self.assertIs(getattr(Tensor, name), original)

    def test_ignores_copies_of_other_thread(self):
        self.begin()
        thread = threading.Thread(target=lambda: Tensor().to("meta"))
        thread.start()
        thread.join()
        self.assertEqual(self.facts, [])

    def test_keeps_step_open_if_other_thread_ends_it(self):
        self.begin()
        thread = threading.Thread(target=self.moves.step.end)
        thread.start()
        thread.join()
        Tensor().to("meta")
        self.assertEqual(self.facts, ["h2d", (15, 5)])

    def test_ignores_fake_tensors(self):
        class FakeTensor(Tensor):
            pass

        self.begin()
        FakeTensor().to("meta")
        self.assertEqual(self.facts, [])

    def test_leaves_failing_device_to_method(self):
        class Strict:
            @property
            def device(self):
                raise NotImplementedError("strict")

        said = []
        self.begin()
        with mock.patch.object(self.moves.messages, "degraded", said.append):
            self.assertIsInstance(Tensor().to(Strict()), Tensor)
        self.assertEqual((self.facts, len(said)), ([], 1))

    def test_copies_despite_failing_report(self):
        def fact(*of_fact, **named):
            raise OSError("no room")

        said = []
        self.moves.step.begin(types.SimpleNamespace(fact=fact), 5)
        with mock.patch.object(self.moves.messages, "degraded", said.append):
            self.assertEqual(Tensor().to("meta").device.type, "meta")
        self.assertEqual(said, ["a copy to a device is not looked into: OSError('no room')"])

    def test_keeps_equality_and_name_of_method(self):
        self.assertIn(self.original[0], {Tensor.to})
        self.assertIn(Tensor.to, {self.original[0]})
        self.assertEqual(Tensor.to.__name__, "to")


class Pageable(Tensor):
    def __init__(self, elements, pinned=False):
        super().__init__()
        self.elements, self.pinned = elements, pinned

    def element_size(self):
        return 4

    def nelement(self):
        return self.elements

    def is_pinned(self):
        return self.pinned


class Waits(unittest.TestCase):
    """Waits for kernels before a copy that blocks the host."""

    def waited(self, tensor, *arguments, captures=False, sees=False, **named):
        from loaderscope_guest import device_copies, gpu

        waited = []
        stream = types.SimpleNamespace(synchronize=lambda: waited.append("waited"))
        cuda = types.SimpleNamespace(is_initialized=lambda: True, is_current_stream_capturing=lambda: captures,
                                     current_stream=lambda device: waited.append(device) or stream)
        with mock.patch.dict(sys.modules, {"torch.cuda": cuda}), mock.patch.object(gpu.watch, "sees", sees):
            device_copies._wait_for_kernels(tensor, "cuda:1", arguments, named)
        return waited

    def test_waits_on_target_device(self):
        self.assertEqual(self.waited(Pageable(1)), ["cuda:1", "waited"])
        self.assertEqual(self.waited(Pageable(1), False), ["cuda:1", "waited"])
        self.assertEqual(self.waited(Pageable(1), sees=True), [])

    def test_skips_asynchronous_copies(self):
        self.assertEqual(self.waited(Pageable(1 << 20, pinned=True), non_blocking=True), [])
        self.assertEqual(self.waited(Pageable(1), True), [])

    def test_waits_for_large_pageable_tensors(self):
        self.assertEqual(self.waited(Pageable(1 << 20), non_blocking=True), ["cuda:1", "waited"])

    def test_skips_copies_during_graph_capture(self):
        self.assertEqual(self.waited(Pageable(1), captures=True), [])


class Handed(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import delivered, messages

        self.delivered = delivered.delivered = delivered.Delivered()
        delivered.FOLLOWS = True
        self.said = []
        self.addCleanup(setattr, messages, "degraded", messages.degraded)
        messages.degraded = self.said.append
        self.handed = delivered.Handed()

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

    def test_reports_nothing_for_sound_loader(self):
        for _ in range(2):
            for _ in range(6):
                self.handed.asked()
                self.handed.given(self.deliver())
            self.handed.end_epoch()
        self.handed.end()
        self.assertEqual(self.said, [])

    def test_reports_repeated_batch(self):
        self.give(self.deliver())
        second = self.deliver()
        self.give(second)
        self.give(self.copied(second))
        self.assertIn("wrong data: the loader gave batch 1 of an epoch twice", self.said)

    def test_reports_first_batch_on_cpu(self):
        self.give(self.deliver())
        self.give([Tensor("cuda")])
        self.assertIn("the first batch of an epoch stays on the CPU, others come on cuda", self.said)

    def test_reports_held_and_lost_batches(self):
        held = self.deliver()
        for _ in range(5):
            self.handed.asked()
            held, batch = self.deliver(), held
            self.handed.given(batch)
        self.handed.end_epoch()
        self.handed.end()
        self.assertEqual(self.said[0], "the loader gave 5 of the 6 batches that its DataLoader delivered in an epoch")
        self.assertIn("each of 5 batches came 2.0 ms late", self.said[1])

    def test_wraps_loader_with_next(self):
        from loaderscope_guest import delivered

        made = []

        class Prefetcher:
            def __init__(self):
                self.left = [1, 2]
                made.append(self)

            def next(self):
                return self.left.pop(0) if self.left else (None, None)

        loader = delivered.iterable(Prefetcher(), Prefetcher)
        self.assertEqual([list(loader), list(loader), len(made)], [[1, 2], [1, 2], 2])
        self.assertIsNone(delivered.iterable(7, None))


class Gpu(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import gpu

        self.gpu, self.calls, self.refusal, self.timing = gpu, [], None, True
        self.addCleanup(setattr, gpu, "library", gpu.library)
        self.addCleanup(setattr, gpu.messages, "degraded", gpu.messages.degraded)
        gpu.messages.degraded = self.calls.append
        gpu.library = types.SimpleNamespace(
            gpu_watch=lambda: self.calls.append("watch") or self.refusal, say=lambda what: self.calls.append(what),
            gpu_record=self.calls.append, gpu_stop=lambda: self.calls.append("stop"),
            flags=types.SimpleNamespace(timing_wanted=lambda: self.timing, is_joined=lambda: True))

    def test_watches_gpu_after_first_use(self):
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
        self.assertEqual(self.calls[2:], [0, 1, "stop"])

    def test_polls_rarely_without_driver(self):
        watch = self.gpu.Watch(lambda: False)
        with mock.patch.object(self.gpu, "_DEVICES", ("/no such device",)):
            watch.look(5)
        self.assertEqual(watch.not_before, 5 + 1_000_000_000)
        with mock.patch.object(self.gpu, "_DEVICES", ("/no such device", "/dev/null")):
            watch.look(7)
        self.assertEqual(watch.not_before, 7 + 1_000_000)

    def test_stops_polling_once_gpu_is_known(self):
        watch = self.gpu.Watch(lambda: True)
        self.refusal = b"there is no libcupti"
        gpus = types.SimpleNamespace(cuda=types.SimpleNamespace(is_initialized=lambda: True))
        with mock.patch.dict(sys.modules, torch=gpus):
            watch.look(5)
        self.assertGreater(watch.not_before, 1 << 60)

    def test_reports_failing_query_once(self):
        def broken():
            raise RuntimeError("CUDA is in a bad state")

        watch = self.gpu.Watch(broken)
        watch.look()
        watch.look()
        self.assertEqual(self.calls, ["whether the program uses a GPU is not looked into: RuntimeError('CUDA is in a bad "
                                      "state')"])

    def test_forgets_gpu_of_parent(self):
        watch = self.gpu.Watch(lambda: True)
        watch.look()
        watch.forget()
        watch.look()
        watch.give_way()
        watch.finish()
        self.assertEqual(self.calls, ["watch", "gpu"])

    def test_watches_gpu_of_child(self):
        watch = self.gpu.Watch(lambda: True)
        watch.forget()
        watch.look()
        self.assertEqual(self.calls, ["watch", "gpu"])

    def test_reports_gpu_of_other_vendor_once(self):
        xpu = types.SimpleNamespace(is_initialized=lambda: True)
        with mock.patch.dict(sys.modules, torch=types.SimpleNamespace(cuda=None, xpu=xpu)):
            watch = self.gpu.Watch(lambda: False)
            watch.look()
            watch.look()
        self.assertEqual(self.calls, ["uses_gpu"])

    def test_gives_way_to_a_profiler_that_records_it(self):
        prepared = []
        profiler = types.SimpleNamespace(_prepare_profiler=lambda config, activities: prepared.append(activities))
        self.addCleanup(setattr, self.gpu, "watch", self.gpu.watch)
        self.gpu.watch = watch = self.gpu.Watch(lambda: True)
        self.gpu.install_giving_way(profiler)
        watch.look()
        profiler._prepare_profiler(None, ["CPU"])
        self.assertEqual(self.calls, ["watch", "gpu"])
        profiler._prepare_profiler(None, ["CPU", "CUDA"])
        self.assertEqual(self.calls[2:4], ["stop", "gpu_over"])
        profiler._prepare_profiler(None, ["CUDA"])
        watch.look()
        self.assertEqual((len(self.calls), watch.sees, len(prepared)), (5, False, 3))

    def test_reports_refused_watch_once(self):
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
        stream = self.current

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

    def test_overlaps_copy_and_compute_on_own_stream(self):
        self.assertEqual(self.trained(2, own_copy_stream=1),
                         [(12, 0, 0, 3), (13, 0, 3, 7), (12, 1, 3, 6), (13, 1, 7, 13)])

    def test_chooses_product_size_by_step_time(self):
        shapes = []

        def multiply(left, right, out):
            shapes.append(left)
            self.cuda.run(left ** 3 * 1e-3)  # ns

        torch = types.SimpleNamespace(cuda=self.cuda, __version__="2.0", bfloat16=2, mm=multiply,
                                      ones=lambda rows, columns, device, dtype: rows, empty_like=lambda matrix: matrix)
        for step_ms, rows in ((1, 512), (10, 512), (100, 1024), (600, 2048), (60_000, 8192)):
            compute = self.module.Compute(torch, True, step_ms * self.MS)
            begin = self.cuda.current.free
            shapes.clear()
            compute.launch(step_ms * self.MS)
            self.assertEqual(set(shapes), {rows})
            self.assertAlmostEqual((self.cuda.current.free - begin) / self.MS / step_ms, 1, delta=0.08)

    def test_corrects_products_by_first_steps(self):
        slow = [1.0]
        torch = types.SimpleNamespace(cuda=self.cuda, __version__="2.0", bfloat16=2,
                                      mm=lambda left, right, out: self.cuda.run(left ** 3 * 1e-6 * slow[0]),
                                      ones=lambda rows, columns, device, dtype: rows, empty_like=lambda matrix: matrix)
        on = self.module.TorchDevice({"products": True, "own_copy_stream": 0, "in_flight": 2, "sync_copies": 0,
                                      "compute": [20 * self.MS]}, torch, self.cuda.now)
        slow[0] = 0.8
        for taken in range(30):
            self.module.delivered.count = taken + 1
            on.wait_for_room()
            on.train([Tensor("cuda")], 0)
        on.finish()
        took = [(end - begin) / self.MS for _, _, begin, end in self.facts]
        self.assertAlmostEqual(took[0], 16, delta=0.2)
        self.assertAlmostEqual(took[-1], 20, delta=0.2)

    def test_skips_copy_of_batch_on_device(self):
        on = self.module.TorchDevice({"products": False, "own_copy_stream": 0, "in_flight": 2, "sync_copies": 0,
                                      "compute": [self.MS]},
                                     types.SimpleNamespace(cuda=self.cuda, __version__="2.0"), self.cuda.now)
        on.train([Tensor("cuda")], 0)
        on.finish()
        self.assertEqual([kind for kind, *_ in self.facts], [13])


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
