// The table of measurements, and all of them one after another.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <system_error>

#include "analysis/wording.h"
#include "base/thread_team.h"
#include "loaderscope/errors.h"
#include "machine/cgroup.h"
#include "machine/machine.h"
#include "machine/machine_load.h"
#include "machine/proc_file.h"
#include "probe/measurement.h"

namespace loaderscope::probe {
namespace {

constexpr Nanos kTime = 26 * kSecond, kQuickTime = 7 * kSecond / 2;  // the last pieces end later
constexpr Bytes kReads = Bytes{1} << 30, kQuickReads = Bytes{128} << 20;
constexpr int kRounds = 3;

void measure(const Measurement& row, const ProbeContext& probing, Outcome& outcome) {
  const Nanos begin = monotonic_now();
  try {
    row.measure(probing, outcome);
  } catch (const RunError& error) {
    outcome.why_not = error.what();
  } catch (const SampleError& error) {
    outcome.why_not = error.what();
  } catch (const std::bad_alloc&) {
    outcome.why_not = "there is too little memory for it";
  } catch (const std::system_error& error) {  // threads
    outcome.why_not = error.what();
  }
  outcome.took_s = seconds(monotonic_now() - begin);
}

// Returns the rate of one thread in each round, per second.
std::vector<double> repeat(const Work& work, Nanos time, const std::function<bool()>& stopped) {
  std::vector<double> rates;
  if (!stopped()) work();  // memory is touched, caches are warm
  Nanos begin = monotonic_now();
  for (int round = 0; round < kRounds && !stopped(); ++round) {
    double done = 0;
    Nanos now = begin;
    do {
      done += work();
      now = monotonic_now();
    } while (now - begin < time / kRounds && !stopped());
    rates.push_back(done / std::max(seconds(now - begin), 1e-9));
    begin = now;
  }
  return rates;
}

// CPUs that run on the core of `cpu`; itself where the kernel does not say.
CpuSet core_siblings(const std::filesystem::path& root, int cpu) {
  const auto file = root / fmt::format("sys/devices/system/cpu/cpu{}/topology", cpu);
  CpuSet siblings = parse_cpu_list(read_text((file / "thread_siblings_list").string()));
  return siblings.empty() ? CpuSet{cpu} : siblings;
}

}  // namespace

std::span<const Measurement> measurement_table() {
  static constexpr Measurement kRows[] = {
      {{"limits", "What this process may use: CPUs, quota, memory, shared memory, open files."},
       0.01,
       measure_limits},
      {{"topology", "Sockets, NUMA nodes and cores, and which devices hang where, by hwloc."},
       0.01,
       measure_topology},
      {{"clock", "How long a reading of the clock takes, of which measuring takes many."},
       0.01,
       measure_clock},
      {{"storage",
        "Read samples at random, 1 to 64 at once, read in order, and open files (--data or "
        "--path)."},
       0.30,
       measure_storage},
      {{"decode", "Decode whole images on one core and on all."}, 0.15, measure_decoding},
      // Before anything of CUDA, whose context would be forked with it.
      {{"processes", "Starting of workers: fork, and Python's fork, spawn and forkserver."},
       0.12,
       measure_processes},
      {{"memory", "Copies within memory, by one thread, all, and each NUMA node; page-locking."},
       0.09,
       measure_memory},
      {{"gpu", "GPUs, their PCIe links as they are and could be, and the rate of copies to them."},
       0.06,
       measure_gpus},
      {{"gpus-together",
        "Copies to all GPUs at once, alone and while cores decode, launches and the far NUMA "
        "node."},
       0.04,
       measure_gpus_together},
      {{"jpeg-engines",
        "Decode JPEG batches of 4 sizes on GPU 0, by its JPEG engines and by CUDA kernels."},
       0.10,
       measure_jpeg_engines},
      {{"augment-kernel", "Crop, resize, flip and normalise batches on GPU 0, to f16 and f32."},
       0.02,
       measure_augment_kernel},
      {{"gpu-share",
        "Compare products and copies on GPU 0 with and without its decoding and augmentation."},
       0.08,
       measure_gpu_share},
      {{"video-engines", "Decode a video on the first GPU (--data with videos)."},
       0.01,
       measure_video_engines},
      {{"gpu-storage",
        "The way of reads from storage to the first GPU, by cuFile. It measures no rate."},
       0.0,
       measure_gpu_storage},
  };
  return kRows;
}

Cpus read_cpus(const std::filesystem::path& root) {
  Cpus cpus;
  cpus.all = allowed_cpus();
  if (cpus.all.empty()) cpus.all = {0};
  for (const int cpu : cpus.all) {
    const CpuSet siblings = core_siblings(root, cpu);
    const auto is_before = [&](int other) {
      return other < cpu && std::binary_search(cpus.all.begin(), cpus.all.end(), other);
    };
    if (std::none_of(siblings.begin(), siblings.end(), is_before))
      cpus.one_of_each_core.push_back(cpu);
  }
  cpus.usable = std::min(static_cast<double>(cpus.all.size()), cgroup_cores(root).value_or(1e9));
  return cpus;
}

Rate measure_rate(const std::vector<Work>& works, const CpuSet& cpus, Nanos time,
                  const std::atomic<int>& stop) {
  const OnCpus on(cpus);
  ThreadTeam team(&stop);
  std::vector<std::vector<double>> rates(works.size());
  std::atomic<std::size_t> next{0};
  team.run(
      static_cast<int>(works.size()),
      [&] {
        const std::size_t own = next++;
        rates[own] = repeat(works[own], time, [&] { return team.stopping(); });
      },
      [] {});
  std::vector<double> sums;
  for (int round = 0; round < kRounds; ++round) {
    double sum = 0;
    bool is_whole = true;
    for (const std::vector<double>& own : rates) {
      is_whole = is_whole && static_cast<int>(own.size()) > round;
      if (is_whole) sum += own[static_cast<std::size_t>(round)];
    }
    if (is_whole) sums.push_back(sum);
  }
  if (sums.empty()) return {};
  std::sort(sums.begin(), sums.end());
  const double median = sums[sums.size() / 2];
  return {median, median > 0 ? (sums.back() - sums.front()) / 2 / median : 0};
}

std::string two_digits(double bytes) {
  const double unit = std::pow(10, std::floor(std::log10(std::max(bytes, 1.0))) - 1);
  return format_size(std::round(bytes / unit) * unit);
}

std::vector<int> doublings(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(std::max(most, 1));
  return counts;
}

Profile measure_profile(const ProfileOptions& given, const std::atomic<int>& stop) {
  ProfileOptions options = given;
  if (options.read_at_most == 0) options.read_at_most = options.quick ? kQuickReads : kReads;
  Profile profile;
  const MachineFacts machine = read_machine();
  const Cpus cpus = read_cpus(options.root);
  profile.host = machine.host.value_or("");
  profile.cpu = machine.cpu;
  profile.kernel = machine.kernel;
  profile.logical_cpus = machine.logical_cpus;
  profile.cores = cpus.usable;
  profile.quick = options.quick;
  const ProbedData data(options.data, options.path, options.read_at_most, stop);

  const auto load = read_machine_load(options.root);
  const Nanos begin = monotonic_now();
  const auto time = static_cast<double>(options.quick ? kQuickTime : kTime);
  double share = 0;  // sum of the used shares: later rows may take time that a row leaves
  for (const Measurement& row : measurement_table()) {
    if (stop.load() != 0) break;
    share += row.share;
    if (options.on_progress) options.on_progress(row.row.name, share - row.share);
    ProbeContext probing{options, stop, cpus, data, begin + static_cast<Nanos>(time * share)};
    measure(row, probing, profile.probes.emplace_back(row.row.name, Outcome{}).second);
  }
  profile.interrupted = stop.load() != 0;
  profile.wall_s = seconds(monotonic_now() - begin);
  const auto later = read_machine_load(options.root);
  if (load && later) profile.other_cores = other_cores(*load, *later);
  constexpr double kDisturbs = 0.1;  // share of a core
  if (profile.other_cores >= kDisturbs)
    profile.notes.push_back(fmt::format(
        "other programs took {} meanwhile: rates are lower than those of an idle machine",
        format_cores(profile.other_cores)));
  return profile;
}

}  // namespace loaderscope::probe
