// Price of a what-if that moves work of the loader to the GPU: what the GPU and the workers then
// do, and the number of workers up to which it pays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loaderscope/analysis.h"
#include "loaderscope/run_record.h"
#include "predict/fitted_model.h"

namespace loaderscope {

struct GpuWork {
  double step_s = 0;                  // time of the GPU per step for the loader, if it works alone
  double share = 0;                   // share of the predicted step
  std::optional<double> freed_cores;  // cores that the workers no longer need; empty if unknown
  double cores = 0;                   // cores of the run; 0 if unknown
  // The largest number of workers with which it pays; 0 if it pays with none. Empty if unknown.
  std::optional<std::int64_t> pays_up_to;
  std::int64_t max_workers = 0;  // largest number that was tried; 0: no search
  double loss_beyond = 0;        // loss with one more worker than `pays_up_to`
  // Rate with a stream of its own. 0 if it has one, or if that gains less than 1 %.
  double own_stream_samples_per_s = 0;
  std::string basis;  // sources of the GPU's times; "" if they were given

  std::string price_sentence() const;
  std::string workers_sentence() const;     // "" without a search
  std::string own_stream_sentence() const;  // "" without such a gain
  std::string basis_sentence() const;       // "" if the times were given
};

// Returns nothing if the changes move no work to the GPU, or if the run did some of it there.
// `record` and `measured` are null for declared costs. `samples_per_s` is the predicted rate.
std::optional<GpuWork> gpu_work(const FittedModel& model, const RunRecord* record,
                                const Analysis* measured, const Changes& changes,
                                const Prediction& predicted, double samples_per_s);

}  // namespace loaderscope
