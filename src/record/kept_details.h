// Samples and steps that a record keeps in full detail.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "loaderscope/run_record.h"
#include "record/recorder.h"
#include "record/spans_in_flight.h"

namespace loaderscope {

// A uniform random choice of whole samples from a stream of unknown length (Li's algorithm L: it
// draws the number of samples to skip, so that a skipped sample costs one comparison).
class SampleReservoir {
 public:
  SampleReservoir(std::int64_t capacity, std::uint64_t seed);

  // Counts one sample. Returns true if it must be kept; `keep` must follow then.
  bool wants_next() { return seen_++ >= next_kept_; }
  void keep(const SampleRow& row);

  void restart();  // forgets all samples

  std::int64_t seen() const { return seen_; }
  std::vector<SampleRow> take() { return std::move(rows_); }

 private:
  void draw_skip();
  double uniform();

  std::size_t capacity_;
  std::mt19937_64 random_;
  std::vector<SampleRow> rows_;
  std::int64_t seen_ = 0;
  std::int64_t next_kept_ = 0;  // samples before this one are skipped
  double weight_ = 1;
};

// Reservoir of the times of single samples, or of batches if the loader does not time single
// samples.
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
  SampleReservoir batches_;     // batches without timed samples
  std::int64_t separated_ = 0;  // number of batches with timed samples
};

// Steps that are kept with all of their spans: the first steps and the largest stalls.
class ExemplarKeeper {
 public:
  explicit ExemplarKeeper(const FoldOptions& options) : options_(options) {}

  void offer(const StepRow& row, const StepEvents& events, const SpansInFlight& parts);
  std::vector<Exemplar> take();  // ordered by step

 private:
  bool is_first(const StepRow& row) const { return row.step < options_.first_exemplars; }
  bool is_among_worst(const StepRow& row) const;
  void drop_least_of_worst();
  bool make_room(Exemplar& exemplar, Bytes limit);

  FoldOptions options_;
  std::vector<Exemplar> first_;
  std::vector<Exemplar> worst_;  // a heap with the smallest stall in front
  Bytes held_ = 0;
};

}  // namespace loaderscope
