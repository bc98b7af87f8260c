// Steps that are kept with all of their spans: the first steps and the largest stalls.
#pragma once

#include <vector>

#include "record/recorder.h"
#include "record/spans_in_flight.h"

namespace loaderscope {

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
