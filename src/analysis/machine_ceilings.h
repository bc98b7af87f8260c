// What `probe` measured of this machine, beside what a run reached of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Of a saved profile; 0: it does not say.
struct ProbedRates {
  double decodes_per_core_s = 0;  // whole images, with all cores at work
  double decoded_bytes = 0;       // stored, of such an image
  double storage_bytes_per_s = 0;
  double copied_bytes_per_s = 0;  // within memory, by all cores
  double link_bytes_per_s = 0;    // of the slowest GPU

  bool operator==(const ProbedRates&) const = default;
};

// As metrics `probed.*`: facts of the machine, measured earlier; no part of an account rests on
// them.
void add_probed_rates(const ProbedRates& rates, RunRecord& record);
ProbedRates probed_rates(const RunRecord& record);

struct MachineCeiling {
  std::string_view name;     // decoding, storage, copying, link
  std::string what;          // "storage at 910 MB/s, as probe measured"
  double samples_per_s = 0;  // at most
  double reached = 0;        // share of it
};

// Of a real run's measured time. Left out is what the run did not do, and the decoding of images of
// another size than those that were probed.
std::vector<MachineCeiling> machine_ceilings(const RunRecord& record);

// "storage at 93.0 % of what probe measured, decoding at 41.0 %"; "" of none that is worth saying
std::string probed_words(const std::vector<MachineCeiling>& ceilings);

// What a rate that was only predicted, of the same work per sample, would need: "1,200 samples/s
// at most by storage at 910 MB/s, as probe measured: fewer than the 2,000 that are predicted"; ""
// where the machine has it.
std::string beyond_probed(const std::vector<MachineCeiling>& ceilings, double samples_per_s);

}  // namespace loaderscope
