// The text that Prometheus scrapes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "monitor/live_metric.h"

namespace loaderscope::monitor {

enum class TextFormat : std::uint8_t { prometheus, open_metrics };  // 0.0.4, 1.0.0

// Returns the format that an Accept header prefers. Without one, it is `prometheus`.
TextFormat preferred_format(std::string_view accept);
std::string_view content_type(TextFormat format);

// `samples` are in the order of their metrics, as LiveBoard returns them.
std::string metrics_text(std::span<const LiveSample> samples, TextFormat format);

}  // namespace loaderscope::monitor
