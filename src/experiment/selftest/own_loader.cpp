#include "experiment/selftest/own_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope::selftest {
namespace {

constexpr std::string_view kTrainer =
    "compute = 100us\nin-flight = 1\ncopy = sync\nwarmup = 4\nsteps = 8\n";
constexpr std::string_view kSmallBatches = "batch-size = 4\n";
constexpr std::string_view kOneWorkerAhead = "num-workers = 1\nprefetch-factor = 1\n";
constexpr Nanos kMinDelay = 40 * kMillisecond;  // delay per step

constexpr std::array<Stage, 9> kSeen = {Stage::read,      Stage::read_decompress, Stage::decode,
                                        Stage::augment,   Stage::opaque,          Stage::collate,
                                        Stage::transport, Stage::transport_recv,  Stage::pin};
constexpr std::array<Stage, 2> kOfTrainer = {Stage::h2d, Stage::launch};  // stages of our trainer

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

Delay delay_of(Stage stage, const RunConfig& settings, Nanos per_step, std::int64_t batch,
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
    own.trial.delays.push_back(delay_of(stage, settings, per_step, batch, limits));
  };
  for (const Stage stage : kSeen) {
    if (is_in_all(stage, rank)) {
      add(stage);
    } else if (rank.stages[stage].count > 0) {
      own.notes.push_back(fmt::format("{} is not tried: not every {} has it", name_of(stage),
                                      is_per_sample(stage) ? "sample" : "batch"));
    }
  }
  for (const Stage stage : kOfTrainer) add(stage);
}

}  // namespace

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
    throw RunError("--loader " + shown_text(given.program.loader.value) +
                   ": gives too few batches; the self-test needs 12 in all");
  add_delays(own, base, seen.record.ranks.front(), limits);
  return own;
}

}  // namespace loaderscope::selftest
