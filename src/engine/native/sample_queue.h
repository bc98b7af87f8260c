// Sample tasks: batches in the order of dispatch, handed out sample by sample.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/native/blocking_queue.h"
#include "engine/native/slot_room.h"
#include "engine/pipeline/device_plan.h"
#include "loaderscope/events.h"

namespace loaderscope::native {

// A batch on its way: one of a fixed number of objects, each with its own place in host memory.
struct Batch {
  explicit Batch(std::size_t most_samples = 0,
                 std::pmr::memory_resource& memory = *std::pmr::get_default_resource())
      : samples(&memory) {
    samples.reserve(most_samples);
  }

  StepEvents events;
  std::int64_t batch_of_epoch = 0;
  std::pmr::vector<std::int64_t> samples;  // indices in the data set
  std::byte* written = nullptr;            // target of workers; null when nothing is written
  std::byte* copied_from = nullptr;        // memory that the device copies
  SlotRoom room;                           // mixed slots: room that is left
  std::int64_t next_sample = 0;            // sample tasks: the next one to begin
  std::atomic<std::int64_t> samples_left{0};
  // Orders what the trainer writes before what the pin thread reads also for a sanitizer, which
  // sees nothing of the worker process in between.
  std::atomic<std::int64_t> dispatches{0};
  std::atomic<Bytes> read_bytes{0};
  std::atomic<std::int64_t> opened{0}, requests{0}, allocations{0};  // counts for its samples
  std::atomic<Nanos> device_decode{0}, device_augment{0};            // sums, as in DeviceShare
  std::atomic<Bytes> device_copied{0};
  std::atomic<std::int32_t> device_decoded{0};

  // Bytes in the slot.
  Bytes filled(const BatchLayout& layout) const {
    return layout.is_mixed() ? layout.table_bytes + room.used() : events.delivered_bytes;
  }
  void forget_work() {
    for (auto* count :
         {&opened, &requests, &allocations, &device_decode, &device_augment, &device_copied})
      count->store(0, std::memory_order_relaxed);
    device_decoded.store(0, std::memory_order_relaxed);
  }
  void add_device_work(const DeviceShare& more) {
    device_decode.fetch_add(more.decode, std::memory_order_relaxed);
    device_augment.fetch_add(more.augment, std::memory_order_relaxed);
    device_copied.fetch_add(more.copied, std::memory_order_relaxed);
    device_decoded.fetch_add(more.decoded, std::memory_order_relaxed);
  }
  DeviceShare device_work() const {
    return {std::min(device_decode.load(), kMaxCost), std::min(device_augment.load(), kMaxCost),
            device_copied.load(), device_decoded.load()};
  }
  void add_work(const WorkCounts& more) {
    opened.fetch_add(more.opened, std::memory_order_relaxed);
    requests.fetch_add(more.requests, std::memory_order_relaxed);
    allocations.fetch_add(more.allocations, std::memory_order_relaxed);
  }
  WorkCounts work() const { return {opened.load(), requests.load(), allocations.load()}; }
};

class SampleQueue : public WaitingRing<Batch*> {
 public:
  explicit SampleQueue(std::size_t batches,
                       std::pmr::memory_resource& memory = *std::pmr::get_default_resource())
      : WaitingRing(batches, memory) {}

  void push(Batch* batch) {
    {
      const std::lock_guard lock(mutex_);
      put(batch);
    }
    ready_.notify_all();
  }

  struct Task {
    Batch* batch;
    std::int64_t position;
    bool waited;
  };
  // Returns nothing once the queue is closed.
  std::optional<Task> pop() {
    std::unique_lock lock(mutex_);
    const bool waits = is_empty() && !is_closed();
    wait_for_item(lock);
    return is_closed() ? std::nullopt : std::optional(take(waits));
  }
  // Returns nothing if the queue is closed or empty.
  std::optional<Task> try_pop() {
    const std::lock_guard lock(mutex_);
    return is_closed() || is_empty() ? std::nullopt : std::optional(take(false));
  }

  // Empties and reopens the queue. Requires that no thread waits in it.
  void reopen() {
    const std::lock_guard lock(mutex_);
    open_empty();
  }

 private:
  Task take(bool waited) {
    Batch* batch = first();
    const std::int64_t position = batch->next_sample++;
    if (batch->next_sample == batch->events.samples) drop_first();
    return {batch, position, waited};
  }
};

}  // namespace loaderscope::native
