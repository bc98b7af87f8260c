#include "predict/refuse_unpredictable.h"

#include <fmt/format.h>

#include <string>

#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "loaderscope/run_config.h"
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
      fmt::format("{} ranks on {} hosts are more than the {} of which all are run in the model; "
                  "give the result of one host, to 'loaderscope plan' for the job",
                  record.ranks.size(), record.hosts.size(), kMaxRanksOfHosts));
}

void refuse_opaque(const RunConfig& config) {
  if (config.loader.executor != Executor::opaque) return;
  throw RunError("what is inside the loader is not seen, so nothing can be predicted of it; " +
                 remeasure_hint(config));
}

void refuse_ended_streams(const RunRecord& record) {
  if (!saw_streams_end(record)) return;
  throw RunError(
      "streams ended within the run, each with its worker, which the model does not know, so "
      "nothing is predicted; measure within one epoch, with fewer --steps");
}

}  // namespace

void refuse_trace(std::string_view engine) {
  if (!is_trace_engine(engine)) return;
  throw RunError(
      "the result is of a trace, which tells what was waited for and neither what a batch costs "
      "nor what program it was: nothing can be predicted from it or run again; measure the "
      "program itself with 'loaderscope run --json run.json -- python train.py'");
}

void refuse_large_steps(const RunConfig& config) {
  const std::int64_t per_step = config.loader.batch_size * config.trainer.ranks;
  if (per_step <= kMaxStep) return;
  throw RunError(
      fmt::format("a step of {} samples is too large for a prediction; give smaller batches or "
                  "fewer ranks",
                  per_step));
}

void refuse_unpredictable(const RunRecord& record) {
  if (record.ranks.empty() || record.ranks.front().steps() <= 0)
    throw RunError("the result has no measured step, so nothing can be predicted from it");
  refuse_trace(record.engine);
  refuse_large_jobs(record);
  refuse_opaque(record.config);
  refuse_ended_streams(record);
}

}  // namespace loaderscope::model
