// Copies within memory, and how fast it is page-locked.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <system_error>

#include "analysis/wording.h"
#include "device/cuda/runtime.h"
#include "loaderscope/errors.h"
#include "machine/machine.h"
#include "machine/proc_file.h"
#include "probe/measurement.h"

namespace loaderscope::probe {
namespace {

constexpr Bytes kMaxOfThread = Bytes{64} << 20;  // beyond any cache
constexpr Bytes kQuickOfThread = Bytes{32} << 20;
constexpr Bytes kMinOfThread = Bytes{4} << 20;
constexpr Bytes kLocked = Bytes{64} << 20;

// Mapped, and not touched before the thread that uses it does: it lies near to that.
class Mapped {
 public:
  explicit Mapped(Bytes bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    place_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Mapped() { ::munmap(place_, bytes_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  void* place() const { return place_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  void* place_;
};

// Half of its memory is copied to the other half.
Work copying(Bytes bytes) {
  return [memory = std::make_shared<Mapped>(2 * bytes), touched = false]() mutable {
    auto* to = static_cast<char*>(memory->place());
    const std::size_t half = memory->bytes() / 2;
    if (!touched) std::memset(to, 1, memory->bytes());
    touched = true;
    std::memcpy(to, to + half, half);
    return static_cast<double>(half);
  };
}

Rate copies_by(std::size_t threads, Bytes bytes, const CpuSet& cpus, Nanos time,
               const std::atomic<int>& stop) {
  std::vector<Work> works;
  for (std::size_t i = 0; i < threads; ++i) works.push_back(copying(bytes));
  return measure_rate(works, cpus, time, stop);
}

struct Node {
  int number = 0;
  CpuSet cpus;  // usable CPUs of the node
};

std::vector<Node> find_nodes(const std::filesystem::path& root, const CpuSet& usable) {
  std::vector<Node> nodes;
  const std::filesystem::path folder = root / "sys/devices/system/node";
  for (const int number : parse_cpu_list(read_text((folder / "online").string()))) {
    const CpuSet all =
        parse_cpu_list(read_text((folder / fmt::format("node{}/cpulist", number)).string()));
    Node node{number, {}};
    std::set_intersection(all.begin(), all.end(), usable.begin(), usable.end(),
                          std::back_inserter(node.cpus));
    if (!node.cpus.empty()) nodes.push_back(std::move(node));
  }
  return nodes;
}

// A quarter of what is free, at most, for all threads together.
Bytes bytes_of_thread(const ProfileOptions& options, std::size_t threads) {
  const Bytes free = free_memory(options.root).value_or(Bytes{1} << 30);
  const Bytes bytes = std::min(options.quick ? kQuickOfThread : kMaxOfThread,
                               free / 4 / (2 * static_cast<Bytes>(threads)));
  if (bytes < kMinOfThread)
    throw RunError(fmt::format("{} of memory are free: too little to copy in",
                               format_size(static_cast<double>(free))));
  return bytes;
}

// Seconds of one locking of memory that has been touched.
Figure locking_by_mlock() {
  const Bytes bytes = std::min(lockable_memory().value_or(kLocked) / 2, kLocked);
  constexpr Bytes kPage = 4096;
  if (bytes < 16 * kPage) throw RunError("memlock lets no memory be locked", "raise ulimit -l");
  const Mapped memory(bytes);
  std::memset(memory.place(), 1, memory.bytes());
  const Nanos begin = monotonic_now();
  if (::mlock(memory.place(), memory.bytes()) != 0)
    throw RunError("memory cannot be locked: " + std::generic_category().message(errno));
  const Nanos end = monotonic_now();
  ::munlock(memory.place(), memory.bytes());
  return {"page_lock", "bytes/s", static_cast<double>(bytes) / std::max(seconds(end - begin), 1e-9),
          0, "mlock"};
}

Figure locking_by_cuda(cuda::Runtime& runtime) {
  constexpr std::size_t kTimed = 5;
  const Mapped memory(kLocked);
  std::memset(memory.place(), 1, memory.bytes());
  std::vector<double> rates;
  for (std::size_t i = 0; i <= kTimed; ++i) {
    const Nanos begin = runtime.now();
    cuda::check("page-locking", runtime.register_host(memory.place(), memory.bytes()));
    const Nanos end = runtime.now();
    cuda::check("page-locking", runtime.unregister_host(memory.place()));
    const bool makes_context = i == 0;  // the first call of a process
    if (!makes_context)
      rates.push_back(static_cast<double>(kLocked) / std::max(seconds(end - begin), 1e-9));
  }
  std::sort(rates.begin(), rates.end());
  const double median = rates[kTimed / 2];
  return {"page_lock", "bytes/s", median, (rates.back() - rates.front()) / 2 / median,
          "cudaHostRegister"};
}

void measure_locking(const ProbeContext& probing, Outcome& outcome) {
  try {
    const bool has_gpu =
        probing.options.runtime && !cuda::why_no_gpu(probing.options.runtime.get());
    const Figure& figure = outcome.figures.emplace_back(
        has_gpu ? locking_by_cuda(*probing.options.runtime) : locking_by_mlock());
    outcome.lines.back() += fmt::format("; page-locking {} ({})", shown(figure), figure.condition);
  } catch (const RunError& error) {
    outcome.notes.push_back(fmt::format("page-locking is not measured: {}", error.what()));
  }
}

}  // namespace

void measure_memory(const ProbeContext& probing, Outcome& outcome) {
  const CpuSet& cores = probing.cpus.one_of_each_core;
  const auto threads = static_cast<std::size_t>(
      std::max(1.0, std::min(static_cast<double>(cores.size()), std::ceil(probing.cpus.usable))));
  const Bytes bytes = bytes_of_thread(probing.options, threads);
  const std::vector<Node> nodes = find_nodes(probing.options.root, cores);
  const bool has_nodes =
      nodes.size() > 1 && static_cast<double>(cores.size()) <= probing.cpus.usable;
  const Nanos time = probing.left() / (has_nodes ? 2 + std::ssize(nodes) : 2);
  const auto add = [&](const std::string& name, std::size_t count, const CpuSet& cpus) {
    const Rate rate = copies_by(count, bytes, cpus, time, probing.stop);
    if (!probing.is_running()) throw RunError("it was stopped");
    return outcome.figures.emplace_back(Figure{name, "bytes/s", rate.per_s, rate.noise});
  };
  const Figure one = add("copy_1", 1, cores);
  const Figure all = threads > 1 ? add(fmt::format("copy_{}", threads), threads, cores) : one;
  outcome.lines.push_back(
      fmt::format("memory copies: 1 thread {}, {} {}", shown(one), threads, shown(all)));
  for (const Node& node : nodes) {
    if (!has_nodes) break;
    const Figure figure =
        add(fmt::format("copy_node_{}", node.number), node.cpus.size(), node.cpus);
    outcome.lines.back() += fmt::format(", node {} {}", node.number, shown(figure));
  }
  outcome.ceilings.push_back({.supply = MachineResource::copying, .per_s = all.value});
  measure_locking(probing, outcome);
}

}  // namespace loaderscope::probe
