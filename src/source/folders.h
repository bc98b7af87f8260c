// The index of folders of images.
#pragma once

#include <string>
#include <vector>

#include "source/index.h"
#include "source/options.h"

namespace loaderscope::source {

// `roots` as the user gave them. The label is the place of the class folder among all class folders
// of its root; of files in a folder without class folders it is 0. Throws RunError.
Index index_folders(const std::vector<std::string>& roots, std::string_view identity,
                    const SourceContext& context);

}  // namespace loaderscope::source
