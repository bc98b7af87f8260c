// Traces that tests build. Times are in ms.
#pragma once

#include <string>
#include <vector>

#include "engine/import/traced_run.h"

namespace loaderscope::traces {

inline Nanos ms(double value) { return static_cast<Nanos>(value * 1e6); }

// One process with one GPU.
class TraceBuilder {
 public:
  TraceBuilder() {
    run.tool = "a test";
    run.has_calls = true;
    run.processes.emplace_back();
    run.gpus_used.emplace_back();
  }

  TraceBuilder& host(HostKind kind, double begin, double end, int thread = 0,
                     std::uint32_t launches = 0) {
    run.has_loader |= kind == HostKind::loader_wait;
    SpanKeeper("a test").add(
        run.processes.back(),
        HostSpan{ms(begin), ms(end), launches, static_cast<std::uint16_t>(thread), kind});
    return *this;
  }
  TraceBuilder& gpu(GpuKind kind, double begin, double end, std::uint32_t launched_by = 0) {
    SpanKeeper("a test").add(run.gpus_used.back(),
                             GpuWork{ms(begin), ms(end), launched_by, 7, kind});
    return *this;
  }
  TraceBuilder& step(double begin, double end) {
    run.processes.back().steps.push_back({ms(begin), ms(end)});
    return *this;
  }

  // Adds a process with a GPU of its own. Later calls describe this process. All collectives have
  // one name.
  TraceBuilder& another() {
    run.processes.emplace_back();
    run.gpus_used.emplace_back().process = run.processes.size() - 1;
    return *this;
  }
  TraceBuilder& collective(double begin, double end) {
    GpuWork work{ms(begin), ms(end), 0, 7, GpuKind::collective};
    work.name = collective_name("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    SpanKeeper("a test").add(run.gpus_used.back(), work);
    return *this;
  }

  TracedRun run;
};

}  // namespace loaderscope::traces
