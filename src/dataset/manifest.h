// The note inside a made data set that says what it is: `.loaderscope-dataset.json`.
#pragma once

#include <istream>
#include <string>

#include "dataset/options.h"

namespace loaderscope::dataset {

inline constexpr std::string_view kManifestName = ".loaderscope-dataset.json";

// Raised whenever the same options would give other bytes.
inline constexpr int kGenerator = 1;

enum class FolderState { fresh, incomplete, complete };

// What stands at options.path. Throws RunError when it is something else than this data set, naming
// what differs.
FolderState state_of_folder(const MakeOptions& options);

// What the manifest of the data set at options.path says.
FolderState state_of_manifest(std::istream& in, const MakeOptions& options);

void write_manifest(const MakeOptions& options, bool complete);

}  // namespace loaderscope::dataset
