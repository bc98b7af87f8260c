// A stretch of time of one rank, as lanes: what its workers, the queue, the link and the device
// did.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loaderscope/run_record.h"
#include "page/charts.h"

namespace loaderscope {

class TimelineLanes {
 public:
  TimelineLanes(const RankRecord& rank, Nanos begin, Nanos end)
      : rank_(rank), begin_(begin), end_(end) {}

  // Every step of the rank, in their order: what lies ready is known of those that are not kept
  // whole too.
  void see(const StepRow& row);
  page::Timeline timeline() const;

 private:
  void add(page::Lane& lane, Nanos begin, Nanos end, std::string_view name,
           std::string_view kind) const;
  std::vector<page::Lane> workers() const;
  std::vector<page::Lane> handing_over() const;
  page::Lane queue() const;
  page::Lane device() const;

  const RankRecord& rank_;
  Nanos begin_, end_;
  std::vector<std::pair<Nanos, std::int64_t>> ready_;  // times, and the change of the number of
                                                       // ready batches
};

}  // namespace loaderscope
