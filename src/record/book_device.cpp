// Waits for production on the device. A wait belongs to the task that ends last of those that run.
// While none runs, it belongs to the next one to begin, and at the end to the last one.
#include <algorithm>
#include <array>

#include "record/book_step.h"

namespace loaderscope {
namespace {

__extension__ typedef __int128 Wide;

// Returns the wait that begins at `at`, without its end.
DeviceWait wait_beginning_at(std::span<const DeviceWork> tasks, Nanos at) {
  const DeviceWork *running = nullptr, *next = nullptr, *last = nullptr;
  for (const DeviceWork& task : tasks) {
    if (at < task.at.begin) {
      if (next == nullptr || task.at.begin < next->at.begin) next = &task;
      continue;
    }
    if (last == nullptr || task.at.end > last->at.end) last = &task;
    if (at < task.at.end && (running == nullptr || task.at.end > running->at.end)) running = &task;
  }
  DeviceWait wait;
  wait.range.begin = at;
  wait.runs = running != nullptr;
  wait.task = running != nullptr ? running : next != nullptr ? next : last;
  return wait;
}

}  // namespace

Nanos prorate(Nanos whole, TimeRange over, TimeRange within) {
  if (whole == 0 || over.empty()) return 0;
  const auto up_to = [&](Nanos at) {
    const Nanos inside = std::clamp(at, over.begin, over.end) - over.begin;
    return static_cast<Nanos>(static_cast<Wide>(whole) * inside / over.length());
  };
  return up_to(within.end) - up_to(within.begin);
}

Nanos queued_time(const Interval& work, TimeRange within) {
  if (!work.ran()) return 0;
  const TimeRange whole = {work.begin, work.end}, inside = intersect(whole, within);
  return inside.empty() ? 0 : prorate(std::min(work.queued, whole.length()), whole, inside);
}

void visit_device_waits(const StepEvents& events, TimeRange within,
                        const std::function<void(const DeviceWait&)>& visit) {
  const std::span<const DeviceWork> tasks = events.device_work();
  std::array<Nanos, 2 * kMaxDeviceWork + 1> ends{};  // between two of them nothing changes
  std::size_t count = 0;
  for (const DeviceWork& task : tasks)
    for (const Nanos at : {task.at.begin, task.at.end})
      if (within.begin < at && at < within.end) ends.at(count++) = at;
  ends.at(count++) = within.end;
  std::sort(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(count));
  Nanos at = within.begin;
  for (const Nanos end : std::span(ends).first(count)) {
    if (end <= at) continue;
    DeviceWait wait = wait_beginning_at(tasks, at);
    wait.range.end = at = end;
    // A task that has not begun may still be in the host's call.
    if (wait.range.begin < wait.task->at.begin)
      wait.queued = queued_time(wait.task->submit, wait.range);
    visit(wait);
  }
}

}  // namespace loaderscope
