// Findings about snapshots of the loader's state, which let a training resume.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/findings/finding_input.h"

namespace loaderscope {
namespace {

constexpr double kMuchOfStep = 0.02;    // share of the trainer's thread
constexpr double kMuchOfWorker = 0.05;  // share of the time in which a worker makes a batch
constexpr double kOften = 0.2;          // share of the batches; rarer snapshots are fine

std::string words(double s) { return format_duration(std::llround(s * 1e9)); }

}  // namespace

std::optional<Candidate> state_snapshots(const FindingInput& facts) {
  const double often =
      std::max(facts.metric(metric::state_trainer_share), facts.metric(metric::state_worker_share));
  const double step = seconds(facts.analysis.step_time.quantile(0.5));
  if (often < kOften || step <= 0) return std::nullopt;
  const double trainer = facts.metric(metric::state_trainer_s),
               worker = facts.metric(metric::state_worker_s);
  const double step_share = trainer * facts.metric(metric::state_trainer_share) / step;
  const auto makers =
      static_cast<double>(std::max<std::int64_t>(facts.config.loader.num_workers, 1));
  const double worker_share = worker * facts.metric(metric::state_worker_share) / (makers * step);
  if (step_share < kMuchOfStep && worker_share < kMuchOfWorker) return std::nullopt;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "the loader makes its state with {} of the batches, for going on where a run was stopped: {} "
      "of "
      "the trainer's thread each, {} of its time",
      format_percent(std::min(often, 1.0)), words(trainer), format_percent(step_share));
  if (worker > 0) {
    candidate.evidence += fmt::format(", and {} of a worker, {} of its time", words(worker),
                                      format_percent(worker_share));
  }
  if (const double bytes = facts.metric(metric::state_bytes); bytes > 0)
    candidate.evidence += fmt::format(", which sends {} of it", format_size(bytes));
  candidate.pytorch = loader_words(facts.record, {"snapshot_every_n_steps=100"}) +
                      ", of a StatefulDataLoader: a state is made with each 100th batch, and one "
                      "asked for in between "
                      "makes up to 99 again";
  return candidate;
}

}  // namespace loaderscope
