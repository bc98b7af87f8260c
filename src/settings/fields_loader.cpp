// Fields: the loader and the trainer.
#include "settings/field_rows.h"

namespace loaderscope::settings {

using namespace about;

namespace {

constexpr const char* kLoader = "The loader";
constexpr const char* kTrainer = "The trainer";

// Where it is not given the value in force is what `memory` says; see resolve().
Field pin_memory_field() {
  Field field = on_off({"pin-memory",
                        {},
                        kLoader,
                        kOfDataLoader | kPriced,
                        "",
                        "PyTorch's word for --memory pin-thread."},
                       &LoaderConfig::pin_memory);
  field.text = [](const RunConfig& c) {
    const bool pins = c.loader.pin_memory.given ? c.loader.pin_memory.value
                                                : c.loader.memory == MemoryMode::pin_thread;
    return std::string(pins ? "true" : "false");
  };
  field.texts = [text = field.text](const RunConfig& c) {
    return std::vector<std::string>{text(c)};
  };
  return field;
}

}  // namespace

void add_loader(Table& t) {
  t.push_back(one({"num-workers",
                   {"workers"},
                   kLoader,
                   kPriced | kPredictable,
                   "N",
                   "Workers per rank; 0 makes batches in the trainer.",
                   "one per usable core"},
                  &LoaderConfig::num_workers, count_codec()));
  t.push_back(one({"prefetch-factor",
                   {"prefetch"},
                   kLoader,
                   kNeedsWorkers | kPriced | kPredictable,
                   "N",
                   "Batches in flight per worker."},
                  &LoaderConfig::prefetch_factor, count_codec()));
  t.push_back(one({"batch-size",
                   {"batch"},
                   kLoader,
                   kPredictable | kWithinBatch,
                   "N",
                   "Samples per batch of one rank."},
                  &LoaderConfig::batch_size, count_codec()));
  t.push_back(one({"task",
                   {},
                   kLoader,
                   kNativeLoader | kWithinBatch,
                   "batch|sample",
                   "Whether a worker makes a whole batch or one sample of it."},
                  &LoaderConfig::task, word_codec<TaskShape>()));
  t.push_back(one({"prefetch-depth",
                   {},
                   kLoader,
                   kNativeLoader | kNeedsWorkers | kPriced | kPredictable,
                   "N",
                   "Batches in flight, for --task sample.",
                   "prefetch-factor x workers"},
                  &LoaderConfig::window, count_codec()));
  t.push_back(on_off({"in-order",
                      {},
                      kLoader,
                      kOfDataLoader | kPredictable,
                      "",
                      "Deliver batches in order, not as they get ready."},
                     &LoaderConfig::in_order));
  t.push_back(on_off(
      {"shuffle", {}, kLoader, kOfDataLoader, "", "Read the data set in another order each epoch."},
      &LoaderConfig::shuffle));
  t.push_back(one({"shuffle-buffer",
                   {},
                   kLoader,
                   kNativeLoader,
                   "N",
                   "Shuffle through a buffer of so many samples, as streamed data sets are.",
                   "the whole data set"},
                  &LoaderConfig::shuffle_buffer, count_codec()));
  t.push_back(on_off({"drop-last",
                      {},
                      kLoader,
                      kOfDataLoader,
                      "",
                      "Leave out the short batch at the end of an epoch."},
                     &LoaderConfig::drop_last));
  t.push_back(on_off({"persistent-workers",
                      {},
                      kLoader,
                      kOfDataLoader | kNeedsWorkers,
                      "",
                      "Keep the workers from epoch to epoch."},
                     &LoaderConfig::persistent_workers));
  t.push_back(one({"mp-context",
                   {},
                   kLoader,
                   kOfDataLoader | kNeedsWorkers,
                   "fork|spawn|forkserver",
                   "How worker processes start; with forkserver their startup.parent does not keep "
                   "the trainer."},
                  &LoaderConfig::mp_context, word_codec<StartMethod>()));
  t.push_back(one(
      {"memory",
       {},
       kLoader,
       kOfDataLoader | kPriced,
       "MODE",
       "Host memory of a batch: pageable, pin-thread, pinned-slots, registered or write-combined."},
      &LoaderConfig::memory, word_codec<MemoryMode>()));
  t.push_back(pin_memory_field());
  t.push_back(one({"bind",
                   {},
                   kLoader,
                   kOfDataLoader | kNeedsWorkers | kNotModelled,
                   "near-gpu|spread|compact|none|0-3",
                   "CPUs of workers and pin thread: near-gpu (the GPU's NUMA node), spread (over "
                   "nodes, a CPU each), compact (a core each, near each other first), none, or a "
                   "list such as 0-3,8 in turn."},
                  &LoaderConfig::bind, bind_codec()));
}

void add_trainer(Table& t) {
  t.push_back(one({"device",
                   {},
                   kTrainer,
                   kNativeTrainer | kNotModelled,
                   "NAME",
                   "Where batches go; see 'loaderscope list device'.",
                   "cuda; sim where there is no GPU, --link is given or the engine is the model"},
                  &TrainerConfig::device, device_codec()));
  t.push_back(one({"copy",
                   {},
                   kTrainer,
                   kNativeTrainer,
                   "sync|async|stream",
                   "How a batch is copied to the device."},
                  &TrainerConfig::copy, word_codec<CopyMode>()));
  t.push_back(
      one({"link",
           {},
           kTrainer,
           kNativeTrainer,
           "LINK",
           "The simulated link: gen4x16 (25/8), gen5x16 (50/10, nominal), c2c (300/60, nominal) "
           "or PINNED/PAGEABLE in GB/s.",
           "gen4x16; copies of synthetic batches are free unless --link is given"},
          &TrainerConfig::link, link_codec()));
  t.push_back(
      one({"compute",
           {},
           kTrainer,
           kNativeTrainer,
           "[gemm:]DURATION",
           "Time of one step on the device such as 12ms, its distribution, or a preset such "
           "as resnet50-h100; gemm: by matrix products; see 'loaderscope list preset'.",
           "none: the rate of the loader is the answer"},
          &TrainerConfig::compute, compute_codec()));
  t.push_back(one({"launches",
                   {},
                   kTrainer,
                   kOwnRanks,
                   "N",
                   "Kernels that the trainer launches per step on a real device."},
                  &TrainerConfig::launches, count_codec()));
  t.push_back(
      on_off({"graph", {}, kTrainer, kOwnRanks, "", "Launch a step's kernels as one CUDA graph."},
             &TrainerConfig::graph));
  t.push_back(
      one({"demand",
           {},
           kTrainer,
           kNoTrait,
           "RATE",
           "Samples per second that the training needs, such as 1786/s, of all ranks together.",
           "none"},
          &TrainerConfig::demand, count_rate_codec()));
  t.push_back(
      one({"in-flight",
           {},
           kTrainer,
           kNativeTrainer | kPriced | kPredictable,
           "N",
           "Steps that the trainer lets run on the device before it waits; 1 syncs every step."},
          &TrainerConfig::in_flight, count_codec()));
  t.push_back(one({"ranks",
                   {},
                   kTrainer,
                   kOwnRanks,
                   "N",
                   "Trainers on this machine, each with its own workers and device."},
                  &TrainerConfig::ranks, count_codec()));
  t.push_back(
      on_off({"sync-ranks", {}, kTrainer, kOwnRanks, "", "Let all ranks begin each step together."},
             &TrainerConfig::sync_ranks));
}

}  // namespace loaderscope::settings
