// Settings changed on top of those of another run.

#include <algorithm>

#include "base/old_words.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "record/environment_changes.h"
#include "record/family_traits.h"
#include "settings/engine_table.h"
#include "settings/scenario.h"

namespace loaderscope {
namespace {

// Adds the settings that `base` was given, unless `config` overrides them.
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

RunConfig changed_settings(const Changes& changes) {
  RunConfig config;
  for (const Change& change : changes) {
    if (!is_word_of_model(change)) set_field(config, "--set", change.key, change.value);
  }
  return config;
}

bool is_inline(const RunConfig& config) {
  return (config.loader.num_workers.given && config.loader.num_workers == 0) ||
         (config.loader.executor.given && config.loader.executor == Executor::inline_);
}

// Sample tasks derive the prefetch depth from workers and prefetch factor. The depth is kept,
// unless the change names one of these. A prefetch factor would contradict it.
void hold_window(const RunConfig& resolved, const RunConfig& named, RunConfig& config) {
  const bool has_window =
      resolved.loader.task == TaskShape::sample && resolved.loader.prefetch_depth > 0;
  const bool keeps_window = config.loader.task == TaskShape::sample && !is_inline(config);
  if (!has_window || !keeps_window || !named.loader.num_workers.given) return;
  if (config.loader.prefetch_depth.given || named.loader.prefetch_factor.given) return;
  config.loader.prefetch_depth.set(resolved.loader.prefetch_depth);
  config.loader.prefetch_factor.given = false;
}

// Drops injections into ranks or workers that no longer exist.
void drop_injections(const RunConfig& named, RunConfig& config) {
  if (named.declared.inject.given) return;
  const auto is_beyond = [](const auto& one, bool is_named, std::int64_t count) {
    return one && is_named && *one >= count;
  };
  std::erase_if(config.declared.inject.value, [&](const Injection& injection) {
    const std::int64_t workers = std::max<std::int64_t>(config.loader.num_workers, 1);
    return is_beyond(injection.rank, named.trainer.ranks.given, config.trainer.ranks) ||
           is_beyond(injection.worker, named.loader.num_workers.given, workers);
  });
  if (config.declared.inject.value.empty()) config.declared.inject.given = false;
}

}  // namespace

Change parse_change(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    throw UsageError("--set " + shown_text(text) + ": expected KEY=VALUE",
                     "give --set num-workers=8 or --set decode.speed=2");
  }
  Change change{std::string(current_word(WordKind::setting, text.substr(0, equals))),
                std::string(text.substr(equals + 1))};
  if (find_speedup(change) || find_environment_change(change)) return change;
  RunConfig scratch;
  set_field(scratch, "--set", change.key, change.value);
  return change;
}

bool change_setting(const Changes& changes, std::string_view name) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    const Field* field = find_field(change.key);
    return field != nullptr && field->name == name;
  });
}

RunConfig with_changes(const RunConfig& base, const Changes& changes) {
  RunConfig config = changed_settings(changes);
  fill_from(base, config);
  return config;
}

RunConfig counterfactual(const RunConfig& resolved, const Changes& changes) {
  const RunConfig named = changed_settings(changes);
  RunConfig config = with_changes(resolved, changes);
  drop_injections(named, config);
  if (is_guest_engine(resolved.engine.value) &&
      find_pipeline(resolved.program.loader.value) == nullptr)
    return config;  // the program has its own settings, which do not follow from others
  if (named.declared.cores.given && !config.loader.num_workers.given &&
      resolved.loader.num_workers > 0 && !is_inline(config)) {
    config.loader.num_workers.set(resolved.loader.num_workers);
  }
  if (named.trainer.compute.given && !config.loader.batch_size.given)
    config.loader.batch_size.set(resolved.loader.batch_size);
  if (named.trainer.link.given && !config.trainer.device.given)
    config.trainer.device.set(resolved.trainer.device);
  hold_window(resolved, named, config);
  return config;
}

}  // namespace loaderscope
