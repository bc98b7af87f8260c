"""Loaders that are none of PyTorch's, for cli/foreign_loader_test.cpp. They need nothing but the standard library."""

import os
import tempfile
import time


class Sleeps:
    """8 samples in a list, 5 ms each unless another time is given."""

    batch_size = 8

    def __init__(self, each=0.005):
        self.each = each

    def __iter__(self):
        for _ in range(20):
            time.sleep(self.batch_size * self.each)
            yield [b"sample"] * self.batch_size


def sleeps():
    return Sleeps()


def hurries():
    return Sleeps(each=0.001)


def reads():
    """A generator that ends after one epoch would give no batch in the next one: this one can be begun again."""
    folder = tempfile.mkdtemp(dir=os.environ["FOREIGN_FOLDER"])
    path = os.path.join(folder, "data")
    with open(path, "wb") as file:
        file.write(bytes(1 << 20))

    class Reads:
        def __iter__(self):
            for _ in range(20):
                with open(path, "rb") as file:
                    yield [file.read()]

    return Reads()


def raises():
    class Raises:
        def __iter__(self):
            yield [1]
            yield [2]
            raise ValueError("batch 2 is rotten")

    return Raises()


def silent():
    class Silent:
        def __iter__(self):
            time.sleep(3600)
            yield [1]

    return Silent()


def empty():
    return []
