// Defaults that depend on other values and on the machine, contradictions, impossible sizes.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/secret.h"
#include "loaderscope/augment.h"
#include "loaderscope/device.h"
#include "loaderscope/errors.h"
#include "loaderscope/memory.h"
#include "loaderscope/settings.h"
#include "settings/engine_table.h"
#include "settings/refuse.h"
#include "settings/resolve_guest.h"
#include "source/registry.h"

namespace loaderscope {
namespace {

using settings::in_words;
using settings::refuse;
using settings::refuse_any;
using settings::refuse_given;

void require_range(const RunConfig& config, std::string_view key, std::int64_t value,
                   std::int64_t low, std::int64_t high) {
  if (value < low) refuse(config, key, "expected at least " + std::to_string(low));
  if (value > high) refuse(config, key, "expected at most " + std::to_string(high));
}

// --- what is not possible here ---

template <class Entry>
void require_available(std::string_view family, std::string_view name,
                       std::span<const Entry> table) {
  try {
    find_row(name, table);
  } catch (const ValueError& error) {
    throw RunError(std::string(family) + " = " + std::string(name) + ": " + error.what());
  }
}

void check_available(const RunConfig& c) {
  require_available("engine", c.engine.value, engine_table());
  if (!is_model_engine(c.engine.value))
    require_available("device", c.trainer.device.value, device_table());
  require_available("source", c.data.source.value, source_table());
}

// --- defaults ---

// A program or a loader that is given is measured from inside.
void fill_engine(RunConfig& c) {
  if (!c.program.command.given && !c.program.loader.given) return;
  const PipelineRow* pipeline = find_pipeline(c.program.loader.value);
  const std::string_view engine = pipeline != nullptr ? pipeline->engine : "torch";
  if (!c.engine.given) c.engine.value = engine;
  const bool of_the_users = c.program.loader.given && pipeline == nullptr;
  if (c.engine.value != engine && !(of_the_users && is_guest(c)))
    refuse(c, "engine", "contradicts the program to be measured; give one of them");
}

// What only a measured program or loader turns out to have.
void check_is_ours(const RunConfig& c) {
  if (device_kind(c.trainer.device.value) == DeviceKind::program)
    refuse(c, "device", "needs a program: run -- COMMAND");
  if (c.loader.executor == Executor::opaque)
    refuse(c, "executor", "describes somebody else's loader; give threads or processes");
}

// The format of one text of --data, where `source` is that of those before it or of --source.
std::string_view format_of(const std::string& text, std::string_view source) {
  const std::string place = "data = " + shown_text(text) + ": ";
  try {
    const SourceRow* row = parse_data(text, source).row;
    if (row == nullptr) return "files";
    if (!source.empty() && row->row.name != source) {
      throw UsageError(place + "contradicts source = " + std::string(source) +
                       "; give one of them");
    }
    return row->row.name;
  } catch (const ValueError& error) {
    throw UsageError(place + error.what());
  }
}

// Data that is given says what the source is.
void fill_source(RunConfig& c) {
  if (!c.has_data()) {
    if (source_row(c.data.source.value).form != SampleForm::declared)
      refuse(c, "source", "has no data; give --data PATH");
    return;
  }
  std::string_view format = c.data.source.given ? std::string_view(c.data.source.value) : "";
  for (const std::string& text : c.data.paths.value) format = format_of(text, format);
  c.data.source.value = format.empty() ? "files" : std::string(format);
  const SourceRow& row = source_row(c.data.source.value);
  if (row.form == SampleForm::declared)
    refuse(c, "source", "reads no data; leave out --data, or give --source files");
  if (holds_secret(c.data.index.value))
    refuse(c, "index", "the URL holds a password or a signature; put them into ~/.netrc");
  if (c.data.index.given && !row.takes_list)
    refuse(c, "index", "is a list of files; give --source files");
  if (is_model_engine(c.engine.value)) {
    refuse(c, "engine",
           "the model runs declared costs, not data; leave out --data, or give --engine native");
  }
}

// Reads ahead of a storage that is only declared.
void check_declared_depth(const RunConfig& c) {
  if (!c.data.queue_depth.given) return;
  if (c.declared.storage_latency <= 0 && c.declared.storage_bandwidth <= 0)
    refuse(c, "queue-depth",
           "needs real data, or a declared storage; give --data PATH, or --storage-latency");
  if (c.declared.storage_concurrency > 0)
    refuse(c, "queue-depth", "contradicts storage-concurrency; give one of them");
  if (c.data.stored_bytes.value.shape != Distribution::Shape::constant)
    refuse(c, "queue-depth",
           "declared reads ahead are of one size; give stored-bytes without spread");
}

void check_real_data(const RunConfig& c) {
  if (!c.has_data()) check_declared_depth(c);
  if (!c.has_data()) return refuse_any(c, about::kStored, "needs real data; give --data PATH");
  for (const Stage stage : {Stage::read, Stage::read_decompress, Stage::decode, Stage::augment}) {
    const Cost* cost = c.cost_of(stage);
    if (cost == nullptr) continue;
    throw UsageError("cost = " + shown_text(cost->text) +
                     ": this stage works on real data; add to it with --inject, or "
                     "declare it with --source synthetic");
  }
  refuse_any(c, about::kDeclaredData, "is for --source synthetic; the data says it");
  if (source_row(c.data.source.value).form == SampleForm::image) return;
  refuse_any(c, about::kImage,
             "is for images; " + in_words(c, "source") + " holds arrays, taken as they are");
}

// A worker of a stream makes its batches of what comes, for as long as it comes.
void check_stream(const RunConfig& c) {
  if (!is_streamed(c)) return;
  const auto refuse_in_stream = [&c](std::string_view key, const std::string& why) {
    refuse(c, key, "the data is a stream: " + why);
  };
  if (c.loader.task == TaskShape::sample && c.loader.num_workers > 0)
    refuse_in_stream("task",
                     "its workers make whole batches of their own shards; give task = batch");
  if (c.data.samples > 0)
    refuse_in_stream("samples", "how many it has is known when it ends; give --steps or --epochs");
  if (c.loader.shuffle)
    refuse_in_stream("shuffle", "its order is its own; give tar:PATH?stream=1&shuffle=1000");
  if (c.trainer.sync_ranks && c.trainer.ranks > 1 && c.measure.epochs > 0) {
    refuse_in_stream("sync-ranks",
                     "its ranks may have unequal numbers of batches, and one that ended would keep "
                     "the others; leave out --epochs");
  }
  if (c.answer.prove != Prove::off) {
    refuse_in_stream("prove",
                     "no samples are kept to be replayed, so that no stage can be left out; "
                     "measure the same shards by their index, without stream=1");
  }
}

// A real device where there is one. A link that is given describes a simulated one.
void fill_device(RunConfig& c, const MachineLimits& limits, std::vector<std::string>& notes) {
  if (c.trainer.device.given || c.trainer.link.given || is_model_engine(c.engine.value)) return;
  c.trainer.device.value = limits.has_gpu ? "cuda" : "sim";
  if (limits.has_gpu || limits.why_no_gpu.empty()) return;
  notes.push_back("no GPU: " + limits.why_no_gpu.substr(0, limits.why_no_gpu.find(';')) +
                  "; the device is simulated");
}

// A preset is the time of a batch of a certain size.
void fill_batch_size(RunConfig& c) {
  const std::int64_t per_batch = c.trainer.compute.value.per_batch;
  if (per_batch > 0 && !c.loader.batch_size.given) c.loader.batch_size.value = per_batch;
}

void fill_memory(RunConfig& c) {
  if (!c.loader.pin_memory.given) return;
  if (c.loader.pin_memory) {
    if (c.loader.memory.given && c.loader.memory != MemoryMode::pin_thread) {
      refuse(c, "memory", "contradicts pin-memory, which is memory = pin-thread; give one of them");
    }
    c.loader.memory.value = MemoryMode::pin_thread;
    return;
  }
  if (c.loader.memory.given && c.loader.memory == MemoryMode::pin_thread) {
    refuse(c, "memory", "contradicts no-pin-memory; give one of them");
  }
  if (!c.loader.memory.given)
    c.loader.memory.value = MemoryMode::pageable;  // as pin_memory=False is in PyTorch
}

// Workers on a list of CPUs have no others.
double usable_cores(const RunConfig& c, const MachineLimits& limits) {
  const Bind& bind = c.loader.bind.value;
  if (bind.way != Bind::Way::list || is_model_engine(c.engine.value)) return limits.cores;
  return std::min(limits.cores, static_cast<double>(bind.cpus.size()));
}

void fill_workers(RunConfig& c, const MachineLimits& limits) {
  if (c.declared.cores.given && !(c.declared.cores >= 0.001))
    refuse(c, "cores", "expected at least 0.001");
  if (c.declared.cores > 65536) refuse(c, "cores", "expected at most 65536");
  if (!c.declared.cores.given) c.declared.cores.value = usable_cores(c, limits);
  const bool wants_inline = c.loader.executor.given && c.loader.executor == Executor::inline_;
  if (!c.loader.num_workers.given) {
    const auto cores = static_cast<std::int64_t>(std::floor(c.declared.cores));
    c.loader.num_workers.value = wants_inline ? 0 : std::max<std::int64_t>(1, cores);
  }
  if (wants_inline && c.loader.num_workers > 0) {
    refuse(c, "num-workers", "executor = inline has no workers; give another executor");
  }
  if (c.loader.num_workers > 0) return;
  if (c.loader.executor.given && !wants_inline) {
    refuse(c, "executor", "needs at least one worker, and num-workers = 0");
  }
  c.loader.executor.value = Executor::inline_;
}

// --- limits; before anything is multiplied ---

constexpr std::int64_t kMany = std::int64_t{1} << 24;  // batches, slots
constexpr std::int64_t kSteps = std::int64_t{1} << 40;
constexpr Nanos kLongestRun = Nanos{100} * 365 * 24 * 3600 * kSecond;
constexpr double kLargestBatch = 0x1p40;  // bytes
constexpr double kAllBytes = 0x1p62;      // of a run; kept as an integer
constexpr std::int64_t kHuge = std::int64_t{1} << 62;

void check_counts(const RunConfig& c) {
  require_range(c, "batch-size", c.loader.batch_size, 1, kMany);
  require_range(c, "num-workers", c.loader.num_workers, 0, 65536);
  require_range(c, "prefetch-factor", c.loader.prefetch_factor, 1, kMany);
  require_range(c, "queue-depth", c.data.queue_depth, 1, 1024);
  require_range(c, "window", c.loader.window, c.loader.window.given ? 1 : 0, kMany);
  require_range(c, "in-flight", c.trainer.in_flight, 1, std::int64_t{1} << 16);
  require_range(c, "ranks", c.trainer.ranks, 1, std::int64_t{1} << 20);
  require_range(c, "launches", c.trainer.launches, 1, 1'000'000);
  require_range(c, "size", c.image.size, 1, 65536);
  require_range(c, "samples", c.data.samples, 0, kHuge);
  require_range(c, "epochs", c.measure.epochs, 0, INT32_MAX);
  require_range(c, "steps", c.measure.steps, 0, kSteps);
}

constexpr Nanos kShortestSilence = 1'000'000'000, kLongestSilence = 3600 * kShortestSilence;

void check_times(const RunConfig& c) {
  if (c.measure.duration > kLongestRun) refuse(c, "duration", "expected at most 100 years");
  if (c.measure.warmup.value.duration > kLongestRun)
    refuse(c, "warmup", "expected at most 100 years");
  if (c.data.request_timeout < kShortestSilence || c.data.request_timeout > kLongestSilence)
    refuse(c, "request-timeout", "expected 1s to 1h");
  if (c.declared.storage_latency > kLongestCost)
    refuse(c, "storage-latency", "expected at most 30 days");
  require_range(c, "warmup", c.measure.warmup.value.steps, 0, kSteps);
  if (c.measure.steps == 0 && c.measure.duration == 0)
    refuse(c, "duration", "expected a time above 0, or steps");
}

void check_bytes_of_batch(const RunConfig& c, std::string_view which, double sample_bytes) {
  const double bytes = sample_bytes * static_cast<double>(c.loader.batch_size.value);
  const std::string batch =
      "a batch of " + std::string(which) + " samples of " + show_size(sample_bytes);
  if (bytes > kLargestBatch) refuse(c, "batch-size", batch + " would be larger than 1 TiB");
  if (bytes * static_cast<double>(c.measure.steps.value) > kAllBytes) {
    refuse(c, "steps", "with " + batch + " there would be more than 2^62 bytes");
  }
}

// Host slots of all ranks, twice where a pin thread needs page-locked ones too.
void check_host_bytes(const RunConfig& c) {
  const double window = c.loader.window.given
                            ? static_cast<double>(c.loader.window.value)
                            : static_cast<double>(c.loader.prefetch_factor * c.loader.num_workers);
  const double slots = 2 * (window + static_cast<double>(c.trainer.in_flight.value) + 1);
  const double bytes =
      slots * static_cast<double>(c.loader.batch_size * c.delivered_sample_bytes());
  if (bytes * static_cast<double>(c.trainer.ranks.value) > kAllBytes) {
    refuse(c, "batch-size", "the batches in flight would take more than 2^62 bytes");
  }
}

void check_products(const RunConfig& c) {
  if (c.loader.prefetch_factor * std::max<std::int64_t>(1, c.loader.num_workers) > kMany) {
    refuse(c, "prefetch-factor",
           "with " + in_words(c, "num-workers") + " more than 16777216 batches would be in flight");
  }
  if (c.trainer.ranks * std::max<std::int64_t>(1, c.loader.num_workers) > std::int64_t{1} << 20) {
    refuse(c, "ranks",
           "with " + in_words(c, "num-workers") + " there would be more than 1048576 workers");
  }
  check_bytes_of_batch(c, "stored", c.data.stored_bytes.value.mean);
  check_batch_bytes(c);
}

// --- contradictions ---

void check_inline(const RunConfig& c) {
  if (c.loader.executor != Executor::inline_) return;
  for (const Field& field : fields()) {
    if (field.is_about(about::kNeedsWorkers) && field.given(c) && field.text(c) != "false")
      refuse(c, field.name, "has no meaning without workers (num-workers = 0)");
  }
  if (c.loader.task == TaskShape::sample) refuse(c, "task", "needs workers, and num-workers = 0");
}

void check_window(RunConfig& c) {
  if (c.loader.task == TaskShape::batch) {
    if (c.loader.window.given)
      refuse(c, "window", "is for task = sample; give prefetch-factor with task = batch");
    return;
  }
  if (c.loader.window.given && c.loader.prefetch_factor.given) {
    refuse(c, "prefetch-factor", "contradicts " + in_words(c, "window") + "; give one of them");
  }
  if (!c.loader.window.given)
    c.loader.window.value = c.loader.prefetch_factor * c.loader.num_workers;
}

void check_measurement(const RunConfig& c) {
  if (c.measure.steps.given && c.measure.steps > 0 && c.measure.duration.given) {
    refuse(c, "steps", "contradicts " + in_words(c, "duration") + "; give one of them");
  }
  const bool endless = c.data.samples == 0 && !c.has_data();
  if (c.measure.epochs > 0 && endless) {
    refuse(c, "epochs", "the data set is endless; give samples, the length of an epoch");
  }
  if (c.loader.drop_last && c.data.samples > 0 &&
      (c.data.samples - 1) / c.trainer.ranks + 1 < c.loader.batch_size) {
    refuse(c, "samples",
           "with drop-last not one batch of " + std::to_string(c.loader.batch_size) +
               " samples is left for each rank");
  }
}

void check_storage(const RunConfig& c) {
  if (c.cost_of(Stage::read) == nullptr) return;
  refuse_any(c, about::kStorage, "contradicts the declared cost of read; give one of them");
}

void check_injections(const RunConfig& c) {
  const std::int64_t workers =
      std::max<std::int64_t>(1, c.loader.num_workers);  // the trainer is worker 0
  for (const Injection& injection : c.declared.inject.value) {
    const std::string place = "inject = " + shown_text(injection.text) + ": ";
    if (injection.rank && *injection.rank >= c.trainer.ranks) {
      throw UsageError(place + "expected a rank below " + std::to_string(c.trainer.ranks));
    }
    if (injection.stage == Stage::opaque) {
      throw UsageError(place + "nothing is opaque in a loader of ours; give another stage");
    }
    if (injection.worker && *injection.worker >= workers) {
      throw UsageError(place + "expected a worker below " + std::to_string(workers));
    }
  }
}

void check_device(const RunConfig& c) {
  if (device_kind(c.trainer.device.value) == DeviceKind::none && c.trainer.compute.given) {
    refuse(c, "compute", "device = null computes nothing; leave one of them out");
  }
  if (!c.trainer.compute.value.gemm) return;
  const std::string reason =
      "contradicts " + in_words(c, "compute") + ", which launches as many kernels as it needs";
  if (c.trainer.launches > 1) refuse(c, "launches", reason);
  if (c.trainer.graph) refuse(c, "graph", reason);
}

void check_bind(const RunConfig& c) {
  if (c.loader.bind.value.way != Bind::Way::near_gpu || is_model_engine(c.engine.value) ||
      device_kind(c.trainer.device.value) == DeviceKind::gpu)
    return;
  refuse(c, "bind",
         "there is no GPU with device = " + c.trainer.device.value +
             "; give spread, compact or a list of CPUs");
}

// --- what can be told to the model and not be run here ---

void check_can_run(const RunConfig& c) {
  if (is_model_engine(c.engine.value)) return;
  refuse_any(c, about::kStorage | about::kCores,
             "only the model can change the machine; leave it out, or give --engine model");
  if (c.loader.executor == Executor::processes && memory_row(c.loader.memory).adopt == nullptr) {
    refuse(c, "memory",
           "the driver makes such memory for one process, workers cannot share it; give --memory "
           "pinned-slots, or --executor threads");
  }
  if (!c.has_data()) return;
  try {
    make_augmenter(augment_options(c));
  } catch (const ValueError& error) {
    throw UsageError(std::string("augment: ") + error.what());
  }
}

// --- does a run ever end? ---

// Whether a stage is executed again and again in this configuration.
bool recurs(const RunConfig& c, Stage stage) {
  switch (stage) {
    case Stage::startup:
    case Stage::startup_parent:
      return false;
    case Stage::pin:
      return c.loader.memory == MemoryMode::pin_thread;
    case Stage::transport:
    case Stage::transport_recv:
      return c.loader.executor != Executor::inline_;
    case Stage::h2d:
    case Stage::compute:
      return device_kind(c.trainer.device.value) != DeviceKind::none;
    default:
      return true;
  }
}

bool takes_time(const RunConfig& c) {
  if (c.trainer.compute.value.mean > 0 || c.declared.storage_latency > 0 ||
      c.declared.storage_bandwidth > 0)
    return true;
  if (c.trainer.link.given && recurs(c, Stage::h2d)) return true;
  for (const Cost& cost : c.declared.cost.value) {
    if (cost.amount.mean > 0 && recurs(c, cost.stage)) return true;
  }
  for (const Injection& injection : c.declared.inject.value) {
    const bool of_all_ranks = !injection.rank || c.trainer.ranks == 1;
    if (injection.extra > 0 && of_all_ranks && recurs(c, injection.stage)) return true;
  }
  return false;
}

// --- notes ---

void note_costs(const RunConfig& c, std::vector<std::string>& notes) {
  for (const Cost& cost : c.declared.cost.value) {
    if (cost.stage == Stage::pin && c.loader.memory != MemoryMode::pin_thread) {
      notes.push_back("cost pin has no effect: only memory = pin-thread pins finished batches");
    }
    if (cost.stage == Stage::h2d && device_kind(c.trainer.device.value) == DeviceKind::none) {
      notes.push_back("cost h2d has no effect: device = null copies nothing");
    }
    if (cost.stage == Stage::h2d && c.trainer.link.given) {
      notes.push_back(in_words(c, "link") + " has no effect: the cost of h2d is declared");
    }
  }
}

void note_device(const RunConfig& c, std::vector<std::string>& notes) {
  const bool is_real =
      device_kind(c.trainer.device.value) == DeviceKind::gpu && !is_model_engine(c.engine.value);
  if (is_real && c.trainer.link.given)
    notes.push_back(in_words(c, "link") + " has no effect: device = cuda has a real link");
  if (is_real && c.has_data() && c.cost_of(Stage::h2d) != nullptr)
    notes.push_back("cost h2d is added to the real copies of device = cuda");
  if (is_real) return;
  for (std::string_view key : {"launches", "graph"}) {
    if (find_field(key)->given(c))
      notes.push_back(in_words(c, key) + " has no effect: only device = cuda launches kernels");
  }
  if (c.trainer.compute.value.gemm)
    notes.push_back(in_words(c, "compute") + ": nothing is multiplied, only its time is taken");
}

void note_settings(const RunConfig& c, std::vector<std::string>& notes) {
  if (c.loader.shuffle_buffer > 0 && !c.loader.shuffle) {
    notes.push_back(in_words(c, "shuffle-buffer") + " has no effect without shuffle");
  }
  if (c.loader.mp_context.given && c.loader.executor != Executor::processes) {
    notes.push_back(in_words(c, "mp-context") + " has no effect: it is for executor = processes");
  }
  if (c.trainer.link.given && device_kind(c.trainer.device.value) == DeviceKind::none) {
    notes.push_back(in_words(c, "link") + " has no effect: device = null copies nothing");
  }
  if (c.loader.bind.value.way != Bind::Way::none && is_model_engine(c.engine.value)) {
    notes.push_back(in_words(c, "bind") + " has no effect: the model's cores are all alike");
  }
  if (c.trainer.sync_ranks && c.trainer.ranks == 1) {
    notes.push_back("sync-ranks has no effect: there is one rank");
  }
  if (c.loader.drop_last && c.data.samples == 0 && !c.has_data()) {
    notes.push_back("drop-last has no effect: the data set is endless");
  }
  if (!c.loader.in_order && c.loader.num_workers <= 1) {
    notes.push_back("no-in-order has no effect: one worker delivers in order");
  }
}

enum class Purpose : std::uint8_t { run, predict_declared, predict_measured };

RunConfig resolve(RunConfig c, const MachineLimits& limits, std::vector<std::string>& notes,
                  Purpose purpose) {
  fill_engine(c);
  if (c.program.batch_function.given && !c.program.command.given) {
    refuse_given(c, "batch-function",
                 "is a function of a training program; give that, too: run --batch-function "
                 "train.py:get_batch -- python train.py");
  }
  if (is_guest(c)) return resolve_guest(std::move(c), limits);
  check_is_ours(c);
  fill_source(c);
  fill_device(c, limits, notes);
  fill_batch_size(c);
  check_available(c);
  check_real_data(c);
  fill_memory(c);
  fill_workers(c, limits);
  check_counts(c);
  check_times(c);
  check_products(c);
  check_inline(c);
  check_stream(c);
  check_window(c);
  check_measurement(c);
  check_storage(c);
  check_injections(c);
  check_device(c);
  check_bind(c);
  if (purpose == Purpose::run) check_can_run(c);
  // For real the loader itself takes time, which is what is measured where all given costs are 0.
  const bool loader_alone = !is_model_engine(c.engine.value) && !c.declared.cost.value.empty();
  const bool only_declared = purpose != Purpose::predict_measured && !c.has_data();
  if (only_declared && !loader_alone && !takes_time(c)) {
    throw UsageError("nothing takes any time: give --data, --cost or --compute");
  }
  note_costs(c, notes);
  note_settings(c, notes);
  note_device(c, notes);
  return c;
}

}  // namespace

bool is_streamed(const RunConfig& config) {
  return config.has_data() && asks_for_stream(config.data.source.value, config.data.paths.value);
}

AugmentOptions augment_options(const RunConfig& config) {
  AugmentOptions options;
  options.operations = config.image.augment.value;
  // Bytes are normalised on the device, where it is a real one.
  if (config.image.transfer == Transfer::u8 &&
      (!config.image.augment.given ||
       device_kind(config.trainer.device.value) == DeviceKind::gpu)) {
    std::erase_if(options.operations, [](const std::string& operation) {
      return operation.substr(0, operation.find(':')) == "normalise";
    });
  }
  options.size = static_cast<int>(config.image.size);
  options.transfer = config.image.transfer;
  options.layout = config.image.layout;
  options.antialias = config.image.antialias == OnOff::on;
  options.seed = static_cast<std::uint64_t>(config.measure.seed.value);
  return options;
}

void check_batch_bytes(const RunConfig& config) {
  check_bytes_of_batch(config, "delivered", static_cast<double>(config.delivered_sample_bytes()));
  check_host_bytes(config);
}

RunConfig resolve(RunConfig config, const MachineLimits& limits, std::vector<std::string>& notes) {
  return resolve(std::move(config), limits, notes, Purpose::run);
}

RunConfig resolve_to_predict(RunConfig config, const MachineLimits& limits,
                             std::vector<std::string>& notes) {
  return resolve(std::move(config), limits, notes, Purpose::predict_declared);
}

RunConfig resolve_measured(RunConfig config, const MachineLimits& limits,
                           std::vector<std::string>& notes) {
  return resolve(std::move(config), limits, notes, Purpose::predict_measured);
}

}  // namespace loaderscope
