"""The lines of one visit to a machine with a GPU. Lines that may break the GPU come last."""
from gpu_check import busy, images, jpeg, link, loaders, machine, model, ranks, tests, training
from gpu_check.runner import Line

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
    Line("ranks", 90, "ranks that wait for each other on one GPU, and Ctrl-C in each", ranks.ranks),
)
