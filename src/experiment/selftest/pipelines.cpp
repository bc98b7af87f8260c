#include "experiment/selftest/pipelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "loaderscope/device.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"
#include "settings/engine_table.h"

namespace loaderscope::selftest {
namespace {

// Settings of all pipelines. The trainer asks for a batch when the previous compute has ended, and
// waits for the copy. Only the first read of a batch is hidden.
constexpr std::string_view kCommon =
    "batch-size = 4\ncompute = 100us\nin-flight = 1\ncopy = sync\ndevice = sim\n";
constexpr std::string_view kLong = "warmup = 4\nsteps = 8\n";
// Epochs of four steps, each with a start of workers.
constexpr std::string_view kShortEpochs = "samples = 16\nwarmup = 4\nsteps = 8\n";
constexpr std::string_view kOneWorker =
    "num-workers = 1\nprefetch-factor = 1\nmemory = pin-thread\n";
constexpr std::string_view kDeclared =
    "cost = read=400us\ncost = decode=500us\ncost = augment=200us\ncost = collate=100us\n"
    "cost = h2d=100us\ncost = launch=20us:sleep\n";
constexpr std::string_view kDeclaredHandOver = "cost = transport=100us:sleep\ncost = pin=100us\n";
// The stages of a thread whose waiting for a core the account leaves with the stage only sleep.
constexpr std::string_view kReal =
    "samples = 64\npersistent-workers = true\ncost = launch=1us:sleep\n"
    "cost = transport=1us:sleep\n";
constexpr std::string_view kRealShort = "cost = launch=1us:sleep\n";

constexpr std::string_view kSampleDelays =
    "read=+10ms decode=+10ms augment=+10ms collate=+40ms h2d=+40ms launch=+40ms";
constexpr std::string_view kTransportDelays = "transport=+40ms pin=+40ms";
constexpr std::string_view kStartupDelay = "startup=+160ms";

struct Row {
  std::string_view name;
  bool real;
  std::vector<std::string_view> settings;
  std::vector<std::string_view> delays;  // values of --inject, separated by spaces
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {"declared, no worker",
       false,
       {kCommon, kLong, "num-workers = 0\n", kDeclared},
       {kSampleDelays}},
      {"declared, 1 worker",
       false,
       {kCommon, kLong, kOneWorker, kDeclared, kDeclaredHandOver},
       {kSampleDelays, kTransportDelays}},
      {"declared, short epochs",
       false,
       {kCommon, kShortEpochs, kOneWorker, kDeclared},
       {kStartupDelay}},
      {"images, 1 worker",
       true,
       {kCommon, kLong, kOneWorker, kReal},
       {kSampleDelays, kTransportDelays}},
      {"images, short epochs",
       true,
       {kCommon, kShortEpochs, kOneWorker, kRealShort},
       {kStartupDelay}},
  };
  return table;
}

constexpr std::array<std::string_view, 4> kCommonFields = {"engine", "device", "link", "seed"};
constexpr std::uint32_t kDataTraits = about::kWhichData | about::kStored | about::kImage;
constexpr std::array<std::string_view, 2> kGuestFields = {"loader", "python"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, const Field& field) {
  return std::find(names.begin(), names.end(), field.name) != names.end();
}

RunConfig row_settings(const Row& row, const RunConfig& given) {
  RunConfig config = taken_over(given, [&](const Field& field) {
    return among(kCommonFields, field) || (row.real && field.is_about(kDataTraits));
  });
  for (const std::string_view lines : row.settings) parse_scenario(lines, "selftest", config);
  return config;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Workers start once per epoch.
Nanos per_step(const RunConfig& config, const Injection& injection) {
  if (is_per_sample(injection.stage)) return injection.extra * config.loader.batch_size;
  if (injection.stage == Stage::startup)
    return injection.extra * config.loader.batch_size / config.data.samples;
  return injection.extra;
}

Trial make_trial(const Row& row, const RunConfig& given, const MachineLimits& limits) {
  std::vector<std::string> ignored;  // settings without effect, the same for every row
  const RunConfig settings = row_settings(row, given);
  Trial trial{std::string(row.name), row.real, resolve(settings, limits, ignored), {}};
  for (const std::string_view group : row.delays) {
    for (const std::string_view text : split_words(group)) {
      RunConfig delayed = settings;
      set_field(delayed, "selftest", "inject", text);
      const Injection& injection = delayed.declared.inject.value.front();
      trial.delays.push_back(
          {injection.stage, resolve(delayed, limits, ignored), per_step(delayed, injection)});
    }
  }
  return trial;
}

void refuse_contradictions(const RunConfig& given) {
  if (device_kind(given.trainer.device.value) == DeviceKind::none) {
    throw UsageError("device = null: nothing computes, so nothing can be seen to wait",
                     "give --device sim or "
                     "leave it out");
  }
  if (given.program.python.given && !given.program.loader.given) {
    throw UsageError(
        "python = " + shown_text(given.program.python.value) + ": has no effect without a loader",
        "give --loader FILE.py:FUNCTION");
  }
  if (is_model_engine(given.engine.value) && names_data(given)) {
    throw UsageError("engine = model: the model runs declared costs only",
                     "leave out --data, or give --engine "
                     "native");
  }
}

constexpr std::string_view kTrainer =
    "compute = 100us\nin-flight = 1\ncopy = sync\nwarmup = 4\nsteps = 8\n";
constexpr std::string_view kSmallBatches = "batch-size = 4\n";
constexpr std::string_view kOneWorkerAhead = "num-workers = 1\nprefetch-factor = 1\n";
constexpr Nanos kMinDelay = 40 * kMillisecond;  // delay per step

constexpr std::array<Stage, 9> kSeen = {Stage::read,      Stage::read_decompress, Stage::decode,
                                        Stage::augment,   Stage::opaque,          Stage::collate,
                                        Stage::transport, Stage::transport_recv,  Stage::pin};
constexpr std::array<Stage, 2> kTrainerStages = {Stage::h2d,
                                                 Stage::launch};  // stages of our trainer

RunConfig with(RunConfig config, std::string_view settings) {
  parse_scenario(settings, "selftest", config);
  return config;
}

RunConfig resolved(const RunConfig& config, const MachineLimits& limits) {
  std::vector<std::string> ignored;
  return resolve(config, limits, ignored);
}

// Settings, and the run that shows the stages of the loader.
struct Probe {
  RunConfig settings;
  RunRecord record;
};

Probe probe(const RunConfig& settings, const MachineLimits& limits, const Run& run) {
  const RunConfig small = with(settings, kSmallBatches);
  try {
    return {small, run(resolved(small, limits))};
  } catch (const RunError&) {  // a loader that decides on its batches itself, or none at all
    return {settings, run(resolved(settings, limits))};
  }
}

bool is_in_all(Stage stage, const RankRecord& rank) {
  return rank.stages[stage].count >= (is_per_sample(stage) ? rank.samples : rank.steps());
}

Delay make_delay(Stage stage, const RunConfig& settings, Nanos per_step, std::int64_t batch,
                 const MachineLimits& limits) {
  const Nanos extra = is_per_sample(stage) ? per_step / batch : per_step;
  const RunConfig delayed =
      with(settings, fmt::format("inject = {}=+{}\n", name_of(stage), duration_to_text(extra)));
  const Nanos all = is_per_sample(stage) ? extra * batch : extra;
  return {stage, resolved(delayed, limits), all};
}

void add_delays(OwnLoader& own, const RunConfig& settings, const RankRecord& rank,
                const MachineLimits& limits) {
  const std::int64_t batch = std::max<std::int64_t>(1, rank.samples / rank.steps());
  // The noise of a step grows with its length, so the delay is as long as a step.
  const Nanos per_step = std::max(kMinDelay, rank.window() / rank.steps());
  const auto add = [&](Stage stage) {
    own.trial.delays.push_back(make_delay(stage, settings, per_step, batch, limits));
  };
  for (const Stage stage : kSeen) {
    if (is_in_all(stage, rank)) {
      add(stage);
    } else if (rank.stages[stage].count > 0) {
      own.notes.push_back(fmt::format("{} is not tried: not every {} has it", name_of(stage),
                                      is_per_sample(stage) ? "sample" : "batch"));
    }
  }
  for (const Stage stage : kTrainerStages) add(stage);
}

}  // namespace

bool may_change(const Field& field) {
  return among(kCommonFields, field) || field.is_about(kDataTraits) || among(kGuestFields, field);
}

RunConfig taken_over(const RunConfig& given, const std::function<bool(const Field&)>& wanted) {
  RunConfig config;
  for (const Field& field : fields()) {
    if (!wanted(field) || !field.given(given)) continue;
    for (const std::string& text : field.texts(given)) field.set(config, text);
  }
  return config;
}

bool names_data(const RunConfig& given) { return given.data.paths.given || given.data.index.given; }

std::vector<Trial> make_trials(const RunConfig& given, const MachineLimits& limits) {
  refuse_contradictions(given);
  std::vector<Trial> trials;
  for (const Row& row : rows()) {
    if (row.real && !names_data(given)) continue;
    trials.push_back(make_trial(row, given, limits));
  }
  return trials;
}

OwnLoader try_loader(const RunConfig& given, const MachineLimits& limits, const Run& run) {
  const RunConfig settings = with(taken_over(given, may_change), kTrainer);
  const Probe seen = probe(settings, limits, run);
  OwnLoader own;
  own.interrupted = seen.record.interrupted;
  const bool has_workers = seen.record.config.loader.num_workers > 0;
  const RunConfig base = has_workers ? with(seen.settings, kOneWorkerAhead) : seen.settings;
  own.trial = {
      has_workers ? "loader, 1 worker" : "loader, no worker", false, resolved(base, limits), {}};
  if (own.interrupted) return own;
  if (seen.record.ranks.empty() || seen.record.ranks.front().steps() <= 0)
    throw RunError("--loader " + shown_text(given.program.loader.value) + ": gives too few batches",
                   "the self-test needs 12 in all");
  add_delays(own, base, seen.record.ranks.front(), limits);
  return own;
}

}  // namespace loaderscope::selftest
