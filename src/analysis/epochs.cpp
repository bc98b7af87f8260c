#include "analysis/epochs.h"

#include <algorithm>

#include "analysis/wording.h"
#include "base/arithmetic.h"

namespace loaderscope {
namespace {

constexpr double kLikeTheBatch = 0.9;  // samples of a step, as a share of the batch that is set

}  // namespace

std::int64_t sane_count(std::int64_t count) {
  return std::clamp<std::int64_t>(count, 1, std::int64_t{1} << 24);
}

std::int64_t steps_of_epoch(const RunConfig& config) {
  if (config.data.samples <= 0) return 0;
  const std::int64_t samples = divide_up(config.data.samples, sane_count(config.trainer.ranks));
  const std::int64_t batch = sane_count(config.loader.batch_size);
  return std::max<std::int64_t>(
      1, config.loader.drop_last ? samples / batch : divide_up(samples, batch));
}

std::int64_t steps_of_seen_epoch(const RankRecord& rank) {
  std::int64_t steps = 0, whole = 0, of_this = 0;
  bool is_seen_begin = false;
  rank.rows.for_each([&](const StepRow& row) {
    if (row.first_of_epoch) {
      if (is_seen_begin) {
        steps += of_this;
        ++whole;
      }
      is_seen_begin = true;
      of_this = 0;
    }
    ++of_this;
  });
  return whole > 0 ? (steps + whole / 2) / whole : 0;
}

double steps_of_epoch(const RunConfig& config, const SeenEpochs& seen) {
  if (config.data.samples <= 0 || seen.samples_per_step <= 0) return 0;
  const auto batch = static_cast<double>(sane_count(config.loader.batch_size)) *
                     static_cast<double>(sane_count(config.trainer.ranks));
  const bool is_as_set =
      seen.samples_per_step >= kLikeTheBatch * batch && seen.samples_per_step <= batch;
  return is_as_set ? static_cast<double>(steps_of_epoch(config))
                   : static_cast<double>(config.data.samples.value) / seen.samples_per_step;
}

double SeenEpochs::step_ns() const {
  return steps > 0 ? static_cast<double>(window - waited - apart) / steps : 0;
}

double SeenEpochs::start_ns() const { return begun > 0 ? static_cast<double>(waited) / begun : 0; }

SeenEpochs epochs_seen(const RunRecord& record, const Account& account, std::int64_t begun) {
  SeenEpochs seen;
  double samples = 0;
  for (const RankRecord& rank : record.ranks) {
    if (rank.steps() <= 0) continue;
    seen.steps += static_cast<double>(rank.steps());
    samples += static_cast<double>(rank.samples);
  }
  const auto ranks = static_cast<double>(std::max<std::size_t>(record.ranks.size(), 1));
  seen.steps /= ranks;
  seen.begun = static_cast<double>(begun) / ranks;
  seen.samples_per_step = seen.steps > 0 ? samples / seen.steps : 0;
  seen.window = account.window;
  seen.waited = seen.begun > 0 ? account.why[Why::epoch] : 0;
  return seen;
}

SeenEpochs epochs_seen(const RunRecord& record, const Account& account) {
  std::int64_t begun = 0;
  for (const RankRecord& rank : record.ranks) {
    EpochBegins begins;
    std::int64_t index = -rank.warmup_steps;
    rank.rows.for_each([&](const StepRow& row) { begins.add(row, index++ >= 0); });
    begun += begins.count();
  }
  return epochs_seen(record, account, begun);
}

bool restarts_workers(const RunConfig& config) {
  return !config.loader.persistent_workers && config.loader.num_workers > 0;
}

std::string unseen_of_epoch(const RunRecord& record, const Analysis& analysis) {
  if (!analysis.is_within_epoch) return "";
  if (record.config.program.command.given) return " and what comes between epochs";
  // The start of the run itself shows the start of the workers. It is too small to report for a
  // long epoch.
  const bool is_much = seconds(analysis.first_batch_wall) >=
                       kMinReportedShare * analysis.epoch_predicted_s.value_or(0);
  return is_much && restarts_workers(record.config) ? " and the start of its workers" : "";
}

double epoch_seconds(const RunConfig& config, const SeenEpochs& seen) {
  const double steps = steps_of_epoch(config, seen);
  return steps > 0 ? (steps * seen.step_ns() + seen.start_ns()) / 1e9 : 0;
}

}  // namespace loaderscope
