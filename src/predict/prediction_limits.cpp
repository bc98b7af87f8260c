#include "predict/prediction_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/wording.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "loaderscope/run_config.h"
#include "loaderscope/settings.h"
#include "record/config_facts.h"
#include "record/family_traits.h"
#include "settings/engine_table.h"

namespace loaderscope::model {
namespace {

// Says how other settings of the loader are measured: a half-sentence for the end of a message.
std::string remeasure_hint(const RunConfig& config) {
  if (find_pipeline(config.program.loader.value) != nullptr)
    return "measure it with other settings, as sweep and tune do";
  if (config.program.loader.given)
    return "its settings are its own: write a function for each, and measure them with "
           "'loaderscope sweep --vary loader=FILE.py:ONE,FILE.py:OTHER'";
  return "its settings are its own: change them in the program, and run that again";
}

constexpr std::int64_t kMaxStep = 1'000'000;  // samples of all ranks
constexpr std::int64_t kMaxRanksOfHosts = 64;

// A stream's epoch ends worker by worker, each with a batch of its own that may be short.
bool saw_streams_end(const RunRecord& record) {
  if (is_guest_engine(record.engine) || !value_of(record.metrics, metric::data_shards))
    return false;
  bool ended = value_of(record.metrics, metric::data_epoch_samples).has_value();
  for (const RankRecord& rank : record.ranks)
    rank.rows.for_each([&](const StepRow& row) { ended = ended || row.epoch > 0; });
  return ended;
}

void refuse_large_jobs(const RunRecord& record) {
  if (record.hosts.size() < 2 || std::ssize(record.ranks) <= kMaxRanksOfHosts) return;
  throw RunError(
      fmt::format("{} ranks on {} hosts are more than the {} of which all are run in the model",
                  record.ranks.size(), record.hosts.size(), kMaxRanksOfHosts),
      "give the result of one host, to 'loaderscope plan' for the job");
}

void refuse_opaque(const RunConfig& config) {
  if (config.loader.executor != Executor::opaque) return;
  throw RunError("what is inside the loader is not seen, so nothing can be predicted of it",
                 remeasure_hint(config));
}

void refuse_ended_streams(const RunRecord& record) {
  if (!saw_streams_end(record)) return;
  throw RunError(
      "streams ended within the run, each with its worker, which the model does not know, so "
      "nothing is predicted",
      "measure within one epoch, with fewer --steps");
}

constexpr double kNoticeableWaits = 0.1;  // share of the samples' time
constexpr std::int64_t kFarMore = 4;      // times the workers

}  // namespace

void refuse_trace(std::string_view engine) {
  if (!is_trace_engine(engine)) return;
  throw RunError(
      "the result is of a trace, which shows what was waited for and neither what a batch costs "
      "nor what program it was: nothing can be predicted from it or run again",
      "measure the "
      "program itself with 'loaderscope run --json run.json -- python train.py'");
}

void refuse_large_steps(const RunConfig& config) {
  const std::int64_t per_step = config.loader.batch_size * config.trainer.ranks;
  if (per_step <= kMaxStep) return;
  throw RunError(fmt::format("a step of {} samples is too large for a prediction", per_step),
                 "give smaller batches or fewer ranks");
}

void refuse_unpredictable(const RunRecord& record) {
  if (record.ranks.empty() || record.ranks.front().steps() <= 0)
    throw RunError("the result has no measured step, so nothing can be predicted from it");
  refuse_trace(record.engine);
  refuse_large_jobs(record);
  refuse_opaque(record.config);
  refuse_ended_streams(record);
}

void give_shards_to_workers(RunConfig& config, std::int64_t shards,
                            std::vector<std::string>& notes) {
  const std::int64_t workers = config.loader.num_workers;
  if (shards <= 0 || workers <= shards) return;
  const std::int64_t ahead = batches_ahead(config);
  config.loader.num_workers.value = shards;
  config.loader.prefetch_factor.value = (ahead + shards - 1) / shards;
  notes.push_back(fmt::format("the data set has {}: of {} {} {}", plural(shards, "shard"),
                              plural(workers, "worker"), shards, shards == 1 ? "reads" : "read"));
}

void note_same_compute(const RunConfig& base, const RunConfig& config, const FittedCosts& costs,
                       const Changes& changes, std::vector<std::string>& notes) {
  const Compute& compute = config.trainer.compute;
  const std::int64_t before = base.loader.batch_size, after = config.loader.batch_size;
  const bool computes = compute.mean > 0 || costs.knows(Stage::compute);
  const bool is_said =
      compute.per_batch > 0 || std::any_of(changes.begin(), changes.end(), [](const Change& one) {
        const Field* field = find_field(one.key);
        return field != nullptr && field->name == "compute";
      });
  if (before == after || !computes || is_said) return;
  notes.push_back(fmt::format(
      "a step of {} is taken to compute for as long as one of {} did; say how long it does (--set "
      "compute=6ms, or --step of 'plan')",
      plural(after, "sample"), before));
}

void note_extrapolation(const RunConfig& base, const FittedCosts& costs, bool is_user_code,
                        Prediction& prediction) {
  const RunConfig& config = prediction.config;
  const auto unmeasured = [&](Stage stage, const std::string& words) {
    if (costs.knows(stage) || config.declared_cost(stage) != nullptr) return;
    prediction.is_unknown = prediction.is_unknown || is_user_code;
    prediction.notes.push_back(
        fmt::format("{} was not measured and is taken to cost nothing; "
                    "declare it with --set cost={}=5ms",
                    words, name_of(stage)));
  };
  if (config.loader.memory != base.loader.memory &&
      config.loader.memory == MemoryMode::pin_thread) {
    unmeasured(Stage::pin, "copying into page-locked memory");
  }
  if (config.loader.memory != base.loader.memory &&
      base.loader.memory == MemoryMode::pinned_slots) {
    unmeasured(Stage::collate, "collating");
  }
  if (config.loader.executor != base.loader.executor &&
      config.loader.executor == Executor::processes) {
    unmeasured(Stage::transport, "moving batches between processes");
  }
  if (config.loader.memory != base.loader.memory && costs.knows(Stage::h2d)) {
    prediction.notes.push_back("copies to the device keep the time measured with --memory " +
                               std::string(name_of(base.loader.memory.value)));
  }
  const auto threads = [](const RunConfig& c) { return c.loader.num_workers * c.trainer.ranks; };
  const double waits = is_user_code ? costs.waiting_share() : 0;
  if (threads(config) > std::max<std::int64_t>(threads(base), 1) && waits >= kNoticeableWaits) {
    prediction.notes.push_back(fmt::format(
        "extrapolated from {} to {}: {} of the samples' time is waiting, and nothing that "
        "they share, such as a lock or a server, is taken to make it longer",
        threads(base), plural(threads(config), "worker"), format_percent(waits)));
  }
  if (threads(config) > kFarMore * std::max<std::int64_t>(threads(base), 1)) {
    prediction.notes.push_back(
        fmt::format("extrapolated from {} to {}: caches and memory are taken to keep their speed",
                    threads(base), plural(threads(config), "worker")));
  }
}

// Launches of a program's thread took 28 ms with two workers and 34 ms with nine, on an H200. The
// rate of another program with six workers was 7 % above the prediction.
void note_launching(const FittedCosts& costs, const Prediction& base, Prediction& prediction) {
  constexpr double kMoreOfTheTime = 0.05, kMayBeOff = 0.25;
  const auto launches = [](const Prediction& p) {
    return window_share(p.account.stall[Cause::launch], p.account);
  };
  const bool is_known =
      std::any_of(costs.ranks.begin(), costs.ranks.end(),
                  [](const FittedCosts::Rank& rank) { return rank.overlapped_work.known(); });
  const std::int64_t before = base.config.loader.num_workers,
                     after = prediction.config.loader.num_workers;
  if (!is_known || after <= before || launches(prediction) < launches(base) + kMoreOfTheTime)
    return;
  prediction.may_be_off = std::max(prediction.may_be_off, kMayBeOff);
  prediction.notes.push_back(
      fmt::format("the GPU then waits for launches {} of the time, which are taken to be as fast "
                  "with {} as they were with {}: the rate may be {} off",
                  format_percent(launches(prediction)), plural(after, "worker"), before,
                  format_percent(kMayBeOff)));
}

void note_shared_cores(const FittedCosts& costs, const Prediction& base, Prediction& prediction) {
  constexpr double kMuchSlower = 1.25;
  const auto compute_per_sample = [](const Prediction& p) {
    return static_cast<double>(p.account.compute) /
           static_cast<double>(
               std::max<std::int64_t>(1, p.config.measure.steps * p.config.loader.batch_size));
  };
  const double before = compute_per_sample(base), after = compute_per_sample(prediction);
  const LoaderConfig &now = base.config.loader, &then = prediction.config.loader;
  // Deeper prefetch lets the same workers work more of the time.
  const bool others_share =
      then.num_workers != now.num_workers || then.prefetch_factor != now.prefetch_factor;
  const bool is_stretched = others_share && costs.compute_alone < 1 / kMuchSlower;
  if (after <= kMuchSlower * before && !is_stretched) return;
  prediction.is_unknown = true;
  prediction.notes.emplace_back(
      "training and the workers share the cores, and what that costs training is taken from a rule "
      "of thumb; measure it with --try");
}

}  // namespace loaderscope::model
