// The samples of a run that could not be used: counted by kind, the first ones named.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "loaderscope/run_record.h"
#include "loaderscope/source.h"

namespace loaderscope::native {

// Shared by all workers of a job.
class SampleErrors {
 public:
  void count(std::int64_t epoch, std::int64_t sample, const std::string& name,
             const SampleError& error);
  SkippedSamples summary() const;

 private:
  mutable std::mutex mutex_;
  std::set<std::pair<std::int64_t, std::int64_t>> seen_;  // (epoch, sample): each counts once
  std::set<std::int64_t> named_;  // in summary_.first, once whatever the epoch
  SkippedSamples summary_;
};

}  // namespace loaderscope::native
