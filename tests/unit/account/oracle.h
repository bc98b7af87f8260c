// The account computed a second time, naively, from a record kept in full: every instant of a
// step's idle time is decided on its own by the rules of the design's section 5. Slow, and written
// to be read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "loaderscope/run_record.h"
#include "record/recorder.h"

namespace loaderscope {

// Keeps every fact of a run.
class FactKeeper : public EventObserver {
 public:
  struct Rank {
    Nanos first_ask = 0;
    std::map<std::int32_t, std::vector<Span>> workers;
    std::map<std::int64_t, Nanos> deliverable;  // times by batch
    std::vector<StepEvents> steps;
  };

  void first_ask(std::int32_t rank, Nanos at) override { ranks[rank].first_ask = at; }
  void span(std::int32_t rank, std::int32_t worker, const Span& span) override {
    ranks[rank].workers[worker].push_back(span);
  }
  void deliverable(std::int32_t rank, std::int64_t batch, Nanos at) override {
    ranks[rank].deliverable[batch] = at;
  }
  void step(std::int32_t rank, const StepEvents& events) override {
    ranks[rank].steps.push_back(events);
  }

  std::map<std::int32_t, Rank> ranks;
};

// Expected split of the idle time of a step.
struct OracleRow {
  PerCause<Nanos> stall{};
  PerWhy<Nanos> why{};
  Nanos not_asking = 0;
  Nanos waiting_for_ranks = 0;
  Nanos order = 0;
  Nanos contention_of_making = 0;  // the part of contention that has a why
  DeviceProduction device;
  Nanos made_end = 0;
};

// Returns a vector per rank with a row per step.
std::vector<std::vector<OracleRow>> recompute_account(const FactKeeper& facts, bool in_order,
                                                      bool sync_ranks);

// Returns the differences between a row and its recomputation, or "" if they are equal.
std::string difference(const StepRow& row, const OracleRow& expected);

}  // namespace loaderscope
