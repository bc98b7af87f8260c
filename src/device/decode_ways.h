// The ways to decode the images of a batch here: on the CPU, on a GPU, or on both.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "loaderscope/rows.h"

namespace loaderscope {

struct DecodeWayRow {
  Row row;
};

std::span<const DecodeWayRow> decode_way_table();

// Returns a sentence why nvJPEG cannot decode here. Returns nothing if it can. CUDA is not touched
// if there is no driver.
std::optional<std::string> why_no_gpu_decoding();
// The same for the JPEG engines of GPU 0. It starts nvJPEG on that GPU, which makes a CUDA context
// that stays, and waits at most ten seconds for it. The answer of the first call is kept.
std::optional<std::string> why_no_jpeg_engines();

}  // namespace loaderscope
