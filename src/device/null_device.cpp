// The null device takes batches and drops them: what remains is the pure rate of the loader.
#include "base/fifo.h"
#include "base/thread_meter.h"
#include "device/devices.h"

namespace loaderscope {
namespace {

class NullDevice : public Device {
 public:
  explicit NullDevice(const std::atomic<int>& stop) : stop_(stop) {}

  bool submit_copy(const CopyJob&) override { return going_on(); }
  bool wait_copied(std::int64_t) override { return going_on(); }
  void submit_compute(std::int64_t step, Nanos) override {
    const Nanos now = monotonic_now();
    DeviceTimes times;
    times.step = step;
    times.ready = now;
    times.compute = {now, now, 0, 0};
    dropped_.push_back(times);
  }
  bool wait_computed(std::int64_t) override { return going_on(); }
  std::optional<DeviceTimes> collect() override {
    if (dropped_.empty()) return std::nullopt;
    const DeviceTimes times = dropped_.front();
    dropped_.pop_front();
    return times;
  }

 private:
  bool going_on() const { return stop_.load(std::memory_order_relaxed) == 0; }

  const std::atomic<int>& stop_;
  Fifo<DeviceTimes> dropped_;
};

}  // namespace

std::vector<std::unique_ptr<Device>> make_null_devices(const RunConfig& config,
                                                       const std::atomic<int>& stop) {
  std::vector<std::unique_ptr<Device>> devices;
  for (std::int64_t rank = 0; rank < config.trainer.ranks; ++rank)
    devices.push_back(std::make_unique<NullDevice>(stop));
  return devices;
}

}  // namespace loaderscope
