// The simulated device: no thread and no clock of its own. At submission begin and end of a copy
// and of a compute follow from the ends of what was submitted before; host waits sleep until then.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "base/fifo.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "device/devices.h"

namespace loaderscope {
namespace {

class SimDevice;

// With a barrier a step of all ranks begins to compute together, when the last of them is ready.
struct Barrier {
  std::mutex mutex;  // of all devices that share it
  std::condition_variable placed;
  std::vector<SimDevice*> devices;
  StepBarrier* gate = nullptr;     // to ranks of other processes; null: there are none
  std::int64_t told_to_gate = -1;  // step
  Nanos late_word = 0;             // of the gate: how long steps had been over when it came
  bool closed = false;             // a device is gone

  void advance();
};

class SimDevice : public Device {
 public:
  SimDevice(const RunConfig& config, std::shared_ptr<Barrier> barrier, const std::atomic<int>& stop)
      : stop_(stop),
        own_copy_stream_(config.trainer.copy == CopyMode::stream),
        in_flight_(config.trainer.in_flight),
        barrier_(std::move(barrier)) {
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
    Nanos copy_submitted = 0, copy_duration = 0;
    bool copied_by_caller = false;
    bool copy_placed = false;
    bool compute_submitted = false, compute_placed = false;
    Nanos compute_submitted_at = 0, compute_duration = 0;
  };

  // All of these with the barrier's mutex held.
  Step& step(std::int64_t index) { return steps_[static_cast<std::size_t>(index - first_)]; }
  void place_copy(Step& step, Nanos earliest);
  bool make_ready();
  void place_compute(Nanos begin);
  Step* next_to_place();

  // Waits for `known`, which other ranks' submissions make true; false when the run is to stop.
  template <class Known>
  bool wait_for(std::unique_lock<std::mutex>& lock, Known known);
  bool copy_by_caller(const CopyJob& job);

  const std::atomic<int>& stop_;
  const bool own_copy_stream_;
  const std::int64_t in_flight_;
  std::shared_ptr<Barrier> barrier_;
  Fifo<Step> steps_;  // from first_ on
  std::int64_t first_ = 0;
  std::int64_t placed_ = 0;     // steps whose compute is placed
  std::int64_t collected_ = 0;  // steps whose times were handed out
  Nanos compute_tail_ = 0, copy_tail_ = 0;
  std::vector<std::byte> staging_;  // where a pageable copy really goes
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
  {
    const std::lock_guard lock(barrier_->mutex);
    Step& step = steps_.push_back({});
    step.times.step = job.step;
    step.copy_submitted = monotonic_now();
    step.copy_duration = job.duration;
    step.copied_by_caller = job.by_caller;
    step.copy_placed = job.duration == 0;
    if (job.duration > 0 && !job.by_caller) {
      if (own_copy_stream_) {
        place_copy(step, copy_tail_);
      } else if (placed_ == job.step) {
        place_copy(step, compute_tail_);
      }
    }
  }
  return job.by_caller && job.duration > 0 ? copy_by_caller(job) : true;
}

bool SimDevice::copy_by_caller(const CopyJob& job) {
  Nanos begin = 0;
  {
    std::unique_lock lock(barrier_->mutex);
    if (!own_copy_stream_ && !wait_for(lock, [&] { return placed_ == job.step; })) return false;
    begin = own_copy_stream_ ? copy_tail_ : compute_tail_;
  }
  if (!sleep_until(begin, &stop_)) return false;
  const Nanos begun = monotonic_now();
  if (job.host != nullptr && job.bytes > 0) {
    staging_.resize(static_cast<std::size_t>(job.bytes));
    std::memcpy(staging_.data(), job.host, staging_.size());
  }
  if (!sleep_until(begun + job.duration, &stop_)) return false;
  const std::lock_guard lock(barrier_->mutex);
  Step& step = this->step(job.step);
  step.times.copy = {begun, monotonic_now(), 0, 0};
  step.copy_placed = true;
  copy_tail_ = step.times.copy.end;
  return true;
}

void SimDevice::place_copy(Step& step, Nanos earliest) {
  Interval& copy = step.times.copy;
  copy.begin = std::max(step.copy_submitted, earliest);
  copy.end = copy.begin + step.copy_duration;
  step.copy_placed = true;
  copy_tail_ = copy.end;
}

bool SimDevice::wait_copied(std::int64_t index) {
  Nanos end = 0;
  {
    std::unique_lock lock(barrier_->mutex);
    if (!wait_for(lock, [&] { return step(index).copy_placed; })) return false;
    end = step(index).times.copy.ran() ? step(index).times.copy.end : 0;
  }
  return sleep_until(end, &stop_);
}

void SimDevice::submit_compute(std::int64_t index, Nanos duration) {
  const std::lock_guard lock(barrier_->mutex);
  Step& step = this->step(index);
  step.compute_submitted = true;
  step.compute_submitted_at = monotonic_now();
  step.compute_duration = duration;
  barrier_->advance();
}

SimDevice::Step* SimDevice::next_to_place() {
  const auto index = static_cast<std::size_t>(placed_ - first_);
  return index < steps_.size() ? &steps_[index] : nullptr;
}

// True when the next step in order could begin to compute.
bool SimDevice::make_ready() {
  Step* step = next_to_place();
  if (step == nullptr) return false;
  if (!step->compute_submitted || !step->copy_placed) return false;
  step->times.ready = std::max(step->compute_submitted_at, compute_tail_);
  if (step->times.copy.ran()) step->times.ready = std::max(step->times.ready, step->times.copy.end);
  return true;
}

void SimDevice::place_compute(Nanos begin) {
  Step& step = *next_to_place();
  step.times.compute = {begin, begin + step.compute_duration, 0, 0};
  step.compute_placed = true;
  compute_tail_ = step.times.compute.end;
  ++placed_;
  // On one stream the next copy follows this compute.
  Step* next = next_to_place();
  if (next != nullptr && !next->copy_placed && !next->copied_by_caller) {
    place_copy(*next, compute_tail_);
  }
}

// Places every step that all ranks are ready for.
void Barrier::advance() {
  while (!closed) {
    Nanos begin = 0;
    for (SimDevice* device : devices) {
      if (!device->make_ready()) return;
      begin = std::max(begin, device->next_to_place()->times.ready);
    }
    if (gate != nullptr) {
      const std::int64_t step = devices.front()->placed_;
      if (told_to_gate < step) gate->ready(step, begin);
      told_to_gate = step;
      const std::optional<Nanos> of_all = gate->begin_of(step);
      if (!of_all) return;
      begin = std::max(begin, *of_all);
    }
    for (SimDevice* device : devices) device->place_compute(begin);
    if (gate != nullptr)
      late_word += std::max<Nanos>(0, monotonic_now() - devices.front()->compute_tail_);
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
  facts.metrics.push_back({"meeting.late_word_s", "s",
                           "word that the ranks of other processes were ready came so long after "
                           "the steps were over, warm-up included",
                           seconds(barrier_->late_word)});
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
