// The state of the page cache at the start of a run: set, and proved.
#pragma once

#include <cstdint>
#include <string>

#include "loaderscope/source.h"
#include "loaderscope/units.h"
#include "source/options.h"
#include "source/residency.h"
#include "source/store.h"

namespace loaderscope {

struct CacheProof {
  CacheState mode = CacheState::as_is;
  std::int64_t files = 0;          // objects of the data set
  std::int64_t files_checked = 0;  // all files, or a random sample
  std::int64_t files_skipped = 0;  // files that were checked without a result: unreadable, or the
                                   // kernel gives none
  Bytes bytes_checked = 0;         // size of the files checked
  Bytes resident_before = 0, resident_after = 0;  // resident part of these bytes in the page cache
  Bytes bytes_total = 0;    // size of all files, which warm and cold visit; 0 for as-is
  std::string method;       // "cachestat", "mincore", "none"
  std::string file_system;  // "NFS", "tmpfs", ...; "" for an ordinary local one
  bool proved = false;      // the state is what the mode asks for
  std::string sentence;     // text for answers
};

struct CacheOptions {
  CacheState mode = CacheState::as_is;
  // Number of files whose residency is checked; all files if there are fewer.
  std::int64_t most_checked = 20'000;
  // Maximum size of the page cache: memory of the machine and of the cgroup. 0: the machine's.
  Bytes memory_bytes = 0;
  std::uint64_t seed = 0;  // seed of the random sample of files
  source::ResidencyMethod method = source::best_residency_method();
};

// warm reads every file once, up to the size of the memory. cold writes back and evicts every file.
// Skips a file that cannot be opened: the run will report it. Throws RunError when stopped.
CacheProof prepare_cache(const Objects& objects, const CacheOptions& options,
                         const SourceContext& context = {});

}  // namespace loaderscope

namespace loaderscope::source {

// Text about the page cache in answers.
std::string describe_cache(const CacheProof& state, const FileSystemKind& kind, Bytes memory);

}  // namespace loaderscope::source
