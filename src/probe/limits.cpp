// Measures the resources that this process may use, and the clock.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <charconv>
#include <fstream>

#include "analysis/wording.h"
#include "machine/cgroup.h"
#include "machine/machine.h"
#include "machine/proc_file.h"
#include "machine/topology.h"
#include "probe/measurement.h"

namespace loaderscope::probe {
namespace {

namespace fs = std::filesystem;

// The soft limit in the line "KEY  SOFT  HARD  UNIT" of /proc/self/limits; -1: unlimited.
std::optional<std::int64_t> parse_limit(const std::string& text, std::string_view key) {
  const auto at = text.find(key);
  if (at == text.npos) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(at + key.size());
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(' ')));
  if (rest.starts_with("unlimited")) return -1;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return error == std::errc() && value >= 0 ? std::optional(value) : std::nullopt;
}

std::string first_line(const fs::path& file) {
  const std::string text = read_text(file.string());
  return text.substr(0, text.find('\n'));
}

// "always [madvise] never": the word that holds.
std::string chosen_word(const std::string& line) {
  const auto begin = line.find('['), end = line.find(']');
  return begin == line.npos || end == line.npos || end < begin
             ? line
             : line.substr(begin + 1, end - begin - 1);
}

class Limits {
 public:
  Limits(const ProbeContext& probing, Outcome& outcome)
      : root_(probing.options.root), probing_(probing), outcome_(outcome) {}

  void read() {
    read_cpus();
    read_memory();
    read_process_limits();
    read_kernel();
    if (!unseen_.empty()) outcome_.notes.push_back("not to be seen here: " + unseen_);
  }

 private:
  Figure& add(const char* name, const char* unit, double value, bool is_compared = true) {
    Figure figure{name, unit, value};
    figure.is_compared = is_compared;
    return outcome_.figures.emplace_back(std::move(figure));
  }
  void unseen(const std::string& what) { unseen_ += (unseen_.empty() ? "" : ", ") + what; }

  void read_cpus() {
    const CpuSet allowed = cpus_of_process(root_, ::getpid());
    const auto quota = cgroup_cores(root_);
    const auto throttled = cgroup_throttled(root_);
    std::string line = "limits: ";
    if (allowed.empty()) {
      unseen("the affinity");
    } else {
      add("cpus", "count", static_cast<double>(allowed.size()));
      line += fmt::format("{} allowed, ", plural(std::ssize(allowed), "CPU"));
    }
    if (quota) add("quota", "cores", *quota);
    line += quota ? "quota " + format_cores(*quota) : "no quota";
    if (throttled) add("throttled", "s", *throttled, false);
    if (throttled.value_or(0) > 0) line += fmt::format(", throttled {:.3g} s so far", *throttled);
    if (quota && !allowed.empty() && *quota < static_cast<double>(allowed.size()))
      outcome_.notes.push_back(
          fmt::format("the quota lets {} work on {}: more workers than cores are throttled",
                      format_cores(*quota), plural(std::ssize(allowed), "CPU")));
    read_slurm(allowed, line);
    outcome_.lines.push_back(line);
  }

  void read_slurm(const CpuSet& allowed, std::string& line) {
    const std::string& given = probing_.options.slurm_cpus;
    if (given.empty()) return;
    std::int64_t cpus = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), cpus);
    if (error != std::errc() || cpus < 1 || end != given.data() + given.size()) return;
    add("slurm_cpus_per_task", "count", static_cast<double>(cpus));
    line += fmt::format(", SLURM_CPUS_PER_TASK {}", cpus);
    if (!allowed.empty() && cpus != std::ssize(allowed))
      outcome_.notes.push_back(fmt::format("SLURM_CPUS_PER_TASK says {}, and {} may be used", cpus,
                                           plural(std::ssize(allowed), "CPU")));
  }

  void read_memory() {
    const auto meminfo =
        read_values((root_ / "proc/meminfo").string(), {"MemTotal", "SwapTotal", "SwapFree"});
    const auto limit = cgroup_memory(root_);
    std::string& line = outcome_.lines.back();
    std::optional<Bytes> most = limit;
    if (meminfo[0]) most = std::min(*meminfo[0] * kKibi, limit.value_or(INT64_MAX));
    if (most) {
      add("memory", "bytes", static_cast<double>(*most));
      line += "; memory " + format_size(static_cast<double>(*most));
      if (limit == most) line += " (limit)";
    } else {
      unseen("memory");
    }
    if (const auto free = free_memory(root_)) {
      add("memory_free", "bytes", static_cast<double>(*free), false);
      line += fmt::format(", {} free", format_size(static_cast<double>(*free)));
    }
    if (meminfo[1]) add("swap", "bytes", static_cast<double>(*meminfo[1] * kKibi));
    if (meminfo[1] && meminfo[2])
      add("swap_used", "bytes", static_cast<double>((*meminfo[1] - *meminfo[2]) * kKibi), false);
    read_shared();
  }

  void read_shared() {
    struct statvfs state {};
    if (::statvfs((root_ / "dev/shm").c_str(), &state) != 0 || state.f_blocks == 0)
      return unseen("/dev/shm");
    const auto block = static_cast<double>(state.f_frsize);
    const double size = static_cast<double>(state.f_blocks) * block;
    const double free = static_cast<double>(state.f_bavail) * block;
    add("shm", "bytes", size);
    add("shm_free", "bytes", free, false);
    outcome_.lines.back() +=
        fmt::format("; /dev/shm {}, {} free", format_size(size), format_size(free));
    constexpr double kSmall = 1 << 30;
    if (size < kSmall)
      outcome_.notes.push_back(fmt::format(
          "/dev/shm has {}: workers of PyTorch hand batches on in it (docker run --shm-size 16g)",
          format_size(size)));
  }

  void read_process_limits() {
    const std::string limits = read_text((root_ / "proc/self/limits").string());
    const auto locked = parse_limit(limits, "Max locked memory");
    const auto files = parse_limit(limits, "Max open files");
    std::string line;
    const auto say = [&](const char* what, std::int64_t value, const std::string& shown) {
      line +=
          fmt::format("{}{} {}", line.empty() ? "" : ", ", what, value < 0 ? "unlimited" : shown);
    };
    if (locked) {
      say("memlock", *locked, format_size(static_cast<double>(*locked)));
      if (*locked >= 0) add("memlock", "bytes", static_cast<double>(*locked));
    } else {
      unseen("memlock");
    }
    if (files) {
      say("open files", *files, format_count(*files));
      if (*files >= 0) add("open_files", "count", static_cast<double>(*files));
    } else {
      unseen("the limit of open files");
    }
    outcome_.lines.push_back("  " + line);
  }

  void say_fact(const char* name, const fs::path& file, bool is_chosen) {
    std::string value = first_line(root_ / file);
    if (is_chosen) value = chosen_word(value);
    if (value.empty()) return;
    outcome_.facts.push_back({name, value});
    outcome_.lines.back() += fmt::format(", {} {}", name, value);
  }

  void read_kernel() {
    say_fact("governor", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", false);
    say_fact("huge pages", "sys/kernel/mm/transparent_hugepage/enabled", true);
    for (const Figure& figure : outcome_.figures) {
      if (figure.name == "swap")
        outcome_.lines.back() += figure.value > 0 ? ", swap " + shown(figure) : ", no swap";
    }
    std::ifstream stat_file(root_ / "proc/stat");
    std::string label;
    std::array<double, 8> ticks{};
    stat_file >> label;
    for (double& value : ticks) stat_file >> value;
    double sum = 0;
    for (const double value : ticks) sum += value;
    if (!stat_file || label != "cpu" || sum <= 0) return unseen("steal");
    const Figure& steal = add("steal", "share", ticks[7] / sum, false);
    outcome_.lines.back() += fmt::format(", steal {} since boot", shown(steal));
    if (outcome_.lines.back().starts_with("  , ")) outcome_.lines.back().erase(2, 2);
  }

  const fs::path& root_;
  const ProbeContext& probing_;
  Outcome& outcome_;
  std::string unseen_;
};

}  // namespace

void measure_limits(const ProbeContext& probing, Outcome& outcome) {
  Limits(probing, outcome).read();
}

void measure_clock(const ProbeContext& probing, Outcome& outcome) {
  constexpr int kReadings = 1000;
  const Rate rate = measure_rate({[] {
                                   for (int i = 0; i < kReadings; ++i) monotonic_now();
                                   return double{kReadings};
                                 }},
                                 {}, std::min(probing.left(), 60 * kMillisecond), probing.stop);
  if (rate.per_s <= 0) throw RunError("it was stopped");
  outcome.figures.push_back({"reading", "s", 1 / rate.per_s, rate.noise});
  const std::string source = first_line(
      probing.options.root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!source.empty()) outcome.facts.push_back({"clocksource", source});
  outcome.lines.push_back(fmt::format("clock: {:.3g} ns a reading{}", 1e9 / rate.per_s,
                                      source.empty() ? "" : " (" + source + ")"));
  constexpr double kSlow = 200e-9;  // a system call for each
  if (1 / rate.per_s > kSlow)
    outcome.notes.push_back("the clock is read by a system call: what times much is slower here");
}

}  // namespace loaderscope::probe
