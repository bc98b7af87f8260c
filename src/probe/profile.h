// The profile of a machine: what its parts can give to a loader, measured one after another. Each
// measurement is a row of a table; what it found are figures, which two profiles can be compared
// by.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/cuda/nvjpeg_library.h"
#include "device/cuda/runtime.h"
#include "loaderscope/units.h"

namespace loaderscope::probe {

const std::vector<std::string_view>& unit_words();  // units of figures

struct Figure {
  std::string name;  // name in its measurement: "random_16"
  std::string unit;  // one of unit_words()
  double value = 0;
  double noise = 0;         // half the range of its rounds by their median; 0: not known
  std::string condition{};  // only figures of one condition are compared: "110 kB"
  std::string series{};     // series of which it is a point, drawn over `at`; "": none
  double at = 0;
  bool is_compared = true;  // belongs to the machine, and not to the moment
};
std::string shown(const Figure& figure);  // "1,240/s", "910 MB/s", "3.1 us"

// Resources of a machine that a loader needs.
enum class MachineResource : std::uint8_t { decoding, storage, copying, link };
std::string_view name_of(MachineResource supply);
const std::vector<std::string_view>& supply_names();

// The most that the machine gives of it.
struct Ceiling {
  MachineResource supply = MachineResource::decoding;
  double per_s = 0;         // samples of decoding, else bytes; of a link that of the slowest GPU
  double per_core_s = 0;    // decoding, with all cores at work
  double sample_bytes = 0;  // decoding and storage: stored bytes of a sample; 0: not known
  double gpus = 0;          // GPUs of a link
};

struct Fact {
  std::string name, value;
};

// The results of a measurement. Unknown values are left out.
struct Outcome {
  std::string why_not;  // reason why it was not measured; "": it was
  double took_s = 0;
  Bytes most_read = 0;  // announced limit of reads from storage
  std::string answer;   // part of the first line; ""
  std::vector<std::string> lines;
  std::vector<Figure> figures;
  std::vector<Ceiling> ceilings;
  std::vector<Fact> facts;
  std::vector<std::string> notes;
};

// --- --demand RATE:BYTES ---

struct Demand {
  double samples_per_s = 0;     // rate of each rank
  Bytes batch_bytes = 0;        // bytes that are copied to the GPU
  std::int64_t batch_size = 0;  // samples
  std::int64_t ranks = 1;
};
struct DemandLine {
  std::string name;  // name of a MachineResource
  double needed = 0, there = 0;
  std::string unit;  // "cores" or "bytes/s"
  double share = 0;  // needed / there; 0: not known
  std::string sentence{};
};
struct DemandAnswer {
  Demand demand;
  bool is_met = true;  // true if the measurements meet it
  std::string sentence;
  std::vector<DemandLine> lines;

  bool is_all_judged() const;  // decoding and storage are known: else it may not be enough
};

// --- --against PROFILE ---

struct Outlier {
  std::string figure;  // "storage.random_16"
  double value = 0, median = 0, least = 0, most = 0;
  double z = 0;  // distance from the median by the spread of the peers, robust
  std::string sentence{};
};
struct PeersAnswer {
  std::int64_t peers = 0, compared = 0;  // profiles; figures
  bool is_own_past = false;              // the peers are this machine, earlier
  std::vector<Outlier> unlike;           // the furthest first
  double furthest = 0;                   // largest relative distance from the median, of the other
                                         // figures
  std::string sentence;
  std::vector<std::string> notes;
};

struct Profile {
  std::string host, cpu, kernel;
  std::int64_t logical_cpus = 0;
  double cores = 0;  // cores that this process may use
  bool quick = false, interrupted = false;
  double wall_s = 0, other_cores = 0;                   // cores that other programs took meanwhile
  std::vector<std::pair<std::string, Outcome>> probes;  // names and results of the rows, in their
                                                        // order
  std::vector<std::string> notes;
  std::optional<DemandAnswer> demand;
  std::optional<PeersAnswer> against;

  std::string sentence() const;                          // describes the ceilings of the machine
  const Ceiling* ceiling(MachineResource supply) const;  // null: not measured
  // null: not measured
  const Figure* figure(std::string_view measurement, std::string_view name) const;
};

struct ProfileOptions {
  std::filesystem::path root = "/";  // root of the kernel's files, or a folder with copies for
                                     // tests
  std::string data;                  // a text of --data; "": images are made
  std::string path;                  // a folder instead, in which one temporary file is written
  std::string python = "python3";
  std::string slurm_cpus;  // value from the environment
  bool quick = false;
  Bytes read_at_most = 0;  // limit for storage; 0: a default that is announced
  std::shared_ptr<cuda::Runtime> runtime;
  cuda::FindNvjpeg find_nvjpeg = cuda::find_nvjpeg;
  Nanos gpu_timeout = 10 * kSecond;  // time that a GPU has for work after the end of a measurement
  std::string nvml = "libnvidia-ml.so.1";
  std::function<void(std::string_view name, double fraction)> on_progress{};
};

// Measures row by row, each within its share of 30 s, or of 5 s with `quick`. `stop` not 0 ends it
// with what there is. Throws RunError or UsageError where the data cannot be opened.
Profile measure_profile(const ProfileOptions& options, const std::atomic<int>& stop);

// Fills profile.demand.
void judge_demand(Profile& profile, const Demand& demand);

// Throws UsageError where the peers of a machine of that name are too few to say what is usual: for
// before it is measured.
void check_peers(const std::string& host, const std::vector<Profile>& peers);

// Fills profile.against. Throws as check_peers() does.
void judge_against(Profile& profile, const std::vector<Profile>& peers);

}  // namespace loaderscope::probe
