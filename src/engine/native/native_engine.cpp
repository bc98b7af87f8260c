#include "engine/native/native_engine.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine/native/job_runner.h"
#include "engine/native/memory_need.h"
#include "engine/native/resident_data.h"
#include "engine/native/sample_maker.h"
#include "engine/native/slot_size.h"
#include "engine/native/streamed.h"
#include "engine/pipeline/memory_metrics.h"
#include "engine/pipeline/resident_load.h"
#include "loaderscope/device.h"
#include "loaderscope/settings.h"
#include "machine/machine.h"
#include "record/family_traits.h"
#include "record/frame_counts.h"
#include "record/partial_run.h"
#include "source/cache_state.h"
#include "source/range_cache.h"
#include "source/registry.h"
#include "source/store.h"

namespace loaderscope {
namespace {

using native::DataPipeline;
using native::JobRunner;

// Everything that the threads of a run look at: it stays where it is until they have ended.
struct Run {
  RunConfig config;
  std::unique_ptr<Source> data;  // null: every stage is declared
  std::optional<CacheProof> cache;
  std::optional<native::SlotChoice>
      slots;  // set only for a device that makes batches of stored data
  std::optional<LoaderPlan> plan;
  FrameCounts frames;  // before the first fork, for all workers
  native::DecodeCounts decodes;
  DataPipeline pipeline;
  std::optional<native::ReplayPool> replayed;    // set only with knock-outs
  std::optional<native::ResidentData> resident;  // set only for a device that keeps stored data
  ResidentLoad load;                             // load of it, or of a declared data set
  native::SampleErrors errors;
  std::unique_ptr<JobRunner> runner;
  Nanos opening = 0;  // ns to list the samples
  source::RequestsOfOpening requests_of_opening;
  std::vector<std::string> notes;
};

void check_page_cache(Run& run, const SourceContext& opening) {
  const Objects* objects = run.data->stored_objects();
  if (objects == nullptr) return;
  CacheOptions cache;
  cache.mode = run.config.data.cache;
  cache.memory_bytes = read_machine().memory_bytes;
  cache.seed = static_cast<std::uint64_t>(run.config.measure.seed.value);
  run.cache = prepare_cache(*objects, cache, opening);
}

// An epoch has as many as are asked for, or there are.
void cap_samples(Run& run) {
  std::int64_t& samples = run.config.data.samples.value;
  if (samples > run.data->size()) {
    run.notes.push_back("samples = " + std::to_string(samples) + ": the data has " +
                        std::to_string(run.data->size()) + ", an epoch is all of them");
  }
  samples = samples > 0 ? std::min(samples, run.data->size()) : run.data->size();
}

// Reads samples, and so comes before the page cache is prepared.
void choose_mixed_layout(Run& run, const SourceContext& opening) {
  const AugmentOptions augment = augment_options(run.config);
  native::SlotSizeOptions options;
  options.batch_size = run.config.loader.batch_size;
  const auto& decode = run.config.image.decode.value;
  options.stored_share = decode.on_device() ? decode.share : 0;
  options.resident = run.config.image.resident.value.form;
  options.augment = &augment;
  options.seed = static_cast<std::uint64_t>(run.config.measure.seed.value);
  run.slots = native::choose_slots(*run.data, options, opening);
}

void open_data(Run& run, const RunContext& context) {
  const Nanos begin = monotonic_now();
  const source::RequestsOfOpening asked_before = source::requests_of_opening();
  SourceOptions options;
  options.index_file = run.config.data.index.value;
  options.access = run.config.data.access;
  options.queue_depth = static_cast<int>(run.config.data.queue_depth);
  options.request_timeout = run.config.data.request_timeout;
  if (const std::string& folder = run.config.data.cache_dir.value; !folder.empty())
    options.kept = std::make_shared<source::RangeCache>(folder, run.config.data.cache_bytes);
  SourceContext opening;
  opening.stop_signal = context.stop_signal;
  run.data = open_source(run.config.data.source.value, run.config.data.paths.value,
                         std::move(options), opening);
  run.opening = monotonic_now() - begin;
  run.requests_of_opening = source::requests_of_opening(asked_before);
  if (const auto access = run.data->access()) run.config.data.access.value = *access;
  if (const StreamSource* streams = run.data->streams()) {
    native::check_shards(run.config, *streams);
  } else {
    cap_samples(run);
  }
  if (const Bytes bytes = run.data->sample_bytes(); bytes > 0) {
    run.config.data.delivered_bytes.value = bytes;
    check_batch_bytes(run.config);
  }
  if (run.config.makes_on_device()) choose_mixed_layout(run, opening);
  check_page_cache(run, opening);
}

native::MakerFactory make_pipeline(Run& run) {
  if (!run.data) return native::declared_makers(*run.plan);
  DataPipeline& pipeline = run.pipeline;
  pipeline.plan = &*run.plan;
  pipeline.source = run.data.get();
  pipeline.form = source_traits(run.config.data.source.value).form;
  pipeline.augment = augment_options(run.config);
  pipeline.decode.fast_upsampling = run.config.image.fast_upsampling;
  pipeline.decode.dct_scale_auto = run.config.image.dct_scale == DctScale::auto_;
  pipeline.decode.wanted = pipeline.augment.size;
  pipeline.decode.frames = &run.frames;
  pipeline.fail_on_error = run.config.data.on_error == OnError::fail;
  pipeline.errors = &run.errors;
  pipeline.decodes = &run.decodes;
  return native::data_makers(pipeline);
}

// Limits the replayed samples to half of the memory that the batches leave.
void make_replay_pool(Run& run, const RunContext& context, std::optional<Bytes> free) {
  constexpr Bytes kMaxReplayed = Bytes{256} << 20;
  const Knockouts& out = context.knockouts;
  if (!out.has(Stage::read) && !out.has(Stage::decode) && !out.has(Stage::augment)) return;
  const Bytes left = free ? *free - native::memory_needed(*run.plan) : 2 * kMaxReplayed;
  SourceContext reading;
  reading.stop_signal = context.stop_signal;
  const DataPipeline& from = run.pipeline;
  run.replayed.emplace(native::ReplaySource{*run.data, from.form, from.decode, from.augment}, out,
                       static_cast<std::uint64_t>(run.config.measure.seed.value),
                       std::min(kMaxReplayed, left / 2), reading);
  run.pipeline.replayed = &*run.replayed;
}

// Reads the data set that the device keeps. A simulated device takes the time of its link for it.
void load_resident(Run& run, const RunContext& context, std::optional<Bytes> free) {
  constexpr Bytes kMaxUnknown = Bytes{1} << 40;
  constexpr std::int64_t kMaxReaders = 64;
  static constexpr std::atomic<int> kNeverStops{0};
  if (!run.config.image.resident.value.holds_data()) return;
  use_exact_sleeps();
  Sleeper sleeper(context.stop_signal ? *context.stop_signal : kNeverStops);
  if (!run.data) {
    run.load = resident_load(*run.plan);
    sleeper.sleep(run.load.time);
    return;
  }
  const Nanos begin = monotonic_now();
  native::ResidentData::Options options;
  options.readers = std::min(kMaxReaders, std::int64_t{run.plan->workers} * run.plan->ranks);
  options.most_bytes = free ? (*free - native::memory_needed(*run.plan)) / 2 : kMaxUnknown;
  options.stop_signal = context.stop_signal;
  run.resident.emplace(run.pipeline, options);
  run.pipeline.resident = &*run.resident;
  run.plan->make_plan.resident = run.resident->data();
  run.load.bytes = run.resident->size();
  if (device_kind(run.config.trainer.device.value) == DeviceKind::simulated)
    sleeper.sleep(run.plan->ranks * resident_copy_time(*run.plan, run.load.bytes));
  run.load.time = monotonic_now() - begin;
}

native::SampleNames sample_names(const Run& run) {
  if (!run.data) return {};
  return [&data = *run.data](std::int64_t sample) { return data.describe(sample); };
}

native::SlotFiller make_slot_filler(const Run& run) {
  if (!run.replayed || !run.replayed->has_finished()) return {};
  const auto bytes =
      static_cast<std::size_t>(run.plan->delivered_bytes(run.config.loader.batch_size));
  return [&pool = *run.replayed, bytes](std::byte* slot) { pool.fill({slot, bytes}); };
}

void add_replay_facts(const Run& run, RunRecord& record) {
  if (!run.replayed) return;
  record.metrics.push_back(
      make_metric(metric::memory_replayed_samples,
                  "samples made before the run and replayed in place of others",
                  static_cast<double>(run.replayed->samples())));
  record.metrics.push_back(make_metric(metric::memory_replayed_bytes, "host memory that they take",
                                       static_cast<double>(run.replayed->bytes())));
}

void add_cache_facts(const Run& run, RunRecord& record) {
  if (!run.cache) return;
  const CacheProof& cache = *run.cache;
  record.metrics.push_back(make_metric(metric::cache_checked_bytes,
                                       "data whose state in the page cache was looked at",
                                       static_cast<double>(cache.bytes_checked)));
  record.metrics.push_back(make_metric(metric::cache_resident_before_bytes,
                                       "of it in the page cache before --cache was applied",
                                       static_cast<double>(cache.resident_before)));
  record.metrics.push_back(make_metric(metric::cache_resident_bytes,
                                       "of it in the page cache when the run began",
                                       static_cast<double>(cache.resident_after)));
  record.metrics.push_back(make_metric(
      metric::cache_proved, "1 when the page cache is in the state that --cache asks for",
      cache.proved ? 1.0 : 0.0));
  record.notes.push_back(cache.sentence);
}

void add_requests_of_opening(const source::RequestsOfOpening& opening, RunRecord& record) {
  if (opening.sent <= 0) return;
  record.metrics.push_back(
      make_metric(metric::requests_opening,
                  "requests to servers before the first batch: listings, headers, "
                  "indexes",
                  static_cast<double>(opening.sent)));
  if (opening.alone <= 0) return;
  record.metrics.push_back(make_metric(metric::requests_opening_alone,
                                       "of these, those with no other at the same time",
                                       static_cast<double>(opening.alone)));
  record.metrics.push_back(
      make_metric(metric::requests_opening_alone_least_s,
                  "of the shortest of the last of these, to its first byte, connecting "
                  "left out",
                  opening.alone_least_s));
}

// A thread that hangs in the kernel cannot be ended, nor can work that hangs on a device. They keep
// what they use until the process ends.
struct LeakedRunState {
  std::unique_ptr<Run>& run;
  ~LeakedRunState() {
    static std::vector<Run*>& kept = *new std::vector<Run*>;
    if (!run->runner->stopped()) kept.push_back(run.release());
  }
};

RunRecord make_record(Run& run) {
  JobRunner& runner = *run.runner;
  RunRecord record;
  record.engine = "native";
  record.simulated = device_kind(run.config.trainer.device.value) == DeviceKind::simulated;
  record.config = run.config;
  record.interrupted = runner.interrupted();
  record.input_ended_in_warmup = runner.input_ended_in_warmup();
  record.ranks = runner.finish();
  record.lost_spans = runner.lost_spans();
  record.contention_known = RunQueueMeter().known();
  record.metrics = run.data ? memory_metrics(*run.plan, runner.locked_bytes())
                            : unwritten_memory_metrics(*run.plan);
  for (Metric& metric : runner.process_metrics(record.ranks.front()))
    record.metrics.push_back(std::move(metric));
  record.details = runner.other_programs();
  DeviceFacts device = runner.device_facts();
  for (Metric& metric : device.metrics) record.metrics.push_back(std::move(metric));
  for (std::string& note : device.notes) record.notes.push_back(std::move(note));
  record.skipped = run.errors.summary();
  if (run.data) {
    record.before_first_ask.emplace_back("index", run.opening);
    run.load.time += runner.keeping_time();
    record.notes.insert(record.notes.begin(), run.notes.begin(), run.notes.end());
    for (const std::string& note : run.data->notes()) record.notes.push_back(note);
    for (Metric& metric : run.data->metrics()) record.metrics.push_back(std::move(metric));
    // The fingerprint needs the sizes of files. A storage that hangs never returns them.
    if (run.data->size() > 0 && runner.stopped()) {
      record.metrics.push_back(
          make_metric(metric::data_fingerprint,
                      "a number that other data is unlikely to have: by count, places and sizes of "
                      "samples",
                      static_cast<double>(source::source_fingerprint(*run.data))));
    }
    for (Metric& metric : run.frames.metrics()) record.metrics.push_back(std::move(metric));
    for (Metric& metric : run.decodes.metrics()) record.metrics.push_back(std::move(metric));
    add_requests_of_opening(run.requests_of_opening, record);
    for (Detail& detail : run.data->details()) record.details.push_back(std::move(detail));
    if (const StreamSource* streams = run.data->streams())
      native::add_streamed_facts(*run.plan, *streams, runner.streamed_samples(), record);
  }
  add_resident_load(run.load, record);
  add_cache_facts(run, record);
  add_replay_facts(run, record);
  if (const std::string fallback = runner.memory_fallback(); !fallback.empty())
    record.notes.push_back(fallback);
  if (const std::string bound = runner.binding(); !bound.empty())
    record.notes.push_back("bound by --bind: " + bound);
  return record;
}

}  // namespace

RunRecord run_native(const RunConfig& config, const RunContext& context) {
  auto run = std::make_unique<Run>();
  run->config = config;
  if (config.has_data()) open_data(*run, context);
  run->plan.emplace(run->config, nullptr, context.knockouts, context.native.local_ranks);
  if (run->slots) {
    run->plan->layout = run->slots->layout;
    MakePlan& device = run->plan->make_plan = run->slots->device;
    device.batches = run->plan->on_device.slots(run->plan->in_flight);
    device.decode = run->config.image.decode.value.on;
  }
  native::MakerFactory makers = make_pipeline(*run);
  const std::optional<Bytes> free = free_memory("/");
  if (run->data) {
    native::check_fit(*run->plan, free, run->data->bytes_read_ahead());
    make_replay_pool(*run, context, free);
  } else {
    native::check_account_fits(*run->plan, free);
  }
  native::check_threads(*run->plan, thread_limit("/"));
  load_resident(*run, context, free);
  run->runner =
      std::make_unique<JobRunner>(*run->plan, context, std::move(makers), run->errors,
                                  run->data != nullptr, make_slot_filler(*run), sample_names(*run));
  if (run->resident) {
    run->plan->make_plan.resident = {};
    run->resident->free_bytes();
  }
  const LeakedRunState keeper{run};
  try {
    run->runner->run();
  } catch (const RunError& failure) {
    if (!run->runner->has_steps()) throw;
    throw PartialRunError(failure, make_record(*run));
  }
  return make_record(*run);
}

}  // namespace loaderscope
