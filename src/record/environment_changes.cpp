// The words of a what-if that no run knows.
#include "record/environment_changes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr std::string_view kSpeed = ".speed";

// The stage of "decode.speed".
std::optional<Stage> sped_up(const Change& change) {
  const std::string_view key = change.key;
  if (!key.ends_with(kSpeed)) return std::nullopt;
  const std::string_view name = key.substr(0, key.size() - kSpeed.size());
  std::vector<Stage> stages;
  for (const Stage stage : cost_stages())
    if (!is_on_device(stage)) stages.push_back(stage);
  stages.insert(stages.end(), {Stage::opaque, Stage::compute});
  std::vector<std::string_view> names;
  for (Stage stage : stages) {
    if (name_of(stage) == name) return stage;
    names.push_back(name_of(stage));
  }
  throw UsageError(change_place(change) + ": no stage has this name", did_you_mean(name, names));
}

double parse_speed(const Change& change) {
  try {
    const double speed = parse_real(change.value);
    if (speed >= 1e-3 && speed <= 1e6) return speed;
  } catch (const ValueError&) {
  }
  throw UsageError(change_place(change) + ": expected a factor from 0.001 to 1000000",
                   "give a factor such as 2");
}

double as_count(std::string_view text) { return static_cast<double>(parse_count(text)); }
double as_nanos(std::string_view text) { return static_cast<double>(parse_duration(text)); }

struct WordRow {
  std::string_view key;
  WorldWord word;
  double (*parse)(std::string_view);  // throws ValueError
  double least, most;
  std::string_view expected;
  std::string_view setting;  // setting that does the same in a run; "": none
  std::string_view unit, meaning;
};

constexpr double kMaxImageRate = 1e9;

constexpr std::array<WordRow, 7> kWords = {{
    {kOtherThreads, WorldWord::other_threads, parse_real, 0, 1e6,
     "a number of threads from 0 to 1000000", "", "1", "threads of other programs"},
    {"storage.latency", WorldWord::storage_latency, as_nanos, 0, static_cast<double>(kMaxCost),
     "a time such as 1ms", "", "s",
     "from a read or a request to its first byte while no other is in flight"},
    {"storage.bandwidth", WorldWord::storage_bandwidth, parse_byte_rate, 1, 1e15,
     "bytes per second, such as 2GB/s", "", "bytes/s", "the link that all readers share"},
    {kStorageInFlight, WorldWord::storage_in_flight, as_count, 1, 1024,
     "a number of requests from 1 to 1024", "queue-depth", "1",
     "requests that a reader has under way at most"},
    {"cache.hit-rate", WorldWord::hit_rate, parse_real, 0, 1, "a share from 0 to 1, such as 0.9",
     "", "1", "share of the requests that a cache answers at once"},
    {"gpu.decode-rate", WorldWord::gpu_decode_rate, parse_count_rate, 1, kMaxImageRate,
     "images per second, such as 22000/s", "", "1/s",
     "images that the GPU decodes if it has nothing else to do"},
    {"gpu.augment-rate", WorldWord::gpu_augment_rate, parse_count_rate, 1, kMaxImageRate,
     "images per second, such as 1000000/s", "", "1/s",
     "images that the GPU augments if it has nothing else to do"},
}};

const WordRow* word_row(const Change& change) {
  const auto row = std::find_if(kWords.begin(), kWords.end(),
                                [&](const WordRow& r) { return r.key == change.key; });
  return row == kWords.end() ? nullptr : &*row;
}

std::string time_text(double ns) { return duration_to_text(std::llround(ns)); }

Distribution scaled(Distribution d, double factor) {
  d.mean *= factor;
  if (d.shape == Distribution::Shape::uniform) d.spread *= factor;
  return d;
}

Cost faster(const Cost& cost, double speed) {
  Distribution amount = scaled(cost.amount, cost.is_rate ? speed : 1 / speed);
  const bool is_nothing = !cost.is_rate && std::llround(amount.mean) == 0;
  if (is_nothing) amount = Distribution{};  // a zero time has no distribution
  return parse_cost(std::string(name_of(cost.stage)) + "=" +
                    distribution_to_text(amount, cost.is_rate ? byte_rate_to_text : time_text) +
                    (cost.kind == CostKind::cpu ? ":cpu" : ":sleep"));
}

Injection faster(const Injection& injection, double speed) {
  const auto options = std::min(injection.text.find('@'), injection.text.size());
  return parse_injection(std::string(name_of(injection.stage)) + "=+" +
                         time_text(static_cast<double>(injection.extra) / speed) +
                         injection.text.substr(options));
}

// Declares the time of one image.
void declare_rate(DeclaredConfig& declared, Stage stage, double per_second) {
  std::vector<Cost> costs = declared.cost.value;
  std::erase_if(costs, [&](const Cost& cost) { return cost.stage == stage; });
  costs.push_back(parse_cost(std::string(name_of(stage)) + "=" + time_text(1e9 / per_second)));
  declared.cost.set(std::move(costs));
}

struct EnvironmentSetting {
  std::string_view name;
  EnvironmentPart part;
};

constexpr EnvironmentSetting kEnvironmentSettings[] = {
    {"cores", EnvironmentPart::cores},
    {"core-scaling", EnvironmentPart::cores},
    {"storage-latency", EnvironmentPart::storage},
    {"storage-bandwidth", EnvironmentPart::storage},
    {"storage-concurrency", EnvironmentPart::storage},
};

}  // namespace

std::string change_place(const Change& change) {
  return "--set " + shown_text(change.key + "=" + change.value);
}

std::optional<EnvironmentPart> environment_part(std::string_view setting) {
  for (const auto& [name, part] : kEnvironmentSettings) {
    if (name == setting) return part;
  }
  return std::nullopt;
}

std::optional<Speedup> find_speedup(const Change& change) {
  const std::optional<Stage> stage = sped_up(change);
  if (!stage) return std::nullopt;
  return Speedup{*stage, parse_speed(change)};
}

std::optional<EnvironmentChange> find_environment_change(const Change& change) {
  const WordRow* row = word_row(change);
  if (row == nullptr) return std::nullopt;
  try {
    const double value = row->parse(change.value);
    if (value >= row->least && value <= row->most)
      return EnvironmentChange{row->word, value, row->unit, row->meaning};
  } catch (const ValueError&) {
  }
  throw UsageError(change_place(change) + ": expected " + std::string(row->expected),
                   "see loaderscope help prediction");
}

Change as_setting(const Change& change) {
  const WordRow* row = word_row(change);
  return row == nullptr || row->setting.empty() ? change
                                                : Change{std::string(row->setting), change.value};
}

std::string_view word_for_setting(std::string_view setting) {
  const auto row = std::find_if(kWords.begin(), kWords.end(),
                                [&](const WordRow& r) { return r.setting == setting; });
  return row == kWords.end() || setting.empty() ? "" : row->key;
}

std::string meaning_of_key(const std::string& key) {
  if (const WordRow* row = word_row({key, ""}))
    return std::string(row->meaning) + "; " + std::string(row->expected);
  if (!key.ends_with(kSpeed)) return "";
  const std::string stage = key.substr(0, key.size() - kSpeed.size());
  const bool is_stage = std::any_of(Words<Stage>::table().begin(), Words<Stage>::table().end(),
                                    [&](const auto& word) { return word.name == stage; });
  return is_stage ? "how many times as fast " + stage + " is, such as 2" : "";
}

bool is_word_of_model(const Change& change) {
  return change.key.ends_with(kSpeed) || word_row(change) != nullptr;
}

bool is_of_world(const Change& change) {
  return is_word_of_model(change) || environment_part(change.key).has_value();
}

bool make_faster(RunConfig& config, const Speedup& speedup) {
  const auto [stage, speed] = speedup;
  bool declared = false;
  for (Injection& injection : config.declared.inject.value) {
    if (injection.stage != stage) continue;
    injection = faster(injection, speed);
    declared = true;
  }
  for (Cost& cost : config.declared.cost.value) {
    if (cost.stage != stage) continue;
    cost = faster(cost, speed);
    declared = true;
  }
  if (stage == Stage::compute && config.trainer.compute.given) {
    Compute& compute = config.trainer.compute.value;
    static_cast<Distribution&>(compute) = scaled(compute, 1 / speed);
    compute.preset.clear();
    declared = true;
  }
  if (stage == Stage::h2d && !declared && config.trainer.link.given) {
    Link link = config.trainer.link;
    link.pinned *= speed;
    link.pageable *= speed;
    link.name = real_to_text(link.pinned / 1e9) + "/" + real_to_text(link.pageable / 1e9);
    config.trainer.link.set(link);
    declared = true;
  }
  if (stage == Stage::read &&
      (config.declared.storage_latency.given || config.declared.storage_bandwidth.given)) {
    config.declared.storage_latency.value =
        std::llround(static_cast<double>(config.declared.storage_latency.value) / speed);
    config.declared.storage_bandwidth.value *= speed;
    declared = true;
  }
  return declared;
}

bool change_world(RunConfig& config, const EnvironmentChange& change) {
  DeclaredConfig& declared = config.declared;
  switch (change.word) {
    case WorldWord::storage_latency:
      if (declared.storage_latency.given)
        declared.storage_latency.value = std::llround(change.value);
      return declared.storage_latency.given;
    case WorldWord::storage_bandwidth:
      if (declared.storage_bandwidth.given) declared.storage_bandwidth.value = change.value;
      return declared.storage_bandwidth.given;
    case WorldWord::storage_in_flight:
      if (config.data.queue_depth.given) config.data.queue_depth.value = std::llround(change.value);
      return config.data.queue_depth.given;
    case WorldWord::gpu_decode_rate:
      declare_rate(declared, Stage::gpu_decode, change.value);
      return true;
    case WorldWord::gpu_augment_rate:
      declare_rate(declared, Stage::gpu_augment, change.value);
      return true;
    case WorldWord::hit_rate:
    case WorldWord::other_threads:
      return false;
  }
  return false;
}

}  // namespace loaderscope
