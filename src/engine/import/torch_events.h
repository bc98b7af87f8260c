// The events of a trace of torch.profiler, as what a rank's threads and GPUs did.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/import/traced_run.h"

namespace loaderscope::traces {

// The members of an event that are used.
struct TorchEvent {
  std::string phase, category, name;
  double begin = -1, length = 0;  // µs
  std::uint64_t thread = 0;
  std::int64_t device = -1, stream = -1, correlation = 0;
  double bytes = 0;
};

// One rank as its events come.
class RankReader {
 public:
  RankReader(const std::string& path, std::string step_range)
      : keeper_(path), step_range_(std::move(step_range)) {}

  void take(const TorchEvent& event);
  void finish(TracedRun& run, std::int64_t rank, double base);

  bool has_calls() const { return has_calls_; }
  std::int64_t events() const { return events_; }

 private:
  void take_gpu(const TorchEvent& event, GpuKind kind, TimeRange at);
  void take_host(const TorchEvent& event, HostKind kind, TimeRange at);
  void take_range(const TorchEvent& event, TimeRange at);

  SpanKeeper keeper_;
  std::string step_range_;
  TracedProcess process_;
  std::map<std::int64_t, TracedGpu> gpus_;
  ThreadNumbers threads_;
  bool has_calls_ = false, has_loader_ = false;
  std::int64_t events_ = 0, unusable_ = 0;
};

}  // namespace loaderscope::traces
