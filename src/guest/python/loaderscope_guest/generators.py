"""Generators of the program's and of its packages, each step of which goes through a call of ours."""

import functools
from typing import Any, Callable, Iterator


def going_on(generator: Any, take: Callable[[Callable[[], Any]], Any]) -> Iterator[Any]:
    """Wraps a generator. Yields, returned values, exceptions, send() and throw() pass through."""
    resume: Callable[[], Any] = functools.partial(next, generator)
    while True:
        try:
            batch = take(resume)
        except StopIteration as end:
            return end.value
        try:
            sent = yield batch
        except GeneratorExit:
            generator.close()
            raise
        except BaseException as error:
            resume = functools.partial(generator.throw, error)
        else:
            resume = functools.partial(generator.send, sent)
