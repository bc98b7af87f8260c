// Parquet files: a row's value in one column is the sample, an image.
#pragma once

#include <memory>
#include <string_view>

#include "loaderscope/source.h"
#include "source/options.h"

namespace loaderscope::source {

inline constexpr std::string_view kParquetSuffixes[] = {".parquet"};

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for words that do not fit.
std::unique_ptr<Source> open_parquet(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
