// The families of sources and of access methods.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/rows.h"
#include "loaderscope/source.h"
#include "loaderscope/vocabulary.h"
#include "source/kernel_access.h"
#include "source/options.h"

namespace loaderscope {

namespace source {
class Access;
}

// A row of record/sources.def. SourceTraits has its other members.
struct SourceRow {
  Row row;
  // Null: there is nothing to open, or the row is not available.
  std::unique_ptr<Source> (*open)(const SourceOptions& options,
                                  const SourceContext& context) = nullptr;
  std::span<const std::string_view> suffixes = {};  // suffixes of matching paths
  std::span<const std::string_view> words = {};     // parameters after a path
  bool takes_list = false;                          // --index
  // Parameter that asks for a stream by a positive number; "": none.
  std::string_view stream_word = {};
  // Returns the class of a sample of a source that the row has opened, from 0. Null: unknown.
  std::int32_t (*label)(const Source& source, std::int64_t sample) = nullptr;
  bool knows_classes = false;  // supports SourceOptions::classes, and label=NAME after a path

  bool is_named_as(std::string_view path) const { return !matching_suffix(path).empty(); }
  std::string_view matching_suffix(std::string_view path) const;  // "": no suffix matches
};

std::span<const SourceRow> source_table();
// Requires a name in the table.
const SourceRow& source_row(std::string_view name);

// Parsed value of --data: [FORMAT:]PATH[?NAME=VALUE&...].
struct DataText {
  const SourceRow* row;  // row of the given format, or of the path's suffix; null: unknown
  std::string path;
  FormatParameters words;
};
// `source` is the format from another setting; "": none. Throws ValueError for parameters that the
// format does not have.
DataText parse_data(std::string_view text, std::string_view source);

// Returns true if a value of --data asks for a stream. Requires values that parse_data has
// accepted. Throws UsageError.
bool asks_for_stream(std::string_view source, const std::vector<std::string>& data);

// Opens the values of --data. Requires values that parse_data has accepted. Throws RunError if data
// is missing, empty or unreadable, or when stopped. Throws UsageError if parameters contradict each
// other.
std::unique_ptr<Source> open_source(std::string_view source, const std::vector<std::string>& data,
                                    SourceOptions options, const SourceContext& context);

// A row of record/access_methods.def. AccessTraits has its other members.
struct AccessRow {
  Row row;
  FileAccess access;
  // Returns why this kernel refuses the method for any data. Null: no kernel does.
  std::optional<std::string> (source::KernelAccess::*refusal)() const;
  bool readahead_limit;  // limits reading ahead to the expected bytes
  std::unique_ptr<SampleReader> (*make)(const source::Access& access);
};

std::span<const AccessRow> access_table();
const AccessRow& access_row(FileAccess access);

}  // namespace loaderscope

namespace loaderscope::source {

// Fingerprint that shows whether two runs read the same data. Hash of the number of samples, and of
// the names, places, lengths and file sizes of up to 1,024 samples spread over the data. It is
// below 2^40, so that every JSON number can hold it.
std::int64_t source_fingerprint(const Source& source);

// Returns the size of a sample's stored bytes without a read. Empty if only a read shows it.
std::optional<Bytes> stored_size(const Source& source, std::int64_t sample);

}  // namespace loaderscope::source
