#include "source/registry.h"

#include <algorithm>

#include "base/has_ffmpeg.h"
#include "built_with.h"
#include "source/arrow.h"
#include "source/file_source.h"
#include "source/hdf5.h"
#include "source/items.h"
#include "source/lmdb.h"
#include "source/npy.h"
#include "source/parquet.h"
#include "source/readers.h"
#include "source/store.h"
#include "source/tar.h"
#include "source/tfrecord.h"
#include "source/tokens.h"
#include "source/video.h"

namespace loaderscope {
namespace {

using source::KernelAccess;

template <std::optional<std::string> (KernelAccess::*refusal)() const>
std::optional<std::string> refused_here() {
  const auto reason = (source::this_kernel().*refusal)();
  return reason ? std::optional(*reason + ".") : std::nullopt;
}

Row row_of_word(FileAccess access, decltype(Row::unavailable) unavailable) {
  const auto& words = Words<FileAccess>::table();
  const auto word =
      std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.value == access; });
  return {word->name, word->help, unavailable};
}

constexpr std::string_view kTarWords[] = {"member", "label", "stream", "shuffle"};
constexpr std::string_view kNpyWords[] = {"length", "stride", "deliver"};
constexpr std::string_view kItemWords[] = {"column", "label", "open"};
constexpr std::string_view kTfrecordWords[] = {"value", "feature", "label"};
constexpr std::string_view kParquetWords[] = {"column", "label"};
constexpr std::string_view kArrowWords[] = {"column", "label", "indices"};
constexpr std::string_view kHdf5Words[] = {"dataset", "length", "stride", "chunk-cache"};
constexpr std::string_view kLmdbWords[] = {"key", "value"};
constexpr std::string_view kVideoWords[] = {"every"};
constexpr std::string_view kTokenWords[] = {"length", "stride", "type", "deliver", "pad"};

// Adapter of a function that opens sources of one kind.
template <auto open>
std::unique_ptr<Source> opened(const SourceOptions& options, const SourceContext& context) {
  return open(options, context);
}

std::int32_t label_of_file(const Source& source, std::int64_t sample) {
  return static_cast<const source::FileSource&>(source).label(sample);
}

}  // namespace

std::span<const SourceRow> source_table() {
  static const SourceRow rows[] = {
#define LOADERSCOPE_SOURCE(name, help, form, is_packed, smaller_pieces, unavailable, ...) \
  {.row = {name, help, unavailable}, __VA_ARGS__},
#include "record/sources.def"
#undef LOADERSCOPE_SOURCE
  };
  return rows;
}

std::string_view SourceRow::matching_suffix(std::string_view path) const {
  const auto found = std::find_if(suffixes.begin(), suffixes.end(),
                                  [&](std::string_view suffix) { return path.ends_with(suffix); });
  return found == suffixes.end() ? std::string_view() : *found;
}

const SourceRow& source_row(std::string_view name) {
  for (const SourceRow& row : source_table()) {
    if (row.row.name == name) return row;
  }
  return source_table().front();
}

std::span<const AccessRow> access_table() {
  static const AccessRow rows[] = {
#define LOADERSCOPE_ACCESS_METHOD(name, is_direct, is_remote, readahead_limit, refusal, \
                                  unavailable, make)                                    \
  {row_of_word(FileAccess::name, unavailable), FileAccess::name, refusal, readahead_limit, make},
#include "record/access_methods.def"
#undef LOADERSCOPE_ACCESS_METHOD
  };
  return rows;
}

const AccessRow& access_row(FileAccess access) {
  for (const AccessRow& row : access_table()) {
    if (row.access == access) return row;
  }
  return access_table().front();
}

}  // namespace loaderscope
