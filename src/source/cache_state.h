// The state of the page cache at the start of a run: brought about, and proved.
#pragma once

#include <cstdint>
#include <string>

#include "loaderscope/source.h"
#include "loaderscope/units.h"
#include "source/options.h"
#include "source/residency.h"

namespace loaderscope {

struct CacheProof {
  CacheState mode = CacheState::as_is;
  std::int64_t files = 0;          // objects of the data set
  std::int64_t files_checked = 0;  // all of them, or as many drawn at random
  std::int64_t files_skipped = 0;  // among those checked: unreadable, or the kernel does not tell
  Bytes bytes_checked = 0;         // size of the files checked
  Bytes resident_before = 0, resident_after = 0;  // of these bytes, in the page cache
  Bytes bytes_total = 0;    // of all files; warm and cold look at each, as-is leaves it 0
  std::string method;       // "cachestat", "mincore", "none"
  std::string file_system;  // "NFS", "tmpfs", ...; "" for an ordinary local one
  bool proved = false;      // the state is what the mode asks for
  std::string sentence;     // for people
};

struct CacheOptions {
  CacheState mode = CacheState::as_is;
  // Residency is looked at in so many files, all where there are no more.
  std::int64_t most_checked = 20'000;
  // What the page cache may grow to: memory of the machine and of the cgroup. 0: the machine's.
  Bytes memory_bytes = 0;
  std::uint64_t seed = 0;  // of the random draw of files
  source::ResidencyMethod method = source::best_residency_method();
};

// warm reads every file once, up to the size of the memory; cold writes back and evicts every file.
// A file that cannot be opened is passed over: the run will name it. Throws RunError when stopped.
CacheProof prepare_cache(const Objects& objects, const CacheOptions& options,
                         const SourceContext& context = {});

}  // namespace loaderscope
