// Indexes that are kept between runs, in the user's cache folder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "source/index.h"
#include "source/options.h"

namespace loaderscope::source {

class IndexCache {
 public:
  // `key` names the data set. Creates no folder before something is stored.
  IndexCache(const SourceOptions& options, std::string_view key);

  // Returns the index with this identity if none of its folders has changed. An index that cannot
  // be read, is damaged, or belongs to another user is ignored. `roots` are the opened paths. The
  // file is read, not mapped: truncating a mapped file would end this process.
  std::optional<Index> load(std::string_view identity, const std::vector<std::string>& roots,
                            const SourceContext& context) const;
  // Stores all of the index or nothing, and ignores failures. `listed_at` is the time (ns of
  // CLOCK_REALTIME) when the listing began. A folder that changed just before may change again
  // without a trace, so its index is not kept.
  void store(const Index& index, std::int64_t newest_change, std::int64_t listed_at) const;

  const std::string& file() const { return file_; }  // "": caching is off

 private:
  std::string folder_, file_;
};

// Parts of an index key, which name a data set and its contents. The encoding of a name cannot be
// confused with parts of the next name.
// relative to the current folder of the process
void append_path(std::string& key, const std::string& path);

struct CachedIndex {
  Index index;
  bool was_there = false;
};
// Returns the kept index of `key` with this identity, or makes and keeps one. `changed` is the time
// of the last change to the inputs of the index besides its folders.
CachedIndex cached_index(const SourceOptions& options, std::string_view key,
                         std::string_view identity, const std::vector<std::string>& roots,
                         std::int64_t changed, const SourceContext& context,
                         const std::function<Index()>& make);

}  // namespace loaderscope::source
