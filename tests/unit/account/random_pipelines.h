// Random pipelines for tests of what must hold for every one of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/run_config.h"
#include "loaderscope/run_record.h"
#include "unit/account/oracle.h"

namespace loaderscope {

// The same numbers everywhere, whatever the standard library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits();
  std::int64_t between(std::int64_t low, std::int64_t high);  // both included
  // Returns true with the probability 1/n.
  bool chance(std::int64_t n) { return between(1, n) == 1; }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[between(0, static_cast<std::int64_t>(choices.size()) - 1)];
  }

 private:
  std::uint64_t state_;
};

// Returns `count` in a release build. Sanitizers and assertions make each case slow, so that other
// builds run a twentieth of them.
constexpr std::int64_t times(std::int64_t count) {
#ifdef NDEBUG
  return count;
#else
  return (count + 19) / 20;
#endif
}

// Limits of a random pipeline.
struct PipelineLimits {
  bool constant = false;     // every cost has one value, and none is a rate
  bool own_cores = false;    // no thread waits for a core
  bool own_storage = false;  // no read waits for another read
  bool no_merging = false;  // batches do not queue for one thread in the order in which they happen
                            // to be finished
  bool batch_tasks = false;
  bool in_order = false;
  bool no_injections = false;
  bool on_device = false;  // the device makes batches, if there are workers
  bool whole_run = false;  // no warm-up, a number of steps
  std::int64_t most_ranks = 3;
  std::int64_t most_steps = 40;
};

// A configuration as the lines of a scenario file, and resolved.
struct Pipeline {
  std::vector<std::pair<std::string, std::string>> settings;
  RunConfig config;

  std::string text() const;  // the scenario file
  bool has(std::string_view key) const;
  std::string value(std::string_view key) const;
};

Pipeline random_pipeline(std::uint64_t seed, const PipelineLimits& limits = {});
Pipeline resolve_pipeline(std::vector<std::pair<std::string, std::string>> settings);

// The same configuration with every time multiplied; for costs that are constant.
RunConfig slowed_down(RunConfig config, std::int64_t factor);

// Runs the model.
RunRecord run_pipeline(const RunConfig& config, EventObserver* observer = nullptr);

std::vector<StepRow> collect_rows(const RankRecord& rank);  // warm-up included

}  // namespace loaderscope
