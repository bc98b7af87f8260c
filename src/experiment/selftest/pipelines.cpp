#include "experiment/selftest/pipelines.h"
#include "loaderscope/run_config.h"
#include "record/family_traits.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "loaderscope/errors.h"

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

constexpr std::string_view kOfSamples =
    "read=+10ms decode=+10ms augment=+10ms collate=+40ms h2d=+40ms launch=+40ms";
constexpr std::string_view kOfHandOver = "transport=+40ms pin=+40ms";
constexpr std::string_view kOfStart = "startup=+160ms";

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
       {kOfSamples}},
      {"declared, 1 worker",
       false,
       {kCommon, kLong, kOneWorker, kDeclared, kDeclaredHandOver},
       {kOfSamples, kOfHandOver}},
      {"declared, short epochs", false, {kCommon, kShortEpochs, kOneWorker, kDeclared}, {kOfStart}},
      {"images, 1 worker", true, {kCommon, kLong, kOneWorker, kReal}, {kOfSamples, kOfHandOver}},
      {"images, short epochs", true, {kCommon, kShortEpochs, kOneWorker, kRealShort}, {kOfStart}},
  };
  return table;
}

constexpr std::array<std::string_view, 4> kOfAll = {"engine", "device", "link", "seed"};
constexpr std::uint32_t kOfData = about::kWhichData | about::kStored | about::kImage;
constexpr std::array<std::string_view, 2> kOfGuest = {"loader", "python"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, const Field& field) {
  return std::find(names.begin(), names.end(), field.name) != names.end();
}

RunConfig settings_of(const Row& row, const RunConfig& given) {
  RunConfig config = taken_over(given, [&](const Field& field) {
    return among(kOfAll, field) || (row.real && field.is_about(kOfData));
  });
  for (const std::string_view lines : row.settings) parse_scenario(lines, "selftest", config);
  return config;
}

std::vector<std::string_view> words_of(std::string_view text) {
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

Trial trial_of(const Row& row, const RunConfig& given, const MachineLimits& limits) {
  std::vector<std::string> ignored;  // settings without effect, the same for every row
  const RunConfig settings = settings_of(row, given);
  Trial trial{std::string(row.name), row.real, resolve(settings, limits, ignored), {}};
  for (const std::string_view group : row.delays) {
    for (const std::string_view text : words_of(group)) {
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
    throw UsageError(
        "device = null: nothing computes, so nothing can be seen to wait; give --device sim or "
        "leave it out");
  }
  if (given.program.python.given && !given.program.loader.given) {
    throw UsageError("python = " + shown_text(given.program.python.value) +
                     ": has no effect without a loader; give --loader FILE.py:FUNCTION");
  }
  if (is_model_engine(given.engine.value) && names_data(given)) {
    throw UsageError(
        "engine = model: the model runs declared costs only; leave out --data, or give --engine "
        "native");
  }
}

}  // namespace

bool may_change(const Field& field) {
  return among(kOfAll, field) || field.is_about(kOfData) || among(kOfGuest, field);
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
    trials.push_back(trial_of(row, given, limits));
  }
  return trials;
}

}  // namespace loaderscope::selftest
