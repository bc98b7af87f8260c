// Videos: their frames are the samples, each the packets that have to be decoded for it.
#pragma once

#include <memory>
#include <string_view>

#include "loaderscope/source.h"
#include "source/options.h"

namespace loaderscope::source {

inline constexpr std::string_view kVideoSuffixes[] = {".mp4", ".m4v", ".mov", ".mkv", ".webm"};

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for words that do not fit.
std::unique_ptr<Source> open_video(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
