// Source of the data, and settings that contradict it.
#include <algorithm>

#include "base/secret.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"
#include "settings/engine_table.h"
#include "settings/resolve_steps.h"
#include "source/registry.h"

namespace loaderscope::settings {
namespace {

// The format of one text of --data, where `source` is that of those before it or of --source.
std::string_view data_format(const std::string& text, std::string_view source) {
  const std::string place = "data = " + shown_text(text) + ": ";
  try {
    const SourceRow* row = parse_data(text, source).row;
    if (row == nullptr) return "files";
    if (!source.empty() && row->row.name != source) {
      throw UsageError(place + "contradicts source = " + std::string(source), "give one of them");
    }
    return row->row.name;
  } catch (const ValueError& error) {
    throw add_place<UsageError>(place, error);
  }
}

void check_source(const RunConfig& c) {
  const SourceRow& row = source_row(c.data.source.value);
  if (source_traits(c.data.source.value).form == SampleForm::declared)
    refuse(c, "source", "reads no data", "leave out --data, or give --source files");
  if (holds_secret(c.data.index.value))
    refuse(c, "index", "the URL holds a password or a signature", "put them into ~/.netrc");
  if (c.data.index.given && !row.takes_list)
    refuse(c, "index", "is a list of files", "give --source files");
  if (is_model_engine(c.engine.value)) {
    refuse(c, "engine", "the model runs declared costs, not data",
           "leave out --data, or give --engine native");
  }
}

// With declared reads, a worker begins a read when it needs it, unless a depth is given.
void fill_declared_depth(RunConfig& c) {
  const bool is_declared = !c.has_data() && !is_guest_engine(c.engine.value);
  if (is_declared && !c.data.queue_depth.given) c.data.queue_depth.value = 0;
}

void check_declared_depth(const RunConfig& c) {
  if (!c.data.queue_depth.given) return;
  if (c.declared.storage_latency <= 0 && c.declared.storage_bandwidth <= 0)
    refuse(c, "queue-depth", "needs real data, or a declared storage",
           "give --data PATH, or --storage-latency");
  if (c.declared.storage_concurrency > 0)
    refuse(c, "queue-depth", "contradicts storage-concurrency", "give one of them");
  if (c.data.stored_bytes.value.shape != Distribution::Shape::constant)
    refuse(c, "queue-depth", "declared reads ahead are of one size",
           "give stored-bytes without spread");
}

constexpr std::int64_t kMany = std::int64_t{1} << 24;  // batches, slots
constexpr std::int64_t kSteps = std::int64_t{1} << 40;
constexpr Nanos kMaxRun = Nanos{100} * 365 * 24 * 3600 * kSecond;
constexpr Nanos kShortestSilence = kSecond, kMaxSilence = 3600 * kSecond;
constexpr double kMaxBatch = 0x1p40;  // bytes
constexpr double kAllBytes = 0x1p62;  // bytes of a run; kept as an integer
constexpr std::int64_t kHuge = std::int64_t{1} << 62;

void require_range(const RunConfig& config, std::string_view key, std::int64_t value,
                   std::int64_t low, std::int64_t high) {
  if (value < low) refuse(config, key, "expected at least " + std::to_string(low));
  if (value > high) refuse(config, key, "expected at most " + std::to_string(high));
}

void check_counts(const RunConfig& c) {
  require_range(c, "batch-size", c.loader.batch_size, 1, kMany);
  require_range(c, "num-workers", c.loader.num_workers, 0, 65536);
  require_range(c, "prefetch-factor", c.loader.prefetch_factor, 1, kMany);
  require_range(c, "queue-depth", c.data.queue_depth, c.data.queue_depth.given ? 1 : 0, 1024);
  require_range(c, "prefetch-depth", c.loader.prefetch_depth, c.loader.prefetch_depth.given ? 1 : 0,
                kMany);
  require_range(c, "in-flight", c.trainer.in_flight, 1, std::int64_t{1} << 16);
  require_range(c, "device-prefetch", c.trainer.device_prefetch, 1, std::int64_t{1} << 16);
  require_range(c, "ranks", c.trainer.ranks, 1, std::int64_t{1} << 20);
  require_range(c, "launches", c.trainer.launches, 1, 1'000'000);
  require_range(c, "size", c.image.size, 1, 65536);
  require_range(c, "samples", c.data.samples, 0, kHuge);
  require_range(c, "epochs", c.measure.epochs, 0, INT32_MAX);
  require_range(c, "steps", c.measure.steps, 0, kSteps);
}

void check_times(const RunConfig& c) {
  if (c.measure.duration > kMaxRun) refuse(c, "duration", "expected at most 100 years");
  if (c.measure.warmup.value.duration > kMaxRun) refuse(c, "warmup", "expected at most 100 years");
  if (c.data.request_timeout < kShortestSilence || c.data.request_timeout > kMaxSilence)
    refuse(c, "request-timeout", "expected 1s to 1h");
  if (c.declared.storage_latency > kMaxCost)
    refuse(c, "storage-latency", "expected at most 30 days");
  require_range(c, "warmup", c.measure.warmup.value.steps, 0, kSteps);
  if (c.measure.steps == 0 && c.measure.duration == 0)
    refuse(c, "duration", "expected a time above 0, or steps");
}

void check_bytes_of_batch(const RunConfig& c, std::string_view which, double sample_bytes) {
  const double bytes = sample_bytes * static_cast<double>(c.loader.batch_size.value);
  const std::string batch =
      "a batch of " + std::string(which) + " samples of " + format_size(sample_bytes);
  if (bytes > kMaxBatch) refuse(c, "batch-size", batch + " would be larger than 1 TiB");
  if (bytes * static_cast<double>(c.measure.steps.value) > kAllBytes) {
    refuse(c, "steps", "with " + batch + " there would be more than 2^62 bytes");
  }
}

// Checks the host slots of all ranks. They count twice, as a pin thread may need page-locked ones
// too.
void check_host_bytes(const RunConfig& c) {
  const double window = c.loader.prefetch_depth.given
                            ? static_cast<double>(c.loader.prefetch_depth.value)
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
           "with " + setting_words(c, "num-workers") +
               " more than 16777216 batches would be in flight");
  }
  if (c.trainer.ranks * std::max<std::int64_t>(1, c.loader.num_workers) > std::int64_t{1} << 20) {
    refuse(c, "ranks",
           "with " + setting_words(c, "num-workers") + " there would be more than 1048576 workers");
  }
  check_bytes_of_batch(c, "stored", c.data.stored_bytes.value.mean);
  check_batch_bytes(c);
}

}  // namespace

void fill_source(RunConfig& c) {
  if (!c.has_data()) {
    if (source_traits(c.data.source.value).form != SampleForm::declared)
      refuse(c, "source", "has no data", "give --data PATH");
    fill_declared_depth(c);
    return;
  }
  std::string_view format = c.data.source.given ? std::string_view(c.data.source.value) : "";
  for (const std::string& text : c.data.paths.value) format = data_format(text, format);
  c.data.source.value = format.empty() ? "files" : std::string(format);
  check_source(c);
}

void check_data(const RunConfig& c) {
  if (!c.has_data()) check_declared_depth(c);
  if (!c.has_data()) return refuse_any(c, about::kStored, "needs real data", "give --data PATH");
  for (const Stage stage : {Stage::read, Stage::read_decompress, Stage::decode, Stage::augment}) {
    const Cost* cost = c.declared_cost(stage);
    if (cost == nullptr) continue;
    throw UsageError("cost = " + shown_text(cost->text) + ": this stage works on real data",
                     "add to it with --inject, or declare it with --source synthetic");
  }
  refuse_any(c, about::kDeclaredData, "is for --source synthetic; the data says it");
  if (source_traits(c.data.source.value).form == SampleForm::image) return;
  refuse_any(c, about::kImage,
             "is for images; " + setting_words(c, "source") + " holds arrays, taken as they are");
}

void check_sizes(const RunConfig& c) {
  check_counts(c);
  check_times(c);
  check_products(c);
}

}  // namespace loaderscope::settings

namespace loaderscope {

bool is_streamed(const RunConfig& config) {
  return config.has_data() && asks_for_stream(config.data.source.value, config.data.paths.value);
}

void check_batch_bytes(const RunConfig& config) {
  settings::check_bytes_of_batch(config, "delivered",
                                 static_cast<double>(config.delivered_sample_bytes()));
  settings::check_host_bytes(config);
}

}  // namespace loaderscope
