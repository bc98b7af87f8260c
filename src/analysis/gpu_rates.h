// Time that a GPU would need to decode and augment the samples of a run whose workers did it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Share of its speed that the training loses while the GPU works for the loader. A training that
// multiplies matrices and one that copies memory are the two ends.
struct TakenShare {
  double least = 0, most = 0;

  double middle() const { return (least + most) / 2; }
};

struct GpuRates {
  double decode_s = 0;      // per image, if the GPU does nothing else; 0 if unknown
  double decode_error = 0;  // largest relative error of `decode_s`, if it is of another GPU
  double decode_cpu_s = 0;  // CPU time of the host for such an image; 0 if unknown
  double augment_s = 0;     // per sample, if the GPU does nothing else; 0 if unknown
  std::optional<TakenShare> decode_taken, augment_taken;  // empty if unknown
  std::string decode_basis, augment_basis;  // source of the times; "" for an unknown time
  std::string assumption;                   // about the size of the images; "" if it is known
};

// Uses the rates that probe measured of the GPU of the run. A known card without measured rates has
// the decoding time of a preset. Presets are for questions of the user, and not for findings.
GpuRates gpu_rates(const RunRecord& record);

// Returns true if `gpus` has the name of that card as a word: a GH200 is no H200.
bool names_card(std::string_view gpus, std::string_view card);

// Returns the decoding time of the images of `record` by measured rates. 0 if the rates or the size
// of the images are unknown.
double probed_decode_s(const RunRecord& record);

}  // namespace loaderscope
