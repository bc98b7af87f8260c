#include "predict/launching.h"

#include <algorithm>
#include <optional>

#include "loaderscope/run_config.h"
#include "record/family_traits.h"

namespace loaderscope::model {
namespace {

constexpr Nanos kAtOnce = 100 * kMicrosecond;  // longest pause of the thread after a compute
constexpr double kLags = 0.1;                  // share of a compute; above it the GPU waits

struct Launching {
  StageStats before_compute, beside_compute;
  std::int64_t steps = 0, waited = 0;  // waited: steps whose thread waited for the GPU

  void add(const StepRow& row, Nanos next_ask) {
    const Nanos before = std::max<Nanos>(row.stall[Cause::launch] - row.not_asking, 0);
    const Nanos all = next_ask - row.take - (row.copy_end - row.copy_begin);
    before_compute.add(before, 0, 0, 0);
    beside_compute.add(std::max<Nanos>(all - before, 0), 0, 0, 0);
    ++steps;
    const bool lags = static_cast<double>(before) > kLags * static_cast<double>(row.compute());
    waited += !lags && next_ask >= row.compute_end - kAtOnce ? 1 : 0;
  }
};

}  // namespace

bool tells_launching(const RunRecord& record) {
  return is_guest_engine(record.engine) && record.config.program.loader.value.empty() &&
         device_kind(record.config.trainer.device.value) == DeviceKind::gpu;
}

void fit_launching(const RankRecord& record, FittedCosts::Rank& rank) {
  Launching launching;
  std::optional<StepRow> before;
  record.rows.for_each(
      [&](const StepRow& row) {
        if (before && !row.first_of_epoch) launching.add(*before, row.ask);
        before = row;
      },
      record.warmup_steps);
  if (launching.steps == 0) return;
  rank.stages[Stage::launch] = MeasuredTimes(launching.before_compute);
  if (2 * launching.waited > launching.steps) {
    rank.waits_for_compute = true;
    return;
  }
  rank.beside_compute = MeasuredTimes(launching.beside_compute);
}

}  // namespace loaderscope::model
