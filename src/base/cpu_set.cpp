#include "base/cpu_set.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <sstream>
#include <string>

namespace loaderscope {
namespace {

constexpr int kMaxCpus = 1 << 20;

class KernelSet {
 public:
  explicit KernelSet(int cpus)
      : bytes_(CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus))),
        set_(CPU_ALLOC(static_cast<std::size_t>(cpus)), [](cpu_set_t* s) { CPU_FREE(s); }) {}
  explicit operator bool() const { return set_ != nullptr; }
  cpu_set_t* get() const { return set_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set_;
};

// The number at the beginning of `text`, which is cut off.
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value >= kMaxCpus) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return value;
}

// Reads the fields after "cpu17": user nice system idle iowait irq softirq steal. Guest time is
// part of user.
double busy_ticks(std::istream& line) {
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
  line >> user >> nice >> system >> idle >> iowait >> irq >> softirq;
  return user + nice + system + irq + softirq;
}

}  // namespace

CpuSet allowed_cpus() {
  for (int cpus = 1024; cpus <= kMaxCpus; cpus *= 4) {
    const KernelSet set(cpus);
    if (!set || ::sched_getaffinity(0, set.bytes(), set.get()) != 0) continue;
    CpuSet allowed;
    for (int cpu = 0; cpu < cpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), set.bytes(), set.get()))
        allowed.push_back(cpu);
    }
    return allowed;
  }
  return {};
}

bool run_on(const CpuSet& cpus) {
  if (cpus.empty()) return false;
  const KernelSet set(cpus.back() + 1);
  if (!set) return false;
  CPU_ZERO_S(set.bytes(), set.get());
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), set.bytes(), set.get());
  return ::sched_setaffinity(0, set.bytes(), set.get()) == 0;
}

OnCpus::OnCpus(const CpuSet& cpus) : before_(allowed_cpus()) {
  holds_ = !before_.empty() && run_on(cpus);
}

OnCpus::~OnCpus() {
  if (holds_) run_on(before_);
}

CpuSet parse_cpu_list(std::string_view text) {
  CpuSet cpus;
  while (!text.empty()) {
    const std::optional<int> first = take_number(text);
    if (!first || (!cpus.empty() && *first <= cpus.back())) break;
    std::optional<int> last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text);
      if (!last) break;
    }
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    if (!text.starts_with(',')) break;
    text.remove_prefix(1);
  }
  return cpus;
}

std::string cpu_list_to_text(const CpuSet& cpus) {
  std::string text;
  for (auto first = cpus.begin(); first != cpus.end();) {
    auto last = first;
    while (last + 1 != cpus.end() && last[1] == *last + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(*first);
    if (last != first) text += "-" + std::to_string(*last);
    first = last + 1;
  }
  return text;
}

std::optional<double> busy_seconds(std::istream& proc_stat, const CpuSet& cpus) {
  double ticks = 0;
  std::size_t found = 0;
  for (std::string text; std::getline(proc_stat, text) && text.starts_with("cpu");) {
    std::istringstream line(text.substr(3));
    int cpu = 0;
    if (text.starts_with("cpu ") || !(line >> cpu)) continue;  // the sum of all
    if (!std::binary_search(cpus.begin(), cpus.end(), cpu)) continue;
    ticks += busy_ticks(line);
    ++found;
  }
  if (cpus.empty() || found != cpus.size()) return std::nullopt;
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace loaderscope
