#include "record/recorder.h"

#include <bit>
#include <exception>
#include <mutex>
#include <utility>

#include "base/shared_memory.h"
#include "record/shared_ring.h"

namespace loaderscope {

struct Recorder::Impl {
  Folder folder;
  std::size_t ring_capacity;
  std::pmr::memory_resource& memory;
  std::mutex mutex;  // guards the members below; taken once per thread and step, never per span
  std::vector<ArenaPtr<ThreadLog>> logs;
  std::vector<std::pair<std::int32_t, Nanos>> first_asks;
  std::vector<std::pair<std::int32_t, StepEvents>> steps;
  std::vector<std::int32_t> closed;
  // Buffers of drain(), kept to reuse their memory.
  std::vector<std::pair<std::int32_t, Nanos>> drained_asks;
  std::vector<std::pair<std::int32_t, StepEvents>> drained_steps;
  std::vector<std::int32_t> drained_closed;
  std::vector<ThreadLog*> drained_logs;

  Impl(const FoldOptions& options, std::size_t capacity, std::pmr::memory_resource& log_memory)
      : folder(options), ring_capacity(capacity), memory(log_memory) {}
};

Recorder::Recorder(const FoldOptions& options, std::size_t ring_capacity,
                   std::pmr::memory_resource& memory)
    : impl_(std::make_unique<Impl>(options, ring_capacity, memory)) {}
Recorder::~Recorder() = default;

ThreadLog& Recorder::add_thread(std::int32_t rank, std::int32_t worker) {
  const std::lock_guard lock(impl_->mutex);
  impl_->logs.push_back(
      place<ThreadLog>(impl_->memory, rank, worker, impl_->ring_capacity, impl_->memory));
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

void Recorder::close(std::int32_t rank) {
  const std::lock_guard lock(impl_->mutex);
  impl_->closed.push_back(rank);
}

void Recorder::drain() {
  Impl& impl = *impl_;
  impl.drained_asks.clear();
  impl.drained_steps.clear();
  impl.drained_closed.clear();
  impl.drained_logs.clear();
  {
    const std::lock_guard lock(impl.mutex);
    impl.drained_asks.swap(impl.first_asks);
    impl.drained_steps.swap(impl.steps);
    impl.drained_closed.swap(impl.closed);
    for (const auto& log : impl.logs) impl.drained_logs.push_back(log.get());
  }
  for (const auto& [rank, at] : impl.drained_asks) impl.folder.first_ask(rank, at);
  // All that a step depends on was written before the step, so it is already in the rings.
  for (ThreadLog* log : impl.drained_logs) {
    log->ring_->take_all([&](const ThreadLog::Entry& entry) {
      if (entry.kind == ThreadLog::Kind::span) {
        impl.folder.span(log->rank_, log->worker_, entry.span);
      } else {
        impl.folder.deliverable(log->rank_, entry.batch, entry.at);
      }
    });
  }
  std::exception_ptr failure;
  for (const auto& [rank, events] : impl.drained_steps) {
    try {
      impl.folder.step(rank, events);
    } catch (...) {
      if (!failure) failure = std::current_exception();  // later steps are folded too
    }
  }
  for (const std::int32_t rank : impl.drained_closed) impl.folder.close(rank);
  if (failure) std::rethrow_exception(failure);
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

void ThreadLog::Benefit::operator()(void* ring) const {
  memory->deallocate(ring, bytes, Ring::kAlignment);
}

ThreadLog::ThreadLog(std::int32_t rank, std::int32_t worker, std::size_t capacity,
                     std::pmr::memory_resource& memory)
    : rank_(rank), worker_(worker) {
  // The view lies in front of its ring.
  constexpr std::size_t kViewBytes = Ring::kAlignment;
  static_assert(sizeof(Ring) <= kViewBytes);
  const std::size_t entries = std::bit_ceil(capacity),
                    bytes = kViewBytes + Ring::bytes_for(entries);
  own_ = std::unique_ptr<void, Benefit>(memory.allocate(bytes, Ring::kAlignment),
                                        Benefit{&memory, bytes});
  void* shared = static_cast<std::byte*>(own_.get()) + kViewBytes;
  Ring::clear(shared);
  ring_ = new (own_.get()) Ring(shared, entries);
}

void ThreadLog::push(const Entry& entry) { ring_->push(entry); }

std::int64_t ThreadLog::lost() const { return ring_->lost(); }

}  // namespace loaderscope
