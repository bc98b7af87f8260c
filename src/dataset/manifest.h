// The manifest inside a made folder, which describes it: `.loaderscope-dataset.json`.
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

// Increase it whenever the same options would give other bytes.
inline constexpr int kGenerator = 1;

// A folder to fill, and all inputs that its bytes depend on.
struct MadeFolder {
  std::string path;
  std::string_view made_by;  // the command
  std::string asked;         // JSON, under the names of the flags
};
MadeFolder made_folder(const MakeOptions& options);
MadeFolder made_folder(const MakeOptions& options, const MadeShards& shards);
MadeFolder made_folder(const TokenOptions& options);
MadeFolder made_folder(const PackOptions& options, const PackPlan& plan);
// `digest` covers all known facts of the images that the synthetic copy resembles.
MadeFolder made_folder(const TwinOptions& options, std::int64_t images, std::uint64_t digest);

enum class FolderState { fresh, incomplete, complete };

// Returns the state of the folder. Throws RunError with the difference if it contains other data.
FolderState state_of_folder(const MadeFolder& folder);

// Returns the state in the folder's manifest.
FolderState state_of_manifest(std::istream& input, const MadeFolder& folder);

void write_manifest(const MadeFolder& folder, bool complete);

// A folder while it is filled: created, and locked by this process. A fresh folder is marked as
// incomplete once it has room for `bytes`. `remedy` is the advice if it has not. Throws RunError.
class FolderInMaking {
 public:
  FolderInMaking(const MadeFolder& folder, FolderState before, double bytes,
                 std::string_view remedy);
  void note_complete() const;  // all files are written

 private:
  const MadeFolder& folder_;
  FolderLock lock_;
};

}  // namespace loaderscope::dataset
