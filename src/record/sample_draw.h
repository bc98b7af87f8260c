// Reservoir of the times of single samples, or of batches if the loader does not time single
// samples.
#pragma once

#include <cstdint>

#include "record/sample_reservoir.h"
#include "record/spans_in_flight.h"

namespace loaderscope {

class SampleCollector {
 public:
  SampleCollector(std::int64_t rows, std::uint64_t seed)
      : samples_(rows, seed), batches_(rows, seed) {}

  void restart();
  void offer(const SpansInFlight& parts, const StepEvents& events);
  // Moves the rows into `record`: rows of samples if most batches timed them, otherwise rows of
  // batches.
  void finish(RankRecord& record);

 private:
  void offer_samples(std::int32_t worker, const SpansInFlight::Part& part,
                     const StepEvents& events);
  void offer_batch(const SpansInFlight& parts, const StepEvents& events);

  SampleReservoir samples_;
  SampleReservoir batches_;      // batches without timed samples
  std::int64_t told_apart_ = 0;  // number of batches with timed samples
};

}  // namespace loaderscope
