// Plan of a measured run as a job of many ranks: how busy its GPUs are at each size, the resource
// that is full first, and the time and price of an epoch.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "predict/shared_resources.h"

namespace loaderscope {

// The job at one number of ranks.
struct JobSize {
  std::int64_t ranks = 1, hosts = 1;
  double samples_per_s = 0;  // all ranks
  Account account;
  // Time of one epoch, if whole epochs were run. The rate and the account then include their
  // starts.
  std::optional<double> epoch_s;
};

struct JobEpoch {
  std::int64_t samples = 0, steps = 0;  // steps: of each rank
  double seconds = 0, gpu_hours = 0;
  double start_s = 0;  // part of `seconds` for the start; 0: the run did not show it
  double busy = 0;     // share of the seconds; 0 without a compute
  std::optional<double> price, price_of_waiting;
};

inline constexpr std::int64_t kMinStepsOfSize = 20;  // steps of each rank in the model

struct JobPlan {
  PlanRequest question;
  JobSize measured;  // the run itself; its hosts are 1
  bool has_busy = false;
  std::vector<JobSize> sizes;          // starts with one host; the job is last
  std::vector<SharedResource> shared;  // needs at the size of the job
  std::string first_full;              // name of the shared resource that is full first; "": none
  // The job with twice the needed amount of each shared resource, if one is full.
  std::optional<JobSize> if_unlimited;
  std::optional<JobEpoch> epoch;  // empty if the number of samples is unknown
  Bytes data_bytes = 0;           // size of all samples; 0 if unknown
  GoodnessOfFit fit;
  PastPredictions history;  // handed in
  std::vector<std::string> notes;

  const JobSize& job() const { return sizes.back(); }
};

// Throws UsageError if the question contradicts the run. Throws RunError if the run contains too
// little, or if the model does not reproduce it.
JobPlan plan_job(const RunRecord& record, const PlanRequest& question,
                 const std::atomic<int>* stop_signal = nullptr);

}  // namespace loaderscope
