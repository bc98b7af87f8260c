#include "report/next_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/verdict.h"
#include "report/totals.h"

namespace loaderscope {
namespace {

struct Change {
  std::string_view field;
  std::string value;
};
using Changes = std::vector<Change>;

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string doubled(std::int64_t value) {
  return std::to_string(2 * std::clamp<std::int64_t>(value, 1, 1 << 20));
}

// What the workers did in the stage that is blamed; without a count where it was not measured.
StageStats stage_of(Cause cause, const RunRecord& record) {
  for (const auto& word : Words<Stage>::table()) {
    if (word.name == name_of(cause)) return job_stages(record)[word.value];
  }
  return {};
}

// As many threads as cores that compute give nothing more; those that wait for storage do.
bool cores_are_full(Cause cause, const RunRecord& record, const Account& account) {
  const RunConfig& config = record.config;
  const auto threads =
      static_cast<double>(config.num_workers.value) * static_cast<double>(config.ranks.value);
  if (threads < config.cores) return false;
  const StageStats stage = stage_of(cause, record);
  if (stage.wall > 0) return stage.blocked() < stage.wall / 2;
  return account.stall[Cause::contention] > account.window / 100;
}

Changes more_workers(Cause cause, const RunRecord& record, const Account& account) {
  const RunConfig& config = record.config;
  if (cores_are_full(cause, record, account)) return {};
  const double cores = std::clamp(std::floor(config.cores.value), 1.0, 1e6);
  if (config.num_workers == 0) return {{"num-workers", fmt::format("{:.0f}", cores)}};
  return {{"num-workers", doubled(config.num_workers)}};
}

Changes for_production(Cause cause, const RunRecord& record, const Account& account) {
  const RunConfig& config = record.config;
  const auto most = std::max_element(account.why.begin(), account.why.end());
  if (config.num_workers == 0) return more_workers(cause, record, account);
  switch (static_cast<Why>(most - account.why.begin())) {
    case Why::capacity:
    case Why::latency:
      return more_workers(cause, record, account);
    case Why::depth:
      if (config.task == TaskShape::sample) return {{"window", doubled(config.window)}};
      return {{"prefetch-factor", doubled(config.prefetch_factor)}};
    case Why::epoch:
      if (!config.persistent_workers) return {{"persistent-workers", "true"}};
      return {};
  }
  return {};
}

Changes for_copy(const RunConfig& config) {
  if (config.copy != CopyMode::stream) return {{"copy", "stream"}};
  if (config.memory == MemoryMode::pageable) return {{"memory", "pinned-slots"}};
  if (config.transfer == Transfer::f32) return {{"transfer", "f16"}};
  return {};
}

Changes for_cause(Cause cause, const RunRecord& record, const Account& account) {
  const RunConfig& config = record.config;
  switch (cause) {
    case Cause::transport:
      if (config.executor == Executor::processes) return {{"executor", "threads"}};
      return {};
    case Cause::pin:
      return {{"memory", "pinned-slots"}};
    case Cause::h2d:
      return for_copy(config);
    case Cause::launch:
      if (config.in_flight == 1) return {{"in-flight", "2"}};
      return {};
    case Cause::contention: {
      const double cores = std::clamp(std::floor(config.cores.value), 1.0, 1e6);
      if (static_cast<double>(config.num_workers.value) <= cores) return {};
      return {{"num-workers", fmt::format("{:.0f}", cores)}};
    }
    case Cause::other:
      return {};
    default:
      return for_production(cause, record, account);
  }
}

Changes for_withheld(const RunRecord& record, const Analysis& analysis) {
  const RunConfig& config = record.config;
  if (record.input_ended_in_warmup) {
    return {{"epochs", std::to_string(10 * std::clamp<std::int64_t>(config.epochs, 1, 1 << 20))}};
  }
  if (record.lost_spans > 0 || record.interrupted) return {};
  if (analysis.steps < kFewestSteps) {
    const LongerRun longer = longer_run(config, analysis.steps);
    return {{longer.flag, std::to_string(longer.value)}};
  }
  if (!analysis.steady) {
    return {{"warmup", std::to_string(analysis.steps)},
            {"steps", std::to_string(2 * analysis.steps)}};
  }
  return {};
}

// What must go when the changes come, or has nothing to do with the measurement.
std::vector<std::string_view> replaced_by(const Changes& changes) {
  std::vector<std::string_view> names = {"json", "require"};
  for (const Change& change : changes) {
    names.push_back(change.field);
    if (change.field == "num-workers") names.push_back("executor");
    if (change.field == "steps") names.push_back("duration");
    if (change.field == "memory") names.push_back("pin-memory");
  }
  return names;
}

std::string quoted(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(plain) == text.npos) return text;
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string flag(const Field& field, const std::string& value) {
  if (field.is_switch()) return fmt::format(" --{}{}", value == "true" ? "" : "no-", field.name);
  return fmt::format(" --{} {}", field.name, quoted(value));
}

// The flags that were given, less those named in `without`.
std::string flags_of(const RunConfig& config, const std::vector<std::string_view>& without) {
  std::string flags;
  for (const Field& field : fields()) {
    if (!field.given(config) || contains(without, field.name)) continue;
    for (const std::string& text : field.texts(config)) flags += flag(field, text);
  }
  return flags;
}

}  // namespace

std::string next_command(const RunRecord& record, const Analysis& analysis) {
  Changes changes;
  if (analysis.verdict.withheld_reason) {
    changes = for_withheld(record, analysis);
  } else if (!analysis.verdict.candidates.empty()) {
    changes = for_cause(analysis.verdict.candidates.front(), record, analysis.account);
  }
  if (changes.empty()) return "";
  std::string command = "loaderscope run" + flags_of(record.config, replaced_by(changes));
  for (const Change& change : changes) {
    if (const Field* field = find_field(change.field)) command += flag(*field, change.value);
  }
  return command;
}

}  // namespace loaderscope
