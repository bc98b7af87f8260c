// Settings changed on top of those of another run.
#include <algorithm>
#include <cmath>
#include <optional>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "settings/engine_table.h"
#include "settings/scenario.h"
#include "settings/world_changes.h"

namespace loaderscope {
namespace {

constexpr std::string_view kSpeed = ".speed";

std::string place_of(const Change& change) {
  return "--set " + shown_text(change.key + "=" + change.value);
}

// The stage of "decode.speed".
std::optional<Stage> sped_up(const Change& change) {
  const std::string_view key = change.key;
  if (!key.ends_with(kSpeed)) return std::nullopt;
  const std::string_view name = key.substr(0, key.size() - kSpeed.size());
  std::vector<Stage> stages = cost_stages();
  stages.insert(stages.end(), {Stage::opaque, Stage::compute});
  std::vector<std::string_view> names;
  for (Stage stage : stages) {
    if (name_of(stage) == name) return stage;
    names.push_back(name_of(stage));
  }
  throw UsageError(place_of(change) + ": no stage has this name" + suggestion(name, names));
}

double speed_of(const Change& change) {
  try {
    const double speed = parse_real(change.value);
    if (speed >= 1e-3 && speed <= 1e6) return speed;
  } catch (const ValueError&) {
  }
  throw UsageError(place_of(change) + ": expected a factor from 0.001 to 1000000, such as 2");
}

std::string time_text(double ns) { return spell_duration(std::llround(ns)); }

Distribution scaled(Distribution d, double factor) {
  d.mean *= factor;
  if (d.shape == Distribution::Shape::uniform) d.spread *= factor;
  return d;
}

Cost faster(const Cost& cost, double speed) {
  Distribution amount = scaled(cost.amount, cost.is_rate ? speed : 1 / speed);
  const bool is_nothing = !cost.is_rate && std::llround(amount.mean) == 0;
  if (is_nothing) amount = Distribution{};  // of no time nothing can be distributed
  return parse_cost(std::string(name_of(cost.stage)) + "=" +
                    spell_distribution(amount, cost.is_rate ? spell_byte_rate : time_text) +
                    (cost.kind == CostKind::cpu ? ":cpu" : ":sleep"));
}

Injection faster(const Injection& injection, double speed) {
  const auto options = std::min(injection.text.find('@'), injection.text.size());
  return parse_injection(std::string(name_of(injection.stage)) + "=+" +
                         time_text(static_cast<double>(injection.extra) / speed) +
                         injection.text.substr(options));
}

// What was given in `base`, less what `config` outdoes.
void fill_from(const RunConfig& base, RunConfig& config) {
  const RunConfig changes = config;
  for (const Field& field : fields()) {
    if (!field.given(base) || field.is_about(about::kSaved) || field.name == "require" ||
        field.name == "prove") {
      continue;
    }
    for (const std::string& value : field.texts(base)) {
      if (!flag_wins(changes, field, value)) set_field(config, "the base case", field.name, value);
    }
  }
}

RunConfig settings_of(const Changes& changes) {
  RunConfig config;
  for (const Change& change : changes) {
    if (!sped_up(change) && change.key != kOtherThreads)
      set_field(config, "--set", change.key, change.value);
  }
  return config;
}

bool is_inline(const RunConfig& config) {
  return (config.loader.num_workers.given && config.loader.num_workers == 0) ||
         (config.loader.executor.given && config.loader.executor == Executor::inline_);
}

// Of sample tasks the window follows from workers and prefetch factor, unless these are what is
// named. A prefetch factor beside the window would contradict it.
void hold_window(const RunConfig& in_force, const RunConfig& named, RunConfig& config) {
  const bool has_window = in_force.loader.task == TaskShape::sample && in_force.loader.window > 0;
  const bool keeps_window = config.loader.task == TaskShape::sample && !is_inline(config);
  if (!has_window || !keeps_window || !named.loader.num_workers.given) return;
  if (config.loader.window.given || named.loader.prefetch_factor.given) return;
  config.loader.window.set(in_force.loader.window);
  config.loader.prefetch_factor.given = false;
}

}  // namespace

Change parse_change(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    throw UsageError("--set " + shown_text(text) +
                     ": expected KEY=VALUE, such as num-workers=8 or decode.speed=2");
  }
  Change change{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  if (speedup_of(change) || other_threads_of(change)) return change;
  RunConfig scratch;
  set_field(scratch, "--set", change.key, change.value);
  return change;
}

std::string spell_changes(const Changes& changes) {
  std::string text;
  for (const Change& change : changes) {
    text += (text.empty() ? "" : " ") + change.key + "=" + change.value;
  }
  return text;
}

std::optional<Speedup> speedup_of(const Change& change) {
  const std::optional<Stage> stage = sped_up(change);
  if (!stage) return std::nullopt;
  return Speedup{*stage, speed_of(change)};
}

std::optional<double> other_threads_of(const Change& change) {
  if (change.key != kOtherThreads) return std::nullopt;
  try {
    const double threads = parse_real(change.value);
    if (threads >= 0 && threads <= 1e6) return threads;
  } catch (const ValueError&) {
  }
  throw UsageError(place_of(change) + ": expected a number of threads from 0 to 1000000");
}

bool is_of_world(const Change& change) {
  if (change.key.ends_with(kSpeed) || change.key == kOtherThreads) return true;
  // Of what a run can be told to do, costs and injections are the only ones in this group.
  const Field* field = find_field(change.key);
  return field != nullptr && !field->repeats && field->group == find_field("cores")->group;
}

RunConfig with_changes(const RunConfig& base, const Changes& changes) {
  RunConfig config = settings_of(changes);
  fill_from(base, config);
  return config;
}

RunConfig counterfactual(const RunConfig& in_force, const Changes& changes) {
  const RunConfig named = settings_of(changes);
  RunConfig config = with_changes(in_force, changes);
  if (is_guest_engine(in_force.engine.value) &&
      find_pipeline(in_force.program.loader.value) == nullptr)
    return config;  // it has its own, which follow from nothing here
  if (named.declared.cores.given && !config.loader.num_workers.given &&
      in_force.loader.num_workers > 0 && !is_inline(config)) {
    config.loader.num_workers.set(in_force.loader.num_workers);
  }
  if (named.trainer.compute.given && !config.loader.batch_size.given)
    config.loader.batch_size.set(in_force.loader.batch_size);
  if (named.trainer.link.given && !config.trainer.device.given)
    config.trainer.device.set(in_force.trainer.device);
  hold_window(in_force, named, config);
  return config;
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
    link.name = spell_real(link.pinned / 1e9) + "/" + spell_real(link.pageable / 1e9);
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

}  // namespace loaderscope
