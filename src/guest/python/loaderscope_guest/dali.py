"""DALI's pipelines: the operators that run while a batch is waited for, and the threads and queues. DALI reports its
operators to an NVTX tool, which is this library."""

import functools
import os
from types import ModuleType
from typing import Any, Callable, NamedTuple, Tuple

from loaderscope_guest import library, messages, opaque
from loaderscope_guest.counters import counters
from loaderscope_guest.library import STAGES

_TOOL = "NVTX_INJECTION64_PATH"
_THREADS = ("[DALI]", "PrefetchWorker")  # their own names


class Row(NamedTuple):
    begins: str  # the name of an operator
    stage: str


# The first that fits. What an operator calls in Python, or is given from there, is the program's own.
OPERATORS: Tuple[Row, ...] = (
    Row("readers__", "read"),
    Row("experimental__readers__", "read"),
    Row("inputs__", "read"),
    Row("io__", "read"),
    Row("experimental__inputs__", "read"),
    Row("decoders__", "decode"),
    Row("experimental__decoders__", "decode"),
    Row("legacy__decoders__", "decode"),
    Row("VideoReader", "decode"),
    Row("ExternalSource", "opaque"),
    Row("_ExternalSource", "opaque"),
    Row("PythonFunction", "opaque"),
    Row("DLTensorPythonFunction", "opaque"),
    Row("NumbaFunction", "opaque"),
    Row("TorchPythonFunction", "opaque"),
    Row("MakeContiguous", "collate"),
    Row("", "augment"),
)


def operator_stage(operator: str) -> str:
    return next(row.stage for row in OPERATORS if operator.startswith(row.begins))


def listen(_: ModuleType) -> None:
    """Before DALI sends its first range, which is when it looks for a tool."""
    if os.environ.setdefault(_TOOL, library.PATH) != library.PATH:
        messages.degraded("DALI reports its operators to another tool: what they do counts as opaque")


def _name_operators(pipeline: Any) -> None:
    """DALI's older executors report an operator by its name in the pipeline."""
    for operator in pipeline._ops or ():
        schema = operator._op.schema_name
        for name in (schema, operator.name):
            library.operator(name.encode(), STAGES[operator_stage(schema)])
    library.operator(b"MakeContiguous", STAGES[operator_stage("MakeContiguous")])


def _threads_cpu_s() -> float:
    ticks = 0
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/stat", encoding="utf-8", errors="replace") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:  # the thread has ended
            continue
        if name.startswith(_THREADS):
            fields = rest.split()
            ticks += int(fields[11]) + int(fields[12])  # utime, stime
    return ticks / os.sysconf("SC_CLK_TCK")


def _report(pipeline: Any) -> None:
    counters.put("dali.threads", pipeline.num_threads)
    counters.put("dali.queue", pipeline.cpu_queue_size)
    counters.watch("dali.busy_threads", _threads_cpu_s)


def _build(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def build(self: Any) -> Any:
        result = original(self)
        with messages.never_failing("what a pipeline of DALI is made of is"):
            _name_operators(self)
            _report(self)
            opaque.seen_inside = "what DALI's operators do meanwhile"
        return result

    return build


def install(module: ModuleType) -> None:
    module.Pipeline.build = _build(module.Pipeline.build)
