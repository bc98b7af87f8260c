#include "loaderscope/recorder.h"

#include <mutex>
#include <utility>
#include <vector>

namespace loaderscope {

struct Recorder::Impl {
  Folder folder;
  std::size_t ring_capacity;
  std::mutex mutex;  // of what follows; taken once per thread and once per step, never per span
  std::vector<std::unique_ptr<ThreadLog>> logs;
  std::vector<std::pair<std::int32_t, Nanos>> first_asks;
  std::vector<std::pair<std::int32_t, StepEvents>> steps;

  Impl(const FoldOptions& options, std::size_t capacity)
      : folder(options), ring_capacity(capacity) {}
};

Recorder::Recorder(const FoldOptions& options, std::size_t ring_capacity)
    : impl_(std::make_unique<Impl>(options, ring_capacity)) {}
Recorder::~Recorder() = default;

ThreadLog& Recorder::add_thread(std::int32_t rank, std::int32_t worker) {
  const std::lock_guard lock(impl_->mutex);
  impl_->logs.push_back(std::make_unique<ThreadLog>(rank, worker, impl_->ring_capacity));
  return *impl_->logs.back();
}

void Recorder::first_ask(std::int32_t rank, Nanos at) {
  const std::lock_guard lock(impl_->mutex);
  impl_->first_asks.emplace_back(rank, at);
}

void Recorder::step(std::int32_t rank, const StepEvents& events) {
  const std::lock_guard lock(impl_->mutex);
  impl_->steps.emplace_back(rank, events);
}

void Recorder::drain() {
  std::vector<std::pair<std::int32_t, Nanos>> first_asks;
  std::vector<std::pair<std::int32_t, StepEvents>> steps;
  std::vector<ThreadLog*> logs;
  {
    const std::lock_guard lock(impl_->mutex);
    first_asks.swap(impl_->first_asks);
    steps.swap(impl_->steps);
    for (const auto& log : impl_->logs) logs.push_back(log.get());
  }
  for (const auto& [rank, at] : first_asks) impl_->folder.first_ask(rank, at);
  // Whatever a step depends on was written before the step, so it is in the rings by now.
  for (ThreadLog* log : logs) {
    ThreadLog::Entry entry;
    while (log->pop(entry)) {
      if (entry.kind == ThreadLog::Kind::span) {
        impl_->folder.span(log->rank_, log->worker_, entry.span);
      } else {
        impl_->folder.deliverable(log->rank_, entry.batch, entry.at);
      }
    }
  }
  for (const auto& [rank, events] : steps) impl_->folder.step(rank, events);
}

std::int64_t Recorder::lost() const {
  const std::lock_guard lock(impl_->mutex);
  std::int64_t lost = 0;
  for (const auto& log : impl_->logs) lost += log->lost();
  return lost;
}

std::vector<RankRecord> Recorder::finish() {
  drain();
  return impl_->folder.finish();
}

}  // namespace loaderscope
