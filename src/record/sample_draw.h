// A draw of what single samples took; of a loader that tells none apart, of what batches took.
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
  // Moves the rows into `record`: those of the samples where most batches told them apart.
  void finish(RankRecord& record);

 private:
  void offer_samples(std::int32_t worker, const SpansInFlight::Part& part,
                     const StepEvents& events);
  void offer_batch(const SpansInFlight& parts, const StepEvents& events);

  SampleReservoir samples_;
  SampleReservoir batches_;      // in which no sample was told apart
  std::int64_t told_apart_ = 0;  // batches in which they were
};

}  // namespace loaderscope
