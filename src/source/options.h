// How a data set of image files is opened.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/units.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope {

namespace source {
class KernelAccess;
class RangeCache;
}  // namespace source

struct AccessOptions {
  FileAccess access = FileAccess::pread;
  int queue_depth = 8;  // samples, or pieces of objects, that a reader has under way
  // A server that sends nothing for so long does not answer.
  Nanos request_timeout = 20'000'000'000;
  std::shared_ptr<source::RangeCache> kept;       // what servers sent; null: nothing is kept
  const std::atomic<int>* stop_signal = nullptr;  // ends requests
  const source::KernelAccess* kernel = nullptr;   // null: the real one
  // What is larger is no sample: it is refused before memory is taken.
  Bytes largest_sample = Bytes{1} << 30;
};

// Words of a format's own behind a path: PATH?NAME=VALUE&...
using FormatParameters = std::map<std::string, std::string, std::less<>>;

struct SourceOptions : AccessOptions {
  std::vector<std::string> paths;  // folders or files, one after another
  FormatParameters words;          // of those that the row has
  // A manifest (.csv, .jsonl) of the samples below the one path, or below its own folder without
  // paths.
  std::string index_file;
  // For indexes; "": $XDG_CACHE_HOME/loaderscope or ~/.cache/loaderscope. Never the data's folder.
  std::string cache_folder;
  bool use_index_cache = true;
  // What a sample gives is its class, as text, in place of its image: of a row that knows_classes.
  // RunError: there are none.
  bool classes = false;
};

// What takes long while a data set is opened, and how far it is.
struct SourceProgress {
  std::string_view doing;  // "listing files", ...
  std::int64_t done = 0;   // files
  std::int64_t total = 0;  // 0: not known yet
};

// What long work may use of the world around it. `on_progress` comes a few times a second, from the
// thread that called. Work that is stopped throws RunError; whoever set the signal knows why.
struct SourceContext {
  std::function<void(const SourceProgress&)> on_progress;
  const std::atomic<int>* stop_signal = nullptr;

  bool stopped() const { return stop_signal != nullptr && stop_signal->load() != 0; }
  void throw_if_stopped() const;
};

}  // namespace loaderscope
