// Fields: the loader and the trainer.
#include "settings/field_rows.h"

namespace loaderscope::settings {

using namespace about;

namespace {

// If pin-memory is not given, `memory` decides about it; see resolve().
void add_pin_memory(Rows& rows) {
  Field& field =
      rows.add_switch("pin-memory", &LoaderConfig::pin_memory, kDataLoaderArgument | kPriced,
                      "Set --memory pin-thread, as pin_memory in PyTorch.");
  field.text = [](const RunConfig& c) {
    const bool pins = c.loader.pin_memory.given ? c.loader.pin_memory.value
                                                : c.loader.memory == MemoryMode::pin_thread;
    return std::string(pins ? "true" : "false");
  };
  field.texts = [text = field.text](const RunConfig& c) {
    return std::vector<std::string>{text(c)};
  };
}

}  // namespace

void add_loader(Table& table) {
  Rows rows(table, "The loader");
  rows.add({"num-workers", "workers"}, "N", &LoaderConfig::num_workers, count_codec(),
           kPriced | kPredictable, "Workers per rank; 0 makes batches in the trainer.",
           "one per usable core");
  rows.add({"prefetch-factor", "prefetch"}, "N", &LoaderConfig::prefetch_factor, count_codec(),
           kNeedsWorkers | kPriced | kPredictable, "Number of batches in flight per worker.");
  rows.add({"batch-size", "batch"}, "N", &LoaderConfig::batch_size, count_codec(),
           kPredictable | kWithinBatch, "Samples per batch of one rank.");
  rows.add("task", "batch|sample", &LoaderConfig::task, word_codec<TaskShape>(),
           kNativeLoader | kWithinBatch, "Let a worker make a whole batch, or one sample of it.");
  rows.add("prefetch-depth", "N", &LoaderConfig::prefetch_depth, count_codec(),
           kNativeLoader | kNeedsWorkers | kPriced | kPredictable,
           "Batches in flight, for --task sample.", "prefetch-factor x workers");
  rows.add_switch("in-order", &LoaderConfig::in_order, kDataLoaderArgument | kPredictable,
                  "Deliver batches in order, not as they get ready.");
  rows.add_switch("shuffle", &LoaderConfig::shuffle, kDataLoaderArgument,
                  "Read the data set in another order each epoch.");
  rows.add("shuffle-buffer", "N", &LoaderConfig::shuffle_buffer, count_codec(), kNativeLoader,
           "Shuffle through a buffer of N samples, as streamed data sets do.",
           "the whole data set");
  rows.add_switch("drop-last", &LoaderConfig::drop_last, kDataLoaderArgument,
                  "Leave out the short batch at the end of an epoch.");
  rows.add_switch("persistent-workers", &LoaderConfig::persistent_workers,
                  kDataLoaderArgument | kNeedsWorkers, "Keep the workers from epoch to epoch.");
  rows.add("mp-context", "fork|spawn|forkserver", &LoaderConfig::mp_context,
           word_codec<StartMethod>(), kDataLoaderArgument | kNeedsWorkers,
           "Start worker processes by this method. With forkserver, startup.parent does not delay "
           "the trainer.");
  rows.add("memory", "MODE", &LoaderConfig::memory, word_codec<MemoryMode>(),
           kDataLoaderArgument | kPriced,
           "Keep batches in this kind of host memory. Choose from pageable, pin-thread, "
           "pinned-slots, registered and write-combined.");
  add_pin_memory(rows);
  rows.add("bind", "near-gpu|spread|compact|none|0-3", &LoaderConfig::bind, bind_codec(),
           kDataLoaderArgument | kNeedsWorkers | kNotModelled,
           "Place workers and pin thread on CPUs. near-gpu is the GPU's NUMA node. spread covers "
           "all nodes. compact fills near cores first, one each. 0-3,8 lists CPUs in order.");
}

void add_trainer(Table& table) {
  Rows rows(table, "The trainer");
  rows.add("device", "NAME", &TrainerConfig::device, device_codec(), kNativeTrainer | kNotModelled,
           "Send batches to this device. See 'loaderscope list device'.",
           "cuda; sim where there is no GPU, --link is given or the engine is the model");
  rows.add("copy", "sync|async|stream", &TrainerConfig::copy, word_codec<CopyMode>(),
           kNativeTrainer, "Copy batches to the device in this way.");
  rows.add("link", "LINK", &TrainerConfig::link, link_codec(), kNativeTrainer,
           "Simulate this link: gen4x16 (25/8), gen5x16 (50/10), c2c (300/60) or PINNED/PAGEABLE. "
           "In GB/s. gen5x16 and c2c are nominal.",
           "gen4x16; copies of synthetic batches are free unless --link is given");
  rows.add("compute", "[gemm:]DURATION", &TrainerConfig::compute, compute_codec(), kNativeTrainer,
           "Time of one step on the device such as 12ms, a distribution, or a preset "
           "(resnet50-h100). gemm: runs matrix products. See 'loaderscope list preset'.",
           "none: the rate of the loader is the answer");
  rows.add("launches", "N", &TrainerConfig::launches, count_codec(), kOwnRanks,
           "Kernels that the trainer launches per step on a real device.");
  rows.add_switch("graph", &TrainerConfig::graph, kOwnRanks,
                  "Launch a step's kernels as one CUDA graph.");
  rows.add("demand", "RATE", &TrainerConfig::demand, count_rate_codec(), kNoTrait,
           "Samples per second that the training needs, such as 1786/s, of all ranks together.",
           "none");
  rows.add("in-flight", "N", &TrainerConfig::in_flight, count_codec(),
           kNativeTrainer | kPriced | kPredictable,
           "Steps that the trainer lets run on the device before it waits; 1 syncs every step.");
  rows.add("device-prefetch", "N", &TrainerConfig::device_prefetch, count_codec(),
           kNativeTrainer | kPredictable,
           "Batches that the device makes ahead of the steps that it computes.");
  rows.add("ranks", "N", &TrainerConfig::ranks, count_codec(), kOwnRanks,
           "Trainers on this machine, each with its own workers and device.");
  rows.add_switch("sync-ranks", &TrainerConfig::sync_ranks, kOwnRanks,
                  "Let all ranks begin each step together.");
}

}  // namespace loaderscope::settings
