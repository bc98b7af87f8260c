// The spans of batches that have not been delivered.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "loaderscope/events.h"
#include "record/by_worker.h"

namespace loaderscope {

class PartsInFlight {
 public:
  using Part = std::vector<Span>;  // of one worker on one batch, in the order of time

  explicit PartsInFlight(std::int32_t workers);

  void add(std::int32_t worker, const Span& span);

  // The parts of `batch` become those of the step; `in_order`: those before it never come.
  void begin_step(std::int64_t batch, bool in_order);
  template <class See>
  void each_of_step(const See& see) const {  // see(worker, part)
    for (const auto& part : step_) see(part.key().second, part.mapped());
  }
  void end_step();

  std::int64_t spans_held() const;

 private:
  using InFlight = std::map<std::pair<std::int64_t, std::int32_t>, Part>;  // by batch and worker
  using Parts = std::vector<InFlight::node_type>;
  struct Latest {
    std::int64_t batch = -1;
    Part* part = nullptr;  // of `batch`
  };

  Part& part_of(std::int32_t worker, std::int64_t batch);
  Part& add_part(const InFlight::key_type& key);
  void forget_latest(const InFlight::key_type& key);

  InFlight in_flight_;
  std::vector<Latest> latest_;  // by worker
  Parts step_;
  Parts spare_;  // empty ones, kept for their memory
};

}  // namespace loaderscope
