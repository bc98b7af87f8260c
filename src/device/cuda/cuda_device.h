// The device of one rank on a real GPU. It reaches CUDA only through the Runtime interface.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fifo.h"
#include "device/cuda/batch_production.h"
#include "device/cuda/device_objects.h"
#include "device/cuda/step_compute.h"
#include "loaderscope/device.h"

namespace loaderscope::cuda {

class CudaDevice : public Device {
 public:
  CudaDevice(std::shared_ptr<DeviceGroup> gang, const RunConfig& config, std::int32_t rank,
             int device, const std::atomic<int>& stop, FindNvjpeg find);
  ~CudaDevice() override;

  bool submit_copy(const CopyJob& job) override;
  bool wait_copied(std::int64_t step) override;
  void submit_compute(std::int64_t step, Nanos duration) override;
  bool wait_computed(std::int64_t step) override;
  void prepare(const MakePlan& plan) override;
  void keep(const HeldData& data) override;
  bool make(const MakeJob& job) override;
  std::optional<DeviceTimes> collect() override;
  std::unique_ptr<HostSlots> make_slots(MemoryMode mode, std::size_t count,
                                        Bytes slot_bytes) override;
  std::unique_ptr<HostSlots> wrap_slots(MemoryMode mode, std::byte* place, std::size_t count,
                                        Bytes slot_bytes) override;
  DeviceFacts facts() const override;
  void cancel() override { gang_->end(); }
  bool end() override;

 private:
  // Events at the begins and ends of a step's parts on the device's timeline.
  struct Marks {
    Event copy_begin, copy_end, augment_begin, augment_end, ready, begin, end;
  };
  struct Step {
    std::int64_t index = 0;
    Marks marks;
    Bytes bytes = 0;  // bytes of its batch on the GPU
    bool copied = false, submitted = false, computes = false;
    Nanos duration = 0;                     // requested duration of its compute
    LaunchedWork launched;                  // work launched for that duration
    Nanos copy_expected = 0, expected = 0;  // ends, guessed: how long a wait may sleep
    Interval launch;
  };

  void use();  // makes the calling thread's calls act on this GPU
  void allocate(const RunConfig& config);
  void warm_up();
  bool augments(const Step& step) const { return augments_ && step.bytes > 0; }
  Normalisation normalisation(const Step& step) const;
  Step& step(std::int64_t index) { return steps_[static_cast<std::size_t>(index - first_)]; }
  std::int64_t buffer_index(std::int64_t index) const { return index % in_flight_; }
  Event end_event(const Step& step) const;
  Nanos starved(const Step& step, const DeviceTimes& times) const;
  Marks make_marks();
  Marks take_marks();  // reuses the marks of a collected step, or makes new ones
  bool wait(Event event, Nanos expected);
  bool wait_for_gate_before_copy();
  void launch(Step& step, Nanos duration);
  std::vector<Metric> link_metrics(int devices) const;  // covers the first `devices` GPUs
  DeviceTimes step_times(const Step& step) const;
  Interval between(Event begin, Event end) const;
  void check(std::string_view what, const Status& status) const { objects_.check(what, status); }

  const std::shared_ptr<DeviceGroup> gang_;
  Runtime& runtime_;
  const std::int32_t rank_;
  const int device_;
  const std::atomic<int>& stop_;
  const bool own_copy_stream_;
  const std::int64_t in_flight_;
  const bool augments_;           // bytes arrive, and are normalised here
  const FindNvjpeg find_nvjpeg_;  // called only if it is needed

  DeviceObjects objects_;
  Stream compute_stream_, copy_stream_;
  DeviceClock clock_;
  StepCompute compute_;
  std::vector<void*> buffers_;    // copied bytes, one buffer per step in flight
  std::vector<void*> augmented_;  // normalised floats, one buffer per step in flight
  Normalisation normalisation_;   // template for every step

  std::unique_ptr<BatchProduction> production_;  // null: the device makes nothing

  Fifo<Step> steps_;  // not collected, from first_ on
  std::int64_t first_ = 0;
  Nanos tail_ = 0;  // expected end of all submitted work
  std::vector<Marks> free_marks_;
  Bytes buffer_bytes_ = 0;  // sum over all buffers
};

// The devices of all ranks: rank r has GPU r modulo their number. Throws RunError where there is
// none, or not enough of its memory.
std::vector<std::unique_ptr<Device>> make_devices(std::shared_ptr<Runtime> runtime,
                                                  const RunConfig& config,
                                                  const std::atomic<int>& stop,
                                                  const FindNvjpeg& find = find_nvjpeg);

}  // namespace loaderscope::cuda
