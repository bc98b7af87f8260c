// The flags --metrics, --otlp and --otlp-interval of `run` and `watch`.
#pragma once

#include <string>

#include "cli/command_flags.h"
#include "monitor/exporter.h"

namespace loaderscope {

inline constexpr CommandFlag kMetricsFlag = {
    "metrics", "", "ADDRESS",
    "Serve live metrics for Prometheus at this address, such as :9400. Without a host, only this "
    "machine can read them."};
inline constexpr CommandFlag kOtlpFlag = {
    "otlp", "", "URL", "Send live metrics to this OTLP collector, such as http://127.0.0.1:4318."};
inline constexpr CommandFlag kOtlpIntervalFlag = {
    "otlp-interval", "", "TIME", "Time between two messages to the collector. Default: 10s."};

// Values of the flags; "" if not given.
struct ExportFlags {
  std::string metrics, otlp, interval;
};

// Throws UsageError for a wrong value.
monitor::ExportOptions export_options(const ExportFlags& flags);
monitor::ExportOptions export_options(const CommandFlags& flags);

}  // namespace loaderscope
