#include "guest/host/lock_watch.h"

#include <sys/syscall.h>

#include <csignal>
#include <fstream>
#include <sstream>

namespace loaderscope::guest {

// "202 0x7f11... 0x189 ...": the number of the call and its arguments; "running" has none. A wait
// for the lock is a futex on its condition variable.
bool is_lock_wait(std::string_view syscall, const InterpreterState& state) {
  std::istringstream words{std::string(syscall)};
  long number = -1;
  std::uint64_t address = 0;
  if (!(words >> number >> std::hex >> address) || number != SYS_futex) return false;
  return address >= state.address && address - state.address < state.size;
}

void LockWatch::know(pid_t process, const InterpreterState& state) {
  constexpr std::size_t kMax = 4096;
  if (states_.size() >= kMax)
    std::erase_if(states_, [](const auto& one) { return ::kill(one.first, 0) != 0; });
  if (states_.size() < kMax) states_[process] = state;
}

bool LockWatch::waits_now(pid_t process) const {
  const auto state = states_.find(process);
  std::ifstream file("/proc/" + std::to_string(process) + "/syscall");
  std::string text;
  return state != states_.end() && std::getline(file, text) && is_lock_wait(text, state->second);
}

void LockWatch::look(pid_t process, bool is_worker) {
  const auto state = states_.find(process);
  if (state == states_.end() || state->second.size == 0) return;
  std::ifstream file("/proc/" + std::to_string(process) + "/syscall");
  std::string text;
  if (!std::getline(file, text)) {
    refused_ = true;
    return;
  }
  Looks& looks = is_worker ? workers_ : trainers_;
  ++looks.all;
  if (is_lock_wait(text, state->second)) ++looks.waiting;
}

std::vector<Metric> LockWatch::metrics() const {
  std::vector<Metric> metrics;
  const auto add = [&](const Looks& looks, const char* name, const char* help) {
    if (looks.all == 0) return;
    metrics.push_back(make_metric(
        name, help, static_cast<double>(looks.waiting) / static_cast<double>(looks.all)));
  };
  add(workers_, metric::gil_worker_wait_share,
      "of the time that workers wait for Python's interpreter lock, by looks from outside");
  add(trainers_, metric::gil_trainer_wait_share, "the same of the trainers' main threads");
  return metrics;
}

std::string LockWatch::unknown() const {
  if (workers_.all + trainers_.all > 0) return "";
  const char* why = refused_ ? "/proc/PID/syscall cannot be read here"
                             : "this Python does not show where it keeps its lock";
  return std::string("waits for Python's interpreter lock are not known: ") + why;
}

}  // namespace loaderscope::guest
