// The table of the measurements of a machine, their inputs, and timed loops.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/cpu_set.h"
#include "base/thread_meter.h"
#include "loaderscope/rows.h"
#include "probe/probed_data.h"
#include "probe/profile.h"

namespace loaderscope::probe {

// The CPUs that may be used, as a loader should take them.
struct Cpus {
  CpuSet all, one_of_each_core;
  double usable = 1;  // cores: also by the quota
};
Cpus read_cpus(const std::filesystem::path& root);

struct ProbeContext {
  const ProfileOptions& options;
  const std::atomic<int>& stop;
  const Cpus& cpus;
  const ProbedData& data;
  Nanos until = 0;  // the end of its share of the time

  bool is_running() const { return stop.load(std::memory_order_relaxed) == 0; }
  Nanos left() const { return std::max<Nanos>(until - monotonic_now(), 0); }
};

// Fills the outcome; throws RunError where it cannot be measured.
struct Measurement {
  Row row;
  double share;  // share of the time
  void (*measure)(const ProbeContext& probing, Outcome& outcome);
};
std::span<const Measurement> measurement_table();

void measure_limits(const ProbeContext& probing, Outcome& outcome);
void measure_topology(const ProbeContext& probing, Outcome& outcome);
void measure_clock(const ProbeContext& probing, Outcome& outcome);
void measure_storage(const ProbeContext& probing, Outcome& outcome);
void measure_decoding(const ProbeContext& probing, Outcome& outcome);
void measure_memory(const ProbeContext& probing, Outcome& outcome);
void measure_processes(const ProbeContext& probing, Outcome& outcome);
void measure_gpus(const ProbeContext& probing, Outcome& outcome);
void measure_gpus_together(const ProbeContext& probing, Outcome& outcome);
void measure_jpeg_engines(const ProbeContext& probing, Outcome& outcome);
void measure_augment_kernel(const ProbeContext& probing, Outcome& outcome);
void measure_gpu_share(const ProbeContext& probing, Outcome& outcome);
void measure_video_engines(const ProbeContext& probing, Outcome& outcome);
void measure_gpu_storage(const ProbeContext& probing, Outcome& outcome);

// --- timed loops ---

struct Rate {
  double per_s = 0, noise = 0;  // see Figure
};

// A video, decoded by as many decoders at once.
struct VideoRates {
  std::string codec;  // "h264, 640x480"
  std::vector<std::pair<int, Rate>> rates;
};
// Decodes on the first GPU with 1 to 8 decoders, or on the CPU with one. Throws RunError.
VideoRates measure_video(const std::string& path, bool on_gpu, const ProbeContext& probing);

// One piece of work; how much that was.
using Work = std::function<double()>;

// A thread for each of the works does it once untimed and then repeats it for `time`, all at once,
// on `cpus` only; none: on any.
// What a work throws is thrown here.
Rate measure_rate(const std::vector<Work>& works, const CpuSet& cpus, Nanos time,
                  const std::atomic<int>& stop);

// One for each thread, of images as `data make` makes them. Throws RunError where none can be made.
std::vector<Work> decoding_of_made_images(std::size_t threads);

std::string two_digits(double bytes);  // "74 kB": sizes that differ by less are one condition

// 1, 2, 4, ... and `most`.
std::vector<int> doublings(int most);

}  // namespace loaderscope::probe
