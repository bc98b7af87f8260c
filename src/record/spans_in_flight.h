// The spans of batches that have not been delivered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loaderscope/events.h"

namespace loaderscope {

// Returns the entry of worker `number` in values that a rank has per worker. Grows the vector if
// needed, as a program may change its loader between two epochs. The reference is valid until the
// next call.
template <class T>
T& worker_entry(std::vector<T>& workers, std::int32_t number) {
  const auto place = static_cast<std::size_t>(number);
  if (place >= workers.size()) workers.resize(place + 1);
  return workers[place];
}

class SpansInFlight {
 public:
  using Part = std::vector<Span>;  // spans of one worker on one batch, ordered by time

  explicit SpansInFlight(std::int32_t workers);

  void add(std::int32_t worker, const Span& span);

  // Makes the parts of `batch` those of the step. If `in_order`, earlier batches never arrive: each
  // of their parts is passed to left_out(worker, part).
  template <class LeftOut>
  void begin_step(std::int64_t batch, bool in_order, const LeftOut& left_out) {
    const auto first = in_order ? in_flight_.begin() : first_from(batch, 0);
    auto at = first;
    for (; at != in_flight_.end() && at->batch <= batch; ++at) {
      forget_latest(*at);
      if (at->batch == batch) {
        step_.push_back(*at);
      } else {
        left_out(at->worker, part_at(at->place));
        free(at->place);
      }
    }
    in_flight_.erase(first, at);
  }
  template <class See>
  void each_of_step(const See& see) const {  // see(worker, part)
    for (const Entry& entry : step_) see(entry.worker, part_at(entry.place));
  }
  void end_step();
  // Visits the worker's parts of the current step and of batches in flight.
  template <class See>
  void each_of_worker(std::int32_t worker, const See& see) const {  // see(part)
    for (const std::vector<Entry>* entries : {&step_, &in_flight_}) {
      for (const Entry& entry : *entries)
        if (entry.worker == worker) see(part_at(entry.place));
    }
  }

  std::int64_t spans_held() const;

 private:
  using Place = std::int32_t;  // index in parts_
  static constexpr Place kNowhere = -1;
  struct Entry {
    std::int64_t batch;
    std::int32_t worker;
    Place place;
  };
  struct Latest {
    std::int64_t batch = -1;
    Place place = kNowhere;  // place of its part of `batch`
  };

  const Part& part_at(Place place) const { return parts_[static_cast<std::size_t>(place)]; }
  Part& part_at(Place place) { return parts_[static_cast<std::size_t>(place)]; }
  std::vector<Entry>::iterator first_from(std::int64_t batch, std::int32_t worker);
  Place find_place(std::int32_t worker, std::int64_t batch);
  Place new_place();
  void free(Place place);
  void forget_latest(const Entry& entry);

  // A rank has few spans in flight, and a job has many ranks, so searched data is stored together.
  std::vector<Entry> in_flight_;  // ordered by batch and worker
  std::vector<Entry> step_;
  std::vector<Latest> latest_;  // per worker
  std::vector<Part> parts_;     // unused parts are empty and keep their memory
  std::vector<Place> spare_;    // places of unused parts
};

}  // namespace loaderscope
