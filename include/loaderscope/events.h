// Reports of a running engine: spans of worker time, and the events of each step. The account,
// percentiles and the verdict are computed from these two.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "loaderscope/units.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope {

inline constexpr Nanos kNever = std::numeric_limits<Nanos>::max();

// A time range of one worker. The spans of a worker are in order of time and do not overlap. The
// time between two spans is booked to `other`.
struct Span {
  Nanos begin = 0;
  Nanos end = 0;
  Nanos cpu = 0;             // CPU time
  Nanos queued = 0;          // run-queue delay; cpu + queued <= end - begin
  std::int64_t batch = -1;   // dispatch index within the rank; -1: startup, idle
  std::int64_t sample = -1;  // index in the data set; -1: the span handles no single sample
  Bytes bytes = 0;           // handled: stored bytes read, delivered bytes collated
  Stage stage = Stage::opaque;

  bool operator==(const Span&) const = default;
};
static_assert(sizeof(Span) == 64 && std::is_trivially_copyable_v<Span>);

// A stretch of a batch's way that is not a worker's time: sending, receiving, pinning, copying,
// computing.
struct Interval {
  Nanos begin = kNever;
  Nanos end = kNever;
  Nanos cpu = 0;
  Nanos queued = 0;

  bool ran() const { return begin != kNever; }
  Nanos wall() const { return ran() ? end - begin : 0; }
  bool operator==(const Interval&) const = default;
};

// A task of the device for the loader: one piece of work on one batch in one lane.
struct DeviceWork {
  Stage stage = Stage::h2d;  // h2d, gpu_decode or gpu_augment
  Lane lane = Lane::copy;
  Interval submit;  // call of the host
  Interval at;      // run on the device

  bool operator==(const DeviceWork&) const = default;
};
inline constexpr std::size_t kMaxDeviceWork = 6;  // tasks of a batch

// Requests of the calling thread to the machine. The difference of two readings counts the requests
// between them. The same code repeats the counts exactly.
struct WorkCounts {
  std::int64_t opened = 0;       // files, and shards
  std::int64_t requests = 0;     // reads and mappings
  std::int64_t allocations = 0;  // calls of operator new, if they are counted

  WorkCounts operator-(const WorkCounts& before) const {
    return {opened - before.opened, requests - before.requests, allocations - before.allocations};
  }
  WorkCounts& operator+=(const WorkCounts& more) {
    opened += more.opened;
    requests += more.requests;
    allocations += more.allocations;
    return *this;
  }
  bool operator==(const WorkCounts&) const = default;
};

inline thread_local constinit WorkCounts thread_counts;

// All that is known of one step of one rank once the begin and end of its compute are known.
struct StepEvents {
  std::int64_t step = 0;  // delivery index within the rank, from 0, warm-up included
  std::int64_t batch =
      0;  // dispatch index within the rank; equals `step` when batches are delivered in order
  std::int32_t epoch = 0;
  bool first_of_epoch = false;
  bool warmup = false;
  bool made_by_trainer = false;  // 0 workers: the trainer made it after it asked
  std::int32_t worker = 0;       // worker that finished it
  std::int32_t samples = 0;
  Bytes read_bytes = 0;
  Bytes delivered_bytes = 0;
  WorkCounts work;  // work on its samples, if it is counted

  Nanos epoch_dispatch = 0;  // dispatch of the first task of this epoch
  Nanos dispatched = 0;
  Nanos begun = 0;  // first work of `worker` on this batch
  Nanos worker_idle =
      0;  // idle time of the worker since its previous batch, because the window was full
  Nanos finished = 0;  // the last sample is in place and collated

  Interval send;  // work of the worker's feeder, after it waited for its turn
  // Wait before `send`, until the worker thread releases the interpreter.
  Nanos kept_from_sending = 0;
  Interval receive;  // work of the pin thread; without one, of the trainer, between `deliverable`
                     // and `take`
  // Wait within `receive`, until the process of `worker` hands over memory while it makes batches.
  Nanos answering = 0;
  Interval pin;
  // Production on the device. The device thread submits the tasks in this order. Without tasks, the
  // other values have no meaning.
  std::array<DeviceWork, kMaxDeviceWork> made;
  std::uint8_t made_count = 0;
  // The trainer submits the tasks itself once it has the batch, and no device thread exists. The
  // tasks are in the order of time, do not overlap, and come after the copy. `handed`, `slot_wait`
  // and `submitted` have no meaning.
  bool submitted_by_trainer = false;
  Nanos handed = 0;        // arrival in the queue of the device thread
  Nanos slot_wait = 0;     // wait of the device thread for a free slot of the device
  Nanos submitted = 0;     // end of the trainer's call that submits the compute
  Bytes copied_bytes = 0;  // copied to the device by the tasks
  // Arrival in the queue from which the trainer takes. Tasks of the device may still run.
  Nanos deliverable = 0;
  Nanos ask = 0;   // the trainer asks for its next batch
  Nanos take = 0;  // the trainer has the batch
  // Run-queue delay of the trainer while its batch or result was ready. The first is just before it
  // asked, the second just before it received or took the batch.
  Nanos ask_queued = 0, take_queued = 0;

  Interval copy;    // `queued`: delay of the trainer's thread, if that copies
  Interval launch;  // the trainer's work between the copy's submission and the compute's
  Nanos ready = 0;  // this rank could begin to compute; before compute.begin only when it waits for
                    // other ranks
  Interval compute;
  // Production on the device that a compute of the program hid, and that no task includes.
  Nanos hidden_production = 0;

  std::span<const DeviceWork> device_work() const {
    return {made.data(), std::min<std::size_t>(made_count, kMaxDeviceWork)};
  }
  bool is_made_on_device() const { return made_count > 0; }
  bool has_device_thread() const { return is_made_on_device() && !submitted_by_trainer; }
  // Adds a task that the trainer submitted itself, in the order of time.
  void add_trainer_task(Stage stage, const Interval& at) {
    if (made_count == kMaxDeviceWork) return;
    submitted_by_trainer = true;
    made[made_count++] = {stage, Lane::compute, {at.begin, at.begin, 0, 0}, at};
  }
  // End of the last task of the device; 0 without tasks.
  Nanos made_end() const {
    Nanos end = 0;
    for (const DeviceWork& task : device_work()) end = std::max(end, task.at.end);
    return end;
  }
  // The device ends its tasks after the trainer did all that it does before the compute.
  bool is_made_late() const {
    return is_made_on_device() &&
           made_end() > std::max({take, submitted, copy.ran() ? copy.end : 0});
  }
  // Without a thread that receives or pins, the trainer receives the batch.
  bool trainer_receives() const { return receive.ran() && !pin.ran() && !has_device_thread(); }

  bool operator==(const StepEvents&) const = default;
};

}  // namespace loaderscope
