// The data that the native engine is measured on, and the two loaders over them: ours, and the bare
// loop.
#pragma once

#include <cstdint>
#include <string>

#include "bench/native/pairs.h"
#include "loaderscope/run_config.h"
#include "loaderscope/run_record.h"

namespace loaderscope::bench {

inline constexpr int kThreads = 2;
inline constexpr int kWarmup = 6;  // batches

// 2,000 photographs of 500x375 pixels and 72 KiB, made at the first call and used again; returns
// their folder.
std::string make_photos();

struct Load {
  std::string folder;
  std::int64_t steps = 0;       // measured batches
  std::int64_t most_steps = 0;  // least length of the epoch, if more
  std::int64_t batch_size = 64;
  bool antialias = true;
  bool time_stages = true;
};

// All in one epoch: the folder is listed as often as that takes. Sample i is the same file and the
// same crop for both loaders.
RunConfig load_config(const Load& load);
// `defaults` where `lines` say nothing.
RunConfig config_of_lines(const std::string& lines, const std::string& defaults = "");
RunRecord run_loader(const Load& load);
// No data: three stages that burn a core for 100 us each.
RunRecord run_short_stages(double seconds, bool time_stages);
Rate run_rate(const RunRecord& record);

// Read, decode and augment in `kThreads` threads that know nothing of each other and look at no
// clock.
Rate run_bare_loop(const Load& load);

}  // namespace loaderscope::bench
