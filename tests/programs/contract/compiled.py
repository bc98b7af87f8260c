"""torch.compile of models that call what loaderscope times. No C compiler is needed for these backends."""

import functools
import inspect
import zlib

import torch
import torchvision.transforms as T
import torchvision.transforms.functional as F
from torch.utils.data import DataLoader
from torchvision.transforms import v2

NEEDS = "torch torchvision"

X = torch.arange(3 * 8 * 8, dtype=torch.float32).reshape(1, 3, 8, 8)
_CALLS = {
    "resize": lambda x: F.resize(x, [4, 4], antialias=False),
    "crop": lambda x: F.crop(x, 1, 1, 4, 4),
    "center_crop": lambda x: F.center_crop(x, [4, 4]),
    "resized_crop": lambda x: F.resized_crop(x, 1, 1, 4, 4, [8, 8], antialias=False),
    "hflip": lambda x: F.hflip(x),
    "vflip": lambda x: F.vflip(x),
    "pad": lambda x: F.pad(x, [1, 1]),
    "rotate": lambda x: F.rotate(x, 30.0),
    "affine": lambda x: F.affine(x, 10.0, [1, 1], 1.0, [0.0, 0.0]),
    "normalize": lambda x: F.normalize(x, [0.5] * 3, [0.5] * 3),
}


class _Model(torch.nn.Module):
    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, x):
        return self.call(x) * 2


def _compiled(call, backends=("eager",), fullgraph=True):
    """The sum of what it gives, twice: guards are checked the second time. Or the first line of why it does not compile."""
    found = []
    for backend in backends:
        torch._dynamo.reset()
        try:
            model = torch.compile(_Model(call), backend=backend, fullgraph=fullgraph)
            found += [float(model(X).sum()), float(model(X).sum())]
        except Exception as error:
            found.append((type(error).__name__, str(error).splitlines()[0]))
    return found


def each_timed_function():
    return {name: _compiled(call) for name, call in _CALLS.items()}


def each_timed_function_for_autograd():
    return {name: _compiled(_CALLS[name], ["aot_eager"]) for name in ("resize", "rotate", "pad")}


def containers():
    compose = T.Compose([T.CenterCrop(6), T.Pad(1)])
    compose2 = v2.Compose([v2.CenterCrop(6), v2.Pad(1)])
    return _compiled(lambda x: compose(x)), _compiled(lambda x: compose2(x))


def functions_that_are_held():
    held, partial = [F.hflip, F.rotate], functools.partial(F.resize, size=[4, 4], antialias=False)
    padded = F.pad
    return (_compiled(lambda x: held[1](held[0](x), 20.0)), _compiled(lambda x: partial(x)), _compiled(lambda x: padded(x, [1, 1])),
            _compiled(lambda x, pad=F.pad: pad(x, [2, 2])))


def copies():
    return _compiled(lambda x: x.to(torch.float64).to("cpu")), _compiled(lambda x: torch.empty_like(x).copy_(x))


def graph_breaks():
    packed = zlib.compress(b"abc")
    return _compiled(lambda x: x + len(zlib.decompress(packed)), fullgraph=False)


def compiled_once():
    """Calls with the same shapes compile nothing again."""
    torch._dynamo.reset()
    graphs = []

    def backend(graph, inputs):
        graphs.append(len(list(graph.graph.nodes)))
        return graph

    model = torch.compile(_Model(_CALLS["rotate"]), backend=backend)
    return [float(model(X).sum()) for _ in range(4)], graphs


def loops_over_loaders():
    @torch.compile(backend="eager")
    def trained(loader, x):
        for batch in loader:
            x = x + batch.sum()
        return x

    @torch.compile(backend="eager")
    def stepped(batches, x):
        return x + next(batches).sum()

    torch._dynamo.reset()
    loader = DataLoader(torch.arange(16.0), 4)
    return float(trained(loader, X).sum()), float(stepped(iter(loader), X).sum())


def signatures():
    return {name: (str(inspect.signature(getattr(F, name))), inspect.isfunction(getattr(F, name)), getattr(F, name).__module__)
            for name in _CALLS}


def scripted():
    return float(torch.jit.script(_scripted)(X).sum()), float(torch.jit.trace(_scripted, X)(X).sum())


def _scripted(x: torch.Tensor):
    return F.pad(F.hflip(x), [1, 1]) * 2
