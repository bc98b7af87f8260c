// The values of a running job as a request of OTLP/HTTP in JSON (POST /v1/metrics).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "monitor/live_metric.h"

namespace loaderscope::monitor {

// The resource that the values describe.
struct OtlpResource {
  std::string host;
  std::string version;               // version of loaderscope
  std::int64_t started_unix_ns = 0;  // begin of all counters
};

// `samples` are in the order of their metrics.
std::string otlp_json(std::span<const LiveSample> samples, const OtlpResource& resource,
                      std::int64_t now_unix_ns);

}  // namespace loaderscope::monitor
