// Ceilings of this machine, measured by `probe`, and the shares of them that a run reached.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Rates of a saved profile; 0 if unknown.
struct ProbedRates {
  double decodes_per_core_s = 0;  // whole images, with all cores at work
  double decoded_bytes = 0;       // stored size of such an image
  double storage_bytes_per_s = 0;
  double copied_bytes_per_s = 0;  // within memory, by all cores
  double link_bytes_per_s = 0;    // slowest GPU

  // Work of the GPU for a loader. An image takes `gpu_decode_image_s` and its pixels.
  double gpu_decode_image_s = 0, gpu_decode_pixels_per_s = 0;
  double gpu_decode_cpu_s = 0;      // CPU time of the host for an image that the GPU decodes
  double gpu_augment_sample_s = 0;  // crop, resize and normalise
  // Shares of its speed that the training loses during that work: if it computes matrix products,
  // and if it copies within the GPU's memory.
  double gpu_decode_taken = 0, gpu_decode_taken_of_copies = 0;
  double gpu_augment_taken = 0, gpu_augment_taken_of_copies = 0;

  bool operator==(const ProbedRates&) const = default;
};

// Adds the rates as metrics `probed.*`. They are facts of the machine, measured earlier, and no
// account uses them.
void add_probed_rates(const ProbedRates& rates, RunRecord& record);
ProbedRates probed_rates(const RunRecord& record);

struct MachineCeiling {
  std::string_view name;     // decoding, storage, copying, link
  std::string what;          // "storage at 910 MB/s, as probe measured"
  double samples_per_s = 0;  // upper limit
  double reached = 0;        // share of it
};

// Returns the ceilings that apply to a real run's measured rate. They exclude work that the run did
// not do, and decoding of images of another size than probed.
std::vector<MachineCeiling> machine_ceilings(const RunRecord& record);

// Returns "storage at 93.0 % of what probe measured, decoding at 41.0 %"; "" without a notable
// share.
std::string probed_words(const std::vector<MachineCeiling>& ceilings);

// Returns the ceilings below a rate that was predicted with the same work per sample. Example:
// "1,200 samples/s at most by storage at 910 MB/s, as probe measured: fewer than the 2,000 that are
// predicted". Returns "" if the machine can reach the rate.
std::string beyond_probed(const std::vector<MachineCeiling>& ceilings, double samples_per_s);

}  // namespace loaderscope
