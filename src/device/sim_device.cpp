// The simulated device: a timeline with the host's clock. Waits of the host sleep until the end
// that the timeline gives.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "base/fifo.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "device/device_timeline.h"
#include "device/devices.h"

namespace loaderscope {
namespace {

class SimDevice;

// With a barrier a step of all ranks begins to compute together, when the last of them is ready.
struct Barrier {
  std::mutex mutex;  // protects all devices that share the barrier
  std::condition_variable placed;
  std::vector<SimDevice*> devices;
  StepBarrier* gate = nullptr;      // barrier with ranks of other processes; null: there are none
  std::int64_t reported_step = -1;  // step
  Nanos late_word = 0;              // delay of the gate's notifications after steps were over
  bool closed = false;              // a device is gone

  void advance();
};

class SimDevice : public Device {
 public:
  SimDevice(const RunConfig& config, std::shared_ptr<Barrier> barrier, const std::atomic<int>& stop)
      : stop_(stop),
        in_flight_(config.trainer.in_flight),
        barrier_(std::move(barrier)),
        timeline_(config.trainer.copy == CopyMode::stream) {
    barrier_->devices.push_back(this);
  }
  ~SimDevice() override {
    const std::lock_guard lock(barrier_->mutex);
    barrier_->closed = true;
  }

  bool submit_copy(const CopyJob& job) override;
  bool wait_copied(std::int64_t step) override;
  void submit_compute(std::int64_t step, Nanos duration) override;
  bool wait_computed(std::int64_t step) override;
  std::optional<DeviceTimes> collect() override;
  DeviceFacts facts() const override;

 private:
  friend struct Barrier;
  struct Step {
    DeviceTimes times;
    Nanos compute_duration = 0;
  };

  // All of these with the barrier's mutex held.
  Step& step(std::int64_t index) { return steps_[static_cast<std::size_t>(index - first_)]; }
  const Interval* find_copy(std::int64_t index);  // null while its begin is unknown
  void place_compute(Nanos begin);                // places the oldest step, which is ready

  // Waits for `known`, which other ranks' submissions make true; false when the run is to stop.
  template <class Known>
  bool wait_for(std::unique_lock<std::mutex>& lock, Known known);
  bool copy_by_caller(const CopyJob& job);

  const std::atomic<int>& stop_;
  const std::int64_t in_flight_;
  std::shared_ptr<Barrier> barrier_;
  DeviceTimeline timeline_;
  Fifo<Step> steps_;  // begins with step first_
  std::int64_t first_ = 0;
  std::int64_t placed_ = 0;         // steps whose compute is placed
  std::int64_t collected_ = 0;      // steps whose times were handed out
  std::vector<std::byte> staging_;  // real target of pageable copies
};

template <class Known>
bool SimDevice::wait_for(std::unique_lock<std::mutex>& lock, Known known) {
  while (!known()) {
    if (stop_.load(std::memory_order_relaxed) != 0) return false;
    barrier_->placed.wait_for(lock, std::chrono::milliseconds(50));
  }
  return true;
}

bool SimDevice::submit_copy(const CopyJob& job) {
  const bool caller_copies = job.caller_copies && job.duration > 0;
  {
    const std::lock_guard lock(barrier_->mutex);
    steps_.push_back({}).times.step = job.step;
    if (!caller_copies) timeline_.submit_copy(monotonic_now(), job.duration);
  }
  return caller_copies ? copy_by_caller(job) : true;
}

bool SimDevice::copy_by_caller(const CopyJob& job) {
  Nanos begin = 0;
  {
    std::unique_lock lock(barrier_->mutex);
    if (!wait_for(lock, [&] { return timeline_.copy_queue_free() != kNever; })) return false;
    begin = timeline_.copy_queue_free();
  }
  if (!sleep_until(begin, &stop_)) return false;
  const Nanos begun = monotonic_now();
  if (job.host != nullptr && job.bytes > 0) {
    staging_.resize(static_cast<std::size_t>(job.bytes));
    std::memcpy(staging_.data(), job.host, staging_.size());
  }
  if (!sleep_until(begun + job.duration, &stop_)) return false;
  const std::lock_guard lock(barrier_->mutex);
  timeline_.add_copied({begun, monotonic_now(), 0, 0});
  return true;
}

const Interval* SimDevice::find_copy(std::int64_t index) {
  if (index < placed_) return &step(index).times.copy;
  const auto waiting = static_cast<std::size_t>(index - placed_);
  return waiting < timeline_.waiting() ? timeline_.find_copy(waiting) : nullptr;
}

bool SimDevice::wait_copied(std::int64_t index) {
  Nanos end = 0;
  {
    std::unique_lock lock(barrier_->mutex);
    if (!wait_for(lock, [&] { return find_copy(index) != nullptr; })) return false;
    end = find_copy(index)->ran() ? find_copy(index)->end : 0;
  }
  return sleep_until(end, &stop_);
}

void SimDevice::submit_compute(std::int64_t index, Nanos duration) {
  const std::lock_guard lock(barrier_->mutex);
  step(index).compute_duration = duration;
  timeline_.submit_compute(monotonic_now());
  barrier_->advance();
}

void SimDevice::place_compute(Nanos begin) {
  Step& step = this->step(placed_);
  step.times.ready = *timeline_.ready();
  step.times.copy = timeline_.begin_compute();
  step.times.compute = {begin, begin + step.compute_duration, 0, 0};
  timeline_.end_compute(step.times.compute.end);
  ++placed_;
}

// Places every step that all ranks are ready for.
void Barrier::advance() {
  while (!closed) {
    Nanos begin = 0;
    for (const SimDevice* device : devices) {
      const std::optional<Nanos> ready = device->timeline_.ready();
      if (!ready) return;
      begin = std::max(begin, *ready);
    }
    if (gate != nullptr) {
      const std::int64_t step = devices.front()->placed_;
      if (reported_step < step) gate->ready(step, begin);
      reported_step = step;
      const std::optional<Nanos> common_begin = gate->find_begin(step);
      if (!common_begin) return;
      begin = std::max(begin, *common_begin);
    }
    for (SimDevice* device : devices) device->place_compute(begin);
    if (gate != nullptr)
      late_word += std::max<Nanos>(0, monotonic_now() - devices.front()->timeline_.compute_tail());
    placed.notify_all();
  }
}

bool SimDevice::wait_computed(std::int64_t index) {
  Nanos end = 0;
  {
    std::unique_lock lock(barrier_->mutex);
    if (!wait_for(lock, [&] { return placed_ > index; })) return false;
    if (index >= first_) end = step(index).times.compute.end;
  }
  return sleep_until(end, &stop_);
}

std::optional<DeviceTimes> SimDevice::collect() {
  const std::lock_guard lock(barrier_->mutex);
  if (collected_ >= placed_) return std::nullopt;
  const DeviceTimes times = step(collected_).times;
  ++collected_;
  // The trainer may still wait for the last steps in flight.
  while (first_ + in_flight_ + 1 < collected_) {
    steps_.pop_front();
    ++first_;
  }
  return times;
}

DeviceFacts SimDevice::facts() const {
  const std::lock_guard lock(barrier_->mutex);
  if (barrier_->gate == nullptr || barrier_->devices.front() != this) return {};
  DeviceFacts facts;
  facts.metrics.push_back(
      make_metric(metric::rendezvous_notification_delay_s,
                  "word that the ranks of other processes were ready came so long after "
                  "the steps were over, warm-up included",
                  seconds(barrier_->late_word)));
  return facts;
}

}  // namespace

std::vector<std::unique_ptr<Device>> make_sim_devices(const RunConfig& config,
                                                      const std::atomic<int>& stop) {
  std::vector<std::unique_ptr<Device>> devices;
  auto shared = std::make_shared<Barrier>();
  for (std::int64_t rank = 0; rank < config.trainer.ranks; ++rank) {
    if (!config.trainer.sync_ranks) shared = std::make_shared<Barrier>();
    devices.push_back(std::make_unique<SimDevice>(config, shared, stop));
  }
  return devices;
}

std::vector<std::unique_ptr<Device>> make_barrier_devices(const RunConfig& config,
                                                          const std::atomic<int>& stop,
                                                          StepBarrier& gate) {
  std::vector<std::unique_ptr<Device>> devices;
  const auto barrier = std::make_shared<Barrier>();
  barrier->gate = &gate;
  for (std::int64_t rank = 0; rank < config.trainer.ranks; ++rank)
    devices.push_back(std::make_unique<SimDevice>(config, barrier, stop));
  gate.on_begin([held = std::weak_ptr(barrier)] {
    const std::shared_ptr<Barrier> still = held.lock();
    if (!still) return;
    const std::lock_guard lock(still->mutex);
    still->advance();
  });
  return devices;
}

}  // namespace loaderscope
