// The families of sources: where samples come from, and how files are read.
#pragma once

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

struct SourceRow {
  Row row;
  SampleForm form = SampleForm::declared;
  // Null: there is nothing to open, or the row is not available.
  std::unique_ptr<Source> (*open)(const SourceOptions& options,
                                  const SourceContext& context) = nullptr;
  std::span<const std::string_view> suffixes = {};  // a path that ends so is one of these
  std::span<const std::string_view> words = {};     // that it takes behind a path
  bool takes_list = false;                          // --index
  // Of them the one that asks for a stream, by a number above 0; "": it has none.
  std::string_view stream_word = {};
  bool is_packed = false;  // many samples lie in one file
  // Of pieces that are read as a whole, how smaller ones are written: with {} for what --data
  // names.
  std::string_view smaller_pieces = {};
  // The class of a sample of a source that the row has opened, from 0 on; null: it is not known.
  std::int32_t (*label)(const Source& source, std::int64_t sample) = nullptr;
  bool knows_classes = false;  // it takes SourceOptions::classes, and label=NAME behind a path

  bool is_named_as(std::string_view path) const { return !suffix_of(path).empty(); }
  std::string_view suffix_of(std::string_view path) const;  // "": none of these
};

std::span<const SourceRow> source_table();
// Of a name that is in the table.
const SourceRow& source_row(std::string_view name);

// What --data says: [FORMAT:]PATH[?NAME=VALUE&...].
struct DataText {
  const SourceRow* row;  // by the format given, else by the end of the path; null: neither says
  std::string path;
  FormatParameters words;
};
// `source`: the format, where another setting says it; "": none does. Throws ValueError for words
// that the format does not take.
DataText parse_data(std::string_view text, std::string_view source);

// Whether one of the texts of --data, which parse_data has read before, asks for a stream. Throws
// UsageError.
bool asks_for_stream(std::string_view source, const std::vector<std::string>& data);

// Opens what the texts of --data name, which parse_data has read before. Throws RunError: what is
// missing, empty, unreadable or stopped; UsageError: words that contradict each other.
std::unique_ptr<Source> open_source(std::string_view source, const std::vector<std::string>& data,
                                    SourceOptions options, const SourceContext& context);

struct AccessRow {
  Row row;
  FileAccess access;
  // Why this kernel refuses, whatever the data; null: none does.
  std::optional<std::string> (source::KernelAccess::*refusal)() const;
  bool direct;           // some file systems refuse
  bool readahead_limit;  // reads what is expected
  std::unique_ptr<SampleReader> (*make)(const source::Access& access);
  bool remote = false;  // of servers' objects, and of nothing else
};

std::span<const AccessRow> access_table();
const AccessRow& access_row(FileAccess access);

}  // namespace loaderscope
