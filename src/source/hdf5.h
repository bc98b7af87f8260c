// HDF5 files: the rows of a data set are the samples, which the library reads itself.
#pragma once

#include <memory>
#include <string_view>

#include "loaderscope/source.h"
#include "source/options.h"

namespace loaderscope::source {

inline constexpr std::string_view kHdf5Suffixes[] = {".h5", ".hdf5"};

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for words that do not fit.
std::unique_ptr<Source> open_hdf5(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
