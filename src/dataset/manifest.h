// The note inside a folder that was made that says what it is: `.loaderscope-dataset.json`.
#pragma once

#include <istream>
#include <string>

#include "dataset/files.h"
#include "dataset/make_tokens.h"
#include "dataset/options.h"
#include "dataset/pack_options.h"
#include "dataset/synthetic_copy.h"

namespace loaderscope::dataset {

inline constexpr std::string_view kManifestName = ".loaderscope-dataset.json";

// Raised whenever the same options would give other bytes.
inline constexpr int kGenerator = 1;

// A folder to fill, and everything that the bytes in it depend on.
struct MadeFolder {
  std::string path;
  std::string_view made_by;  // the command
  std::string asked;         // JSON, under the names of the flags
};
MadeFolder made_folder(const MakeOptions& options);
MadeFolder made_folder(const MakeOptions& options, const MadeShards& shards);
MadeFolder made_folder(const TokenOptions& options);
MadeFolder made_folder(const PackOptions& options, const PackPlan& plan);
// `digest`: of all that is known of the images that the synthetic copy is like.
MadeFolder made_folder(const TwinOptions& options, std::int64_t images, std::uint64_t digest);

enum class FolderState { fresh, incomplete, complete };

// What stands there. Throws RunError when it is something else than was asked for, naming what
// differs.
FolderState state_of_folder(const MadeFolder& folder);

// What the manifest of that folder says.
FolderState state_of_manifest(std::istream& in, const MadeFolder& folder);

void write_manifest(const MadeFolder& folder, bool complete);

// A folder while it is filled: made, and this process's alone. One that is fresh is noted as
// incomplete once it has room for `bytes`; `remedy`: what to do where it has not. Throws RunError.
class FolderInMaking {
 public:
  FolderInMaking(const MadeFolder& folder, FolderState before, double bytes,
                 std::string_view remedy);
  void note_complete() const;  // all is there

 private:
  const MadeFolder& folder_;
  FolderLock lock_;
};

}  // namespace loaderscope::dataset
