"""A training loop asks for a batch and is given one: how that is told, whatever the loader."""

from typing import Any

from loaderscope_guest import ending, gpu, library, moves, replay
from loaderscope_guest.clock import now
from loaderscope_guest.delivered import delivered
from loaderscope_guest.iteration import Iteration
from loaderscope_guest.protocol import FACT


def ask(iteration: Iteration) -> int:
    """When the loop asked, which ends its step."""
    if library.flags.must_stop():
        gpu.watch.finish()
        ending.end()
    at = now()
    moves.step.end()
    iteration.fact(FACT.ask, begin=at)
    return at


def given_again(iteration: Iteration) -> Any:
    """A batch that was delivered before, where it is its turn: see `replay`."""
    number, batch = replay.take()
    iteration.fact(FACT.replayed, number, begin=now())
    _begin_step(iteration, -1, batch, 0)
    return batch


def given(iteration: Iteration, number: int, batch: Any, asked: int, with_gradients: bool = False) -> None:
    at = now()
    iteration.fact(FACT.take, number, begin=at, count=int(with_gradients))
    iteration.taken += 1
    replay.taken(batch)
    _begin_step(iteration, number, batch, at - asked)


def _begin_step(iteration: Iteration, number: int, batch: Any, waited: int) -> None:
    delivered.add(batch, waited)
    gpu.watch.look()
    moves.step.begin(iteration, number)
