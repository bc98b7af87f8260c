// The simulated device: a timeline with the host's clock. Waits of the host sleep until the end
// that the timeline gives. Where the device makes batches, later work can put off an end, and waits
// look again at each end that is due.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "base/fifo.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "device/device_timeline.h"
#include "device/devices.h"
#include "device/production_lanes.h"

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
  Nanos followed = 0;               // time up to which the lanes are followed
  Nanos late_word = 0;              // delay of the gate's notifications after steps were over
  bool closed = false;              // a device is gone
  bool has_lanes = false;           // the devices make batches

  void advance();
  // With lanes: follows all devices up to `now`, from one end of work to the next.
  void follow_lanes(Nanos now);
  Nanos next_lane_event() const;
  // Returns the begin of the next compute for which all ranks are ready.
  std::optional<Nanos> find_begin();
};

class SimDevice : public Device {
 public:
  SimDevice(const RunConfig& config, std::shared_ptr<Barrier> barrier, const std::atomic<int>& stop)
      : stop_(stop),
        in_flight_(config.trainer.in_flight),
        barrier_(std::move(barrier)),
        timeline_(config.trainer.copy == CopyMode::stream) {
    barrier_->has_lanes = config.makes_on_device();
    lanes_.set_speeds(config.declared.shared_speed.value);
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
  bool make(const MakeJob& job) override;
  std::optional<DeviceTimes> collect() override;
  DeviceFacts facts() const override;

 private:
  friend struct Barrier;
  struct Step {
    DeviceTimes times;
    Nanos compute_duration = 0;
    bool is_made = false;  // the lanes have ended its tasks
  };

  // All of these with the barrier's mutex held.
  Step& step(std::int64_t index) { return steps_[static_cast<std::size_t>(index - first_)]; }
  const Interval* find_copy(std::int64_t index);  // null while its begin is unknown
  std::optional<Nanos> find_ready();              // applies to the oldest step without a place
  void place_compute(Nanos begin);                // places the oldest step, which is ready
  void advance_lanes(Nanos at);                   // up to the next event at most
  Nanos next_lane_event() const { return std::min(lanes_.next_end(), begin_at_); }

  // Waits for `known`, which other ranks' submissions make true; false when the run is to stop.
  template <class Known>
  bool wait_for(std::unique_lock<std::mutex>& lock, Known known);
  bool copy_by_caller(const CopyJob& job);

  const std::atomic<int>& stop_;
  const std::int64_t in_flight_;
  std::shared_ptr<Barrier> barrier_;
  DeviceTimeline timeline_;
  ProductionLanes lanes_;
  Nanos begin_at_ = kNever;  // begin of the oldest step's compute, which the lanes do not know yet
  Fifo<Step> steps_;         // begins with step first_
  std::int64_t first_ = 0;
  std::int64_t begun_ = 0;          // steps whose compute has a begin
  std::int64_t placed_ = 0;         // steps whose compute has an end
  std::int64_t collected_ = 0;      // steps whose times were handed out
  std::vector<std::byte> staging_;  // real target of pageable copies
};

template <class Known>
bool SimDevice::wait_for(std::unique_lock<std::mutex>& lock, Known known) {
  constexpr Nanos kLookEvery = 50 * kMillisecond;
  for (;;) {
    const Nanos now = monotonic_now();
    Nanos until = now + kLookEvery;
    if (barrier_->has_lanes) {
      barrier_->follow_lanes(now);
      until = std::min(until, barrier_->next_lane_event());
    }
    if (known()) return true;
    if (stop_.load(std::memory_order_relaxed) != 0) return false;
    barrier_->placed.wait_for(lock, std::chrono::nanoseconds(until - now));
  }
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
  if (index < begun_) return &step(index).times.copy;
  const auto waiting = static_cast<std::size_t>(index - begun_);
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
  const Nanos now = monotonic_now();
  if (barrier_->has_lanes) barrier_->follow_lanes(now);
  step(index).compute_duration = duration;
  timeline_.submit_compute(now);
  barrier_->advance();
  if (barrier_->has_lanes) barrier_->placed.notify_all();  // other ends are due
}

bool SimDevice::make(const MakeJob& job) {
  const std::lock_guard lock(barrier_->mutex);
  const Nanos now = monotonic_now();
  barrier_->follow_lanes(now);
  lanes_.submit(now, job.tasks);
  barrier_->follow_lanes(now);
  barrier_->placed.notify_all();
  return true;
}

// A step that is made on the device is ready once its tasks have ended.
std::optional<Nanos> SimDevice::find_ready() {
  const std::optional<Nanos> ready = timeline_.ready();
  if (!ready || !barrier_->has_lanes) return ready;
  Step& step = this->step(placed_);
  if (!step.is_made) {
    if (!lanes_.is_oldest_made()) return std::nullopt;
    step.times.made = lanes_.take_oldest();
    step.is_made = true;
  }
  Nanos made_end = *ready;
  for (const Interval& run : step.times.made)
    if (run.ran()) made_end = std::max(made_end, run.end);
  return made_end;
}

void SimDevice::place_compute(Nanos begin) {
  Step& step = this->step(placed_);
  step.times.ready = *find_ready();
  step.times.copy = timeline_.begin_compute();
  ++begun_;
  if (barrier_->has_lanes) {
    begin_at_ = begin;
    return;
  }
  step.times.compute = {begin, begin + step.compute_duration, 0, 0};
  timeline_.end_compute(step.times.compute.end);
  ++placed_;
}

void SimDevice::advance_lanes(Nanos at) {
  lanes_.advance(at);
  if (begin_at_ <= at) {
    Step& step = this->step(placed_);
    step.times.compute.begin = at;
    begin_at_ = kNever;
    lanes_.begin_compute(at, step.compute_duration);
  }
  if (const std::optional<Nanos> end = lanes_.take_compute_end()) {
    step(placed_).times.compute.end = *end;
    timeline_.end_compute(*end);
    ++placed_;
  }
}

std::optional<Nanos> Barrier::find_begin() {
  Nanos begin = 0;
  for (SimDevice* device : devices) {
    const std::optional<Nanos> ready = device->find_ready();
    if (!ready) return std::nullopt;
    begin = std::max(begin, *ready);
  }
  if (gate == nullptr) return begin;
  const std::int64_t step = devices.front()->placed_;
  if (reported_step < step) gate->ready(step, begin);
  reported_step = step;
  const std::optional<Nanos> common_begin = gate->find_begin(step);
  return common_begin ? std::optional(std::max(begin, *common_begin)) : std::nullopt;
}

// Places every step that all ranks are ready for.
void Barrier::advance() {
  if (has_lanes) return follow_lanes(monotonic_now());
  while (!closed) {
    const std::optional<Nanos> begin = find_begin();
    if (!begin) return;
    for (SimDevice* device : devices) device->place_compute(*begin);
    if (gate != nullptr)
      late_word += std::max<Nanos>(0, monotonic_now() - devices.front()->timeline_.compute_tail());
    placed.notify_all();
  }
}

void Barrier::follow_lanes(Nanos now) {
  if (closed) return;
  for (;;) {
    if (const std::optional<Nanos> begin = find_begin()) {
      for (SimDevice* device : devices) device->place_compute(std::max(*begin, followed));
      placed.notify_all();
    }
    const Nanos next = next_lane_event();
    if (next > now) break;
    followed = next;
    for (SimDevice* device : devices) device->advance_lanes(next);
  }
  followed = std::max(followed, now);
  for (SimDevice* device : devices) device->advance_lanes(followed);
}

Nanos Barrier::next_lane_event() const {
  Nanos next = kNever;
  for (const SimDevice* device : devices) next = std::min(next, device->next_lane_event());
  return next;
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
  if (barrier_->has_lanes) barrier_->follow_lanes(monotonic_now());
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
