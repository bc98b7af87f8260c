"""The lines of one visit to a machine with a GPU. Lines that may break the GPU come last."""
from gpu_check import (busy, engines, hurt, images, jpeg, ladder, link, loaders, machine, model, peers, ranks, tests,
                       training, worker)
from gpu_check.runner import Line

# Lines on the work that a GPU does for the loader: `--only worker`. Their limits are 395 s together, and they take
# about 200 s. Each makes the photos that it needs if no line before it made them.
WORKER_SECONDS_MOST = 400
WORKER_LINES = (
    Line("worker-tests", 30, "the kernels that augment give the bytes of the host", worker.worker_tests),
    Line("engines", 80, "rates of --decode hw and gpu at four sizes; needs JPEG engines for hw", engines.engines),
    Line("worker-native", 50, "--decode hw at 1, 2 and 4 workers, and from GPU memory: rate, host CPU; needs JPEG engines",
         worker.native),
    Line("worker-account", 30, "the account of --decode hw with matrix products closes; needs JPEG engines",
         worker.account),
    Line("worker-kernel", 25, "time and bytes of the kernel that augments, f32 and f16", worker.kernel),
    Line("worker-peers", 45, "torchvision on the same files; needs torchvision with CUDA, and the line engines",
         peers.peers),
    Line("worker-ladder", 80, "the four rungs of the published ladder; needs JPEG engines for two of them",
         ladder.ladder),
)
HURT_LINE = Line("worker-hurt", 55, "the GPU survives damaged images, too little memory and Ctrl-C; needs JPEG engines",
                 hurt.hurt)

LINES = (
    Line("machine", 30, "what GPU, driver and versions are here", machine.describe),
    Line("tests", 110, "the tests that need a GPU, a process each, and the tick of its clock", tests.gpu_tests),
    Line("data", 30, "images to load", images.make_data),
    Line("link", 60, "pinned copies are as fast as a bare loop of them, and nothing falls back", link.alone),
    Line("loaded link", 60, "the same while workers decode", link.loaded),
    Line("busy", 60, "busy is what CUPTI sees, and the clocks agree", busy.busy),
    Line("model", 50, "pipelines are as the model says", model.known_answers),
    Line("images", 130, "every memory mode, executor, copy mode and type delivers images", images.images),
    Line("loader", 80, "a DataLoader of PyTorch's feeds the GPU", loaders.loader),
    Line("sweep", 30, "a sweep with worker processes", loaders.sweep),
    Line("training", 120, "a ResNet-50 script under 'run -- python': its cost, and busy against CUPTI", training.training),
    Line("tools", 150, "such a script with torch.compile and graphs, and with a profiler of its own", training.tools),
    Line("jpeg", 30, "what nvJPEG can do here", jpeg.decoders),
    *WORKER_LINES,
    Line("ranks", 90, "ranks that wait for each other on one GPU, and Ctrl-C in each", ranks.ranks),
    HURT_LINE,
)
WORKER_NAMES = tuple(line.name for line in (*WORKER_LINES, HURT_LINE))
