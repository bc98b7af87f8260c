// Arrow files (IPC), as data sets of Hugging Face are kept: a row's value in one column is the
// sample, an image.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/source.h"
#include "source/options.h"

namespace loaderscope::source {

inline constexpr std::string_view kArrowSuffixes[] = {".arrow", ".feather"};

// The files that `paths` name: also those of a folder that save_to_disk() of `datasets` wrote, in
// the order of its state.json, and those of its cache without what map() and shuffle() left there.
// Throws RunError.
std::vector<std::string> arrow_files(const std::vector<std::string>& paths);

class StoredObject;
struct ArrowLayout;
struct TableWords;

// A source of such tables, whose layouts `read` gives. `order`: of rows; empty: as they lie. Throws
// RunError, UsageError.
using ReadArrowLayout = std::function<ArrowLayout(StoredObject&, const TableWords&)>;
std::unique_ptr<Source> open_arrow_tables(const SourceOptions& options,
                                          const SourceContext& context,
                                          const std::vector<std::string>& paths,
                                          const ReadArrowLayout& read,
                                          std::vector<std::int64_t> order);

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for words that do not fit.
std::unique_ptr<Source> open_arrow(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
