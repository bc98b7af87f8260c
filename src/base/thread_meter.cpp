#include "base/thread_meter.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace loaderscope {
namespace {

Nanos read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

int open_schedstat() { return ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC); }

// "cpu-ns run-queue-delay-ns timeslices"
std::optional<Nanos> read_delay(int descriptor) {
  std::array<char, 96> text{};
  const ssize_t length = ::pread(descriptor, text.data(), text.size(), 0);
  if (length <= 0) return std::nullopt;
  const std::string_view line(text.data(), static_cast<std::size_t>(length));
  const auto space = line.find(' ');
  if (space == line.npos) return std::nullopt;
  Nanos delay = 0;
  const auto read = std::from_chars(line.data() + space + 1, line.data() + line.size(), delay);
  return read.ec == std::errc{} ? std::optional(delay) : std::nullopt;
}

}  // namespace

Nanos run_queue_delay_of_thread() {
  const int descriptor = open_schedstat();
  if (descriptor < 0) return 0;
  const std::optional<Nanos> delay = read_delay(descriptor);
  ::close(descriptor);
  return delay.value_or(0);
}

Nanos monotonic_now() { return read_clock(CLOCK_MONOTONIC); }
Nanos thread_cpu_now() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

CpuMeter::Reading CpuMeter::read_uncached() {
  stay_ = RescheduleDetector::number();
  last_.cpu = thread_cpu_now();
  last_.at = monotonic_now();
  return last_;
}

RunQueueMeter::RunQueueMeter() : descriptor_(open_schedstat()) {
  if (descriptor_ < 0) error_ = errno;
  last_ = total();
}

RunQueueMeter::~RunQueueMeter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Nanos RunQueueMeter::total() const {
  return descriptor_ < 0 ? 0 : read_delay(descriptor_).value_or(last_);
}

Nanos RunQueueMeter::read() {
  const Nanos now = total();
  return now - std::exchange(last_, now);
}

Nanos RunQueueMeter::read_if_it_left() {
  const std::uint64_t stay = RescheduleDetector::number();
  return stay == std::exchange(stay_, stay) ? 0 : read();
}

Nanos RunQueueMeter::read_at_most(Nanos most) {
  return std::clamp<Nanos>(read(), 0, std::max<Nanos>(most, 0));
}

}  // namespace loaderscope
