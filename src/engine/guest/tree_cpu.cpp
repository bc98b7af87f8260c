#include "engine/guest/tree_cpu.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <vector>

#include "measure/thread_meter.h"

namespace loaderscope::guest {
namespace {

constexpr Nanos kBetweenLooks = 100 * kMillisecond;

std::optional<Nanos> cpu_of(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    return std::nullopt;
  return time.tv_sec * kSecond + time.tv_nsec;
}

// Any thread may have started some.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code ignored;
  const std::string threads = "/proc/" + std::to_string(process) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(threads, ignored)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace

Nanos TreeCpu::read() {
  std::vector<pid_t> to_visit = {root_};
  while (!to_visit.empty()) {
    const pid_t process = to_visit.back();
    to_visit.pop_back();
    if (const auto used = cpu_of(process)) used_[process] = *used;
    for (const pid_t child : children_of(process)) to_visit.push_back(child);
  }
  Nanos sum = 0;
  for (const auto& [process, used] : used_) sum += used;
  return sum;
}

void TreeCpu::look(bool window_has_begun, bool window_has_ended) {
  const bool begins = window_has_begun && !at_begin_;
  const bool ends = window_has_ended && !ended_;
  if (ended_ || (!begins && !ends && monotonic_now() - last_look_ < kBetweenLooks)) return;
  now_ = read();
  last_look_ = monotonic_now();
  if (begins) at_begin_ = now_;
  ended_ = window_has_ended;
}

std::optional<double> TreeCpu::seconds() const {
  if (!at_begin_) return std::nullopt;
  return static_cast<double>(now_ - *at_begin_) / static_cast<double>(kSecond);
}

}  // namespace loaderscope::guest
