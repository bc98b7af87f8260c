#include "engine/native/sample_errors.h"

namespace loaderscope::native {

void SampleErrors::count(std::int64_t epoch, std::int64_t sample, const std::string& name,
                         const SampleError& error) {
  constexpr std::size_t kNamed = 10;
  const std::lock_guard lock(mutex_);
  if (!seen_.emplace(epoch, sample).second) return;
  ++summary_.samples;
  ++summary_.by_kind[std::string(name_of(error.kind))];
  if (summary_.first.size() < kNamed && named_.insert(sample).second) {
    summary_.first.push_back(name + ": " + error.what());
  }
}

SkippedSamples SampleErrors::summary() const {
  const std::lock_guard lock(mutex_);
  return summary_;
}

}  // namespace loaderscope::native
