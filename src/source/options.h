// Options to open a data set.
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
  int queue_depth = 8;  // samples, or ranges of objects, that a reader has in flight
  // A server that sends nothing for this time counts as unresponsive.
  Nanos request_timeout = 20'000'000'000;
  std::shared_ptr<source::RangeCache> kept;       // cache of server responses; null: off
  const std::atomic<int>* stop_signal = nullptr;  // ends requests
  const source::KernelAccess* kernel = nullptr;   // null: the real one
  // Limit of a sample's size. A larger one is refused before memory is allocated.
  Bytes largest_sample = Bytes{1} << 30;
};

// Parameters of a format after a path: PATH?NAME=VALUE&...
using FormatParameters = std::map<std::string, std::string, std::less<>>;

struct SourceOptions : AccessOptions {
  std::vector<std::string> paths;  // folders or files, one after another
  FormatParameters words;          // only parameters of the format's row
  // A manifest (.csv, .jsonl) of samples below the one path, or below its own folder without paths.
  std::string index_file;
  // Folder for indexes; "": $XDG_CACHE_HOME/loaderscope or ~/.cache/loaderscope. Never the data's
  // folder.
  std::string cache_folder;
  bool use_index_cache = true;
  // Delivers the class of each sample as text instead of its image. Requires a row with
  // `knows_classes`. Throws RunError if the data has no classes.
  bool classes = false;
};

// Progress of a long step of opening a data set.
struct SourceProgress {
  std::string_view doing;  // "listing files", ...
  std::int64_t done = 0;   // files
  std::int64_t total = 0;  // 0: unknown
};

// Environment of long work. `on_progress` is called a few times a second from the calling thread.
// Stopped work throws RunError; the owner of the signal knows the reason.
struct SourceContext {
  std::function<void(const SourceProgress&)> on_progress;
  const std::atomic<int>* stop_signal = nullptr;

  bool stopped() const { return stop_signal != nullptr && stop_signal->load() != 0; }
  void throw_if_stopped() const;
};

}  // namespace loaderscope
