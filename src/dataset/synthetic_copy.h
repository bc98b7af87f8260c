// `data make --like`: a folder of made images that are to a loader what others are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dataset/info.h"
#include "dataset/make.h"

namespace loaderscope::dataset {

struct TwinOptions {
  std::string path;                   // the folder to fill
  std::string like;                   // the data, as --data has it
  std::optional<std::int64_t> count;  // images of it, from all of its parts; nothing: all
  std::uint64_t seed = 0;
  int threads = 0;
};

// Each image has a synthetic copy of the same format, sides, subsampling and kind of scans, of
// nearly its bytes, by its JPEG quality where a photograph can have so many bytes of it, and of the
// same damage: empty, cut short, no image. Nothing else of it goes into the copy: no pixel, no
// name, nothing that is written beside pixels. Folders of classes are numbered.
//
// Throws UsageError and RunError.
struct TwinResult : MakeResult {
  std::int64_t count = 0;  // that the folder is to have
};
TwinResult make_twin(const TwinOptions& options, const MakeContext& context);

}  // namespace loaderscope::dataset
