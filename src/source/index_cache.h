// Indexes kept from one run to the next, in the user's cache folder.
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
  // `key` names the data set. No folder is made before something is stored.
  IndexCache(const SourceOptions& options, std::string_view key);

  // The index with this identity, if there is one that fits: none of its folders has changed since.
  // What cannot be read, is damaged, or belongs to another user counts as none. `roots` are the
  // paths that were opened. The file is read, not mapped: a mapped file that somebody cuts short
  // would end this process.
  std::optional<Index> load(std::string_view identity, const std::vector<std::string>& roots,
                            const SourceContext& context) const;
  // Best effort, whole or not at all. `listed_at` is the time (ns of CLOCK_REALTIME) when the
  // listing began: a folder that changed just before may change again without showing it, so that
  // its index is not kept.
  void store(const Index& index, std::int64_t newest_change, std::int64_t listed_at) const;

  const std::string& file() const { return file_; }  // "" when nothing is cached

 private:
  std::string folder_, file_;
};

// What names a data set and what it is made of: keys of an index. No name can be read as the end of
// one and the beginning of the next.
void append_path(std::string& key, const std::string& path);  // wherever the process stands

struct CachedIndex {
  Index index;
  bool was_there = false;
};
// The index of `key` with this identity: kept from before, or made now and kept. `changed` is the
// time of the last change to what the index is made from besides the folders in it.
CachedIndex cached_index(const SourceOptions& options, std::string_view key,
                         std::string_view identity, const std::vector<std::string>& roots,
                         std::int64_t changed, const SourceContext& context,
                         const std::function<Index()>& make);

}  // namespace loaderscope::source
