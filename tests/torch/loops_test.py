"""The Python side of the guest where no DataLoader gives the batches, without PyTorch: loops_test.py LIBRARY, where LIBRARY is
libloaderscope_guest.so."""

import inspect
import os
import sys
import threading
import types
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest_test


def setUpModule():
    guest_test.LIBRARY = LIBRARY
    guest_test.setUpModule()


def tearDownModule():
    guest_test.tearDownModule()


class Tensor:
    """Substitute for a tensor with the members that the guest reads."""

    requires_grad = False

    def __init__(self, dimensions=1):
        self.dimensions = dimensions

    def data_ptr(self):
        return id(self)

    def dim(self):
        return self.dimensions


def outer(scale, *, offset=1):
    kept = [scale]

    def inner(value, more=2, *, last=3):
        kept.append(value)
        return kept[0] * value + more + last + offset

    return inner


def counting(count):
    """Says what is sent to it and thrown into it."""
    received = []
    for number in range(count):
        try:
            received.append((yield number))
        except KeyError as error:
            received.append(repr(error))
    return received


class Functions(unittest.TestCase):
    def setUp(self):
        from loaderscope_guest import functions

        self.functions, self.taken, self.epochs = functions, [], []
        case = self

        class Opaque:
            def __init__(self, loader, describe, flag, given_before):
                self.flag = flag

            def begin_epoch(self):
                case.epochs.append(self.flag)

            def take(self, make):
                batch = make()
                case.taken.append(batch)
                return batch

        self.addCleanup(setattr, functions, "Opaque", functions.Opaque)
        functions.Opaque = Opaque

    def test_keeps_identity_defaults_and_closure(self):
        inner = outer(10)
        held, signature = inner, inspect.signature(inner)
        self.functions.watch(inner, "train.py:inner")
        self.assertEqual((held(1), held(1, more=5), held(2, 0, last=0)), (16, 19, 21))
        self.assertEqual(self.taken, [16, 19, 21])
        self.assertEqual(inspect.signature(inner), signature)
        self.assertTrue(self.functions.is_watched(inner))
        self.assertFalse(self.functions.is_watched(outer(10)))

    def test_sends_throws_and_returns_through_generators(self):
        watched = types.FunctionType(counting.__code__, globals())
        self.functions.watch(watched, "train.py:counting")

        def drive(generator):
            said = [next(generator), generator.send("sent"), generator.throw(KeyError("thrown"))]
            try:
                next(generator)
            except StopIteration as end:
                said.append(end.value)
            return said

        self.assertEqual(drive(watched(3)), drive(counting(3)))
        self.assertEqual((self.taken, len(self.epochs)), ([0, 1, 2], 1))
        begun = watched(3)
        next(begun)
        begun.close()
        self.assertRaises(StopIteration, next, begun)

    def test_raises_error_of_function(self):
        def fails():
            raise ValueError("no more")

        self.functions.watch(fails, "train.py:fails")
        self.assertRaisesRegex(ValueError, "no more", fails)

    def test_finds_functions_by_file_and_name(self):
        here = os.path.abspath(__file__)
        name = os.path.basename(here)
        found, why_not = self.functions.find(here + ":counting", deeply=False)
        self.assertEqual((found is counting, why_not), (True, ""))
        self.assertIs(self.functions.find(here + ":Tensor.dim", deeply=False)[0], Tensor.dim)
        inner = outer(1)
        self.assertIsNone(self.functions.find(here + ":inner", deeply=False)[0])
        self.assertEqual(self.functions.find(here + ":inner", deeply=True)[0].__code__, inner.__code__)
        for place, why in ((":nothing", f"{name} has no function nothing"), (":Tensor", "Tensor is a type; name the function")):
            found, why_not = self.functions.find(here + place, deeply=True)
            self.assertIsNone(found)
            self.assertIn(why, why_not)
        self.assertIn("has not loaded other.py", self.functions.find("other.py:f", deeply=True)[1])

    def test_names_functions_like_flags(self):
        here = os.path.relpath(os.path.abspath(__file__), self.functions.settings.START_FOLDER)
        if here.startswith(os.pardir):
            here = os.path.abspath(__file__)
        self.assertEqual(self.functions.function_place(outer(1)), here + ":inner")
        self.assertEqual(self.functions.function_place(Tensor.dim), here + ":Tensor.dim")
        self.assertIs(self.functions.function_with(counting.__code__), counting)


def helps():
    return Tensor(2), Tensor(1)


def gives():
    return helps()


def moves(batch):
    return [made() for _ in batch]


def made():
    return Tensor(2)


def gives_many():
    while True:
        yield Tensor(2)


def loses(batch):
    return Tensor(0)


def gives_now_and_then(number):
    return Tensor(1) if number == 0 else None


class Search(unittest.TestCase):
    STEPS = 3

    def found(self, loop):
        from loaderscope_guest.search import Search

        search = Search()
        self.assertTrue(search.begin())
        self.assertFalse(Search().begin())
        for number in range(self.STEPS):
            loop(number)
        search.end()
        self.assertIsNone(sys.getprofile())
        code = search.found(self.STEPS)
        return code and code.co_name

    def test_finds_first_source_of_tensors(self):
        self.assertEqual(self.found(lambda number: loses(moves(gives()))), "gives")

    def test_leaves_the_profiler_of_the_program(self):
        from loaderscope_guest.search import Search

        own, search = (lambda *of_call: None), Search()
        self.addCleanup(sys.setprofile, None)
        sys.setprofile(own)
        self.assertFalse(search.begin())
        self.assertIs(sys.getprofile(), own)
        sys.setprofile(None)
        self.assertTrue(search.begin())
        sys.setprofile(own)  # meanwhile
        search.end()
        self.assertIs(sys.getprofile(), own)

    def test_ends_with_next_call_after_other_thread(self):
        from loaderscope_guest.search import Search

        search = Search()
        self.addCleanup(sys.setprofile, None)
        self.assertTrue(search.begin())
        thread = threading.Thread(target=search.end)
        thread.start()
        thread.join()
        gives()
        self.assertIsNone(sys.getprofile())

    def test_finds_generator(self):
        generator = gives_many()
        self.assertEqual(self.found(lambda number: next(generator) and None), "gives_many")

    def test_finds_nothing_without_tensor_in_each_step(self):
        self.assertIsNone(self.found(lambda number: gives_now_and_then(number) and None))
        self.assertIsNone(self.found(lambda number: None))


class Fetcher:
    auto_collation = True

    def __init__(self, dataset):
        self.dataset = dataset

    def fetch(self, keys):
        return [self.dataset[key] for key in keys]


class StatesBetweenBatches(unittest.TestCase):
    def test_keeps_data_set_between_batches(self):
        from loaderscope_guest import fetcher, library, batch_work

        data = [10, 11, 12]
        maker = batch_work.Making(0, 0)
        maker.reports_state = True
        one = fetcher._hook(Fetcher(data), maker)
        self.assertIs(one.dataset, data)
        maker.begin(0, 0, library.now() - 10**9, [0, 1])
        seen = []
        self.assertEqual(one.fetch([0, 2]), [10, 12])
        seen.append(maker.samples)
        maker.finish(None, by_trainer=False)
        self.assertEqual((one.fetch([1]), maker.samples, seen), ([11], 2, [2]))  # outside a batch
        self.assertIs(one.dataset, data)
        one.dataset = [20, 21]  # a state that was loaded
        maker.begin(1, 0, library.now(), [1])
        self.assertEqual(one.fetch([1]), [21])
        maker.finish(None, by_trainer=False)

    def test_uses_original_data_set_for_fast_samples(self):
        from loaderscope_guest import fetcher, inject, library, batch_work

        inject._stage_injections.clear()
        maker = batch_work.Making(0, 0)
        maker.reports_state = True
        one = fetcher._hook(Fetcher([10, 11]), maker)
        for batch in range(2):
            maker.begin(batch, 0, library.now(), [0, 1])
            self.assertEqual(one.fetch([0, 1]), [10, 11])
            maker.finish(None, by_trainer=False)
        self.assertEqual(one._loaderscope_hidden.substitutes, {})


class OtherLoaders(unittest.TestCase):
    def test_counts_each_batch_once_and_none_at_creation(self):
        from loaderscope_guest import third_party_loaders, third_party_table

        taken = []

        class Iterator:
            def __init__(self):
                self.left = [1, 2, 3]
                self.first = next(self)

            def __next__(self):
                first, self.first = getattr(self, "first", None), None
                if first is None and not self.left:
                    raise StopIteration
                return first or self.left.pop(0)

        class Opaque:
            def take(self, make):
                taken.append(None)
                with third_party_loaders.not_counted():
                    return make()

        module = types.SimpleNamespace(Iterator=Iterator, __name__="other")
        self.addCleanup(setattr, third_party_loaders, "_find_opaque", third_party_loaders._find_opaque)
        third_party_loaders._find_opaque = lambda iterator, row: Opaque()
        third_party_loaders.install(module, third_party_table.Row("other", "Iterator", "other.Iterator"))
        iterator = Iterator()
        self.assertEqual((next(iterator), next(iterator), len(taken)), (1, 2, 2))

    def test_reports_version_without_iterator(self):
        from loaderscope_guest import third_party_loaders, third_party_table, messages

        said = []
        self.addCleanup(setattr, messages, "degraded", messages.degraded)
        messages.degraded = lambda sentence, loader=False: said.append((sentence, loader))
        third_party_loaders.install(types.SimpleNamespace(), third_party_table.Row("other", "Iterator", "other.Iterator"))
        self.assertEqual(said, [("this other has no Iterator.__next__: its batches are not seen", True)])


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
