#include "device/cuda/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "augment/emitter.h"
#include "base/cpu_set.h"
#include "base/thread_meter.h"
#include "device/cuda/cuda_slots.h"
#include "device/cuda/gpu_link.h"
#include "device/cuda/runtime.h"

namespace loaderscope::cuda {
namespace {

constexpr Nanos kLookEvery = 50 * kMillisecond;  // interval of polls of `stop`
constexpr Nanos kBlockFor = 60 * kMillisecond;   // at most, without a look at it
constexpr Nanos kGateLook = 50 * kMicrosecond;

bool normalises_here(const RunConfig& config) {
  return config.has_data() && config.image.transfer == Transfer::u8 &&
         augment::find_normalise(config.image.augment.value).has_value();
}

// "7 JPEG engines decode 63 images at a time. nvJPEG used 41 MB of its 300 MB of GPU memory".
std::string describe(const JpegBatchDecoder::Facts& facts) {
  const auto size = [](std::size_t bytes) { return format_size(static_cast<double>(bytes)); };
  return fmt::format(
      "{} decode {} images at a time. nvJPEG used {} of its {} of GPU memory",
      facts.engines > 0 ? fmt::format("{} JPEG engines", facts.engines) : "CUDA kernels",
      facts.chunk, size(facts.arena_peak), size(facts.arena_bytes));
}

}  // namespace

CudaDevice::CudaDevice(std::shared_ptr<DeviceGroup> gang, const RunConfig& config,
                       std::int32_t rank, int device, const std::atomic<int>& stop, FindNvjpeg find)
    : gang_(std::move(gang)),
      runtime_(gang_->runtime()),
      rank_(rank),
      device_(device),
      stop_(stop),
      own_copy_stream_(config.trainer.copy == CopyMode::stream),
      in_flight_(config.trainer.in_flight),
      augments_(!config.makes_on_device() && normalises_here(config)),
      find_nvjpeg_(std::move(find)),
      objects_(runtime_, "GPU " + std::to_string(device)),
      compute_stream_(objects_.stream()),
      copy_stream_(own_copy_stream_ ? objects_.stream() : compute_stream_),
      clock_(runtime_, objects_),
      compute_(*gang_, objects_, config, rank, compute_stream_) {
  allocate(config);
  warm_up();
}

CudaDevice::~CudaDevice() {
  gang_->end();
  runtime_.set_device(device_);
  runtime_.synchronise_device();
}

void CudaDevice::use() { check("set the device", runtime_.set_device(device_)); }

void CudaDevice::allocate(const RunConfig& config) {
  for (std::int64_t i = 0; i < in_flight_ + 1; ++i) free_marks_.push_back(make_marks());
  if (!config.has_data() || config.makes_on_device()) return;
  const Bytes batch = config.loader.batch_size * config.delivered_sample_bytes();
  buffer_bytes_ = batch * in_flight_ * (augments_ ? 1 + static_cast<Bytes>(sizeof(float)) : 1);
  for (std::int64_t i = 0; i < in_flight_; ++i) {
    buffers_.push_back(objects_.memory(static_cast<std::size_t>(batch), "buffers of batches"));
    if (!augments_) continue;
    augmented_.push_back(objects_.memory(static_cast<std::size_t>(batch) * sizeof(float),
                                         "buffers of normalised batches"));
  }
  if (!augments_) return;
  const augment::Scaling scaling =
      augment::make_scaling(*augment::find_normalise(config.image.augment.value));
  normalisation_.pixels = config.image.size * config.image.size;
  normalisation_.packed = config.image.layout == Layout::nhwc;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    normalisation_.subtract[channel] = scaling.subtract[channel];
    normalisation_.multiply[channel] = scaling.multiply[channel];
  }
}

// Kernels are loaded when they first run, and loading waits for the whole device: a gate must not
// be waiting then.
void CudaDevice::warm_up() {
  if (gang_->has_barrier()) {
    Gate open = gang_->gate(rank_, -1);
    check("warm-up", runtime_.gate(open, compute_stream_));
  }
  if (augments_) {
    Step one;
    one.bytes = 3 * normalisation_.pixels;
    check("warm-up", runtime_.normalise(normalisation(one), compute_stream_));
  }
  check("warm-up", runtime_.synchronise_device());
}

CudaDevice::Marks CudaDevice::make_marks() {
  return {objects_.event(), objects_.event(), objects_.event(), objects_.event(),
          objects_.event(), objects_.event(), objects_.event()};
}

CudaDevice::Marks CudaDevice::take_marks() {
  if (free_marks_.empty()) return make_marks();
  const Marks marks = free_marks_.back();
  free_marks_.pop_back();
  return marks;
}

void CudaDevice::prepare(const MakePlan& plan) {
  use();
  std::shared_ptr<Nvjpeg> nvjpeg;
  if (plan.decodes()) {
    int driver = 0, runtime = 0;
    check("versions", runtime_.versions(driver, runtime));
    NvjpegLibrary library = find_nvjpeg_(driver);
    if (!library.nvjpeg)
      throw RunError(objects_.place() + ": " + library.reason, "give --decode cpu");
    nvjpeg = std::move(library.nvjpeg);
  }
  production_ =
      std::make_unique<BatchProduction>(*gang_, objects_.place(), plan, std::move(nvjpeg), stop_);
  buffer_bytes_ = production_->memory();
}

void CudaDevice::keep(const HeldData& data) {
  if (!production_) return;
  use();
  production_->keep(data);
  buffer_bytes_ = production_->memory();
}

bool CudaDevice::make(const MakeJob& job) {
  if (!production_) return Device::make(job);
  use();
  return production_->make(job);
}

bool CudaDevice::end() {
  if (!production_) return true;
  try {
    use();
    return production_->wait_for_end();
  } catch (const RunError&) {
    return false;
  }
}

// A call that blocks after a gate keeps the driver from the rank that the gate waits for.
bool CudaDevice::wait_for_gate_before_copy() {
  const bool is_after_gate = gang_->has_barrier() && !own_copy_stream_ && !steps_.empty();
  if (!is_after_gate || !gang_->do_copies_block()) return true;
  const Step& last = steps_[steps_.size() - 1];
  return wait(end_event(last), last.expected);
}

bool CudaDevice::submit_copy(const CopyJob& job) {
  use();
  clock_.keep();
  if (job.host != nullptr && !wait_for_gate_before_copy()) return false;
  Step& step = steps_.push_back({});
  step.index = job.step;
  step.marks = take_marks();
  const Bytes copied = job.host != nullptr ? job.bytes : 0;
  step.bytes = copied + job.reused_bytes;
  step.copied = copied > 0 || job.duration > 0;
  if (!step.copied) return true;

  check("copy", runtime_.record(step.marks.copy_begin, copy_stream_));
  if (copied > 0) {
    void* buffer = buffers_[static_cast<std::size_t>(buffer_index(job.step))];
    check("copy", runtime_.copy_to_device(buffer, job.host, static_cast<std::size_t>(copied),
                                          copy_stream_));
  }
  if (job.duration > 0) {
    Spin declared;
    declared.duration = job.duration;
    declared.abort = gang_->abort();
    check("copy", runtime_.spin(declared, copy_stream_));
  }
  check("copy", runtime_.record(step.marks.copy_end, copy_stream_));
  const Nanos now = runtime_.now();
  step.copy_expected = (own_copy_stream_ ? now : std::max(now, tail_)) + job.duration;
  return job.caller_copies ? wait(step.marks.copy_end, step.copy_expected) : true;
}

bool CudaDevice::wait_copied(std::int64_t index) {
  use();
  const Step& step = this->step(index);
  if (!step.copied) return stop_.load(std::memory_order_relaxed) == 0;
  return wait(step.marks.copy_end, step.copy_expected);
}

void CudaDevice::submit_compute(std::int64_t index, Nanos duration) {
  use();
  Step& step = this->step(index);
  step.duration = duration;
  const Nanos begin = runtime_.now(), cpu = thread_cpu_now();
  launch(step, duration);
  const Nanos end = runtime_.now();
  step.launch = {begin, end, std::min(thread_cpu_now() - cpu, end - begin), 0};
  step.submitted = true;
  step.expected = tail_ = std::max({end, tail_, step.copy_expected}) + duration;
}

void CudaDevice::launch(Step& step, Nanos duration) {
  if (own_copy_stream_ && step.copied)
    check("compute", runtime_.wait_event(compute_stream_, step.marks.copy_end));
  if (production_) check("compute", runtime_.wait_event(compute_stream_, production_->next_end()));
  if (augments(step)) {
    check("gpu-augment", runtime_.record(step.marks.augment_begin, compute_stream_));
    check("gpu-augment", runtime_.normalise(normalisation(step), compute_stream_));
    check("gpu-augment", runtime_.record(step.marks.augment_end, compute_stream_));
  }
  if (gang_->has_barrier()) {
    check("compute", runtime_.record(step.marks.ready, compute_stream_));
    check("compute", runtime_.gate(gang_->gate(rank_, step.index), compute_stream_));
  }
  check("compute", runtime_.record(step.marks.begin, compute_stream_));
  step.computes = duration > 0;
  if (!step.computes) return;
  step.launched = compute_.launch(buffer_index(step.index), duration);
  check("compute", runtime_.record(step.marks.end, compute_stream_));
}

Normalisation CudaDevice::normalisation(const Step& step) const {
  Normalisation job = normalisation_;
  const auto buffer = static_cast<std::size_t>(buffer_index(step.index));
  job.bytes = static_cast<const std::uint8_t*>(buffers_[buffer]);
  job.floats = static_cast<float*>(augmented_[buffer]);
  job.images = step.bytes / (3 * job.pixels);
  return job;
}

Event CudaDevice::end_event(const Step& step) const {
  return step.computes ? step.marks.end : step.marks.begin;
}

// Sleeps while the end is far, so that a stop is seen, then blocks in the driver. It never blocks
// at a gate, whose end depends on other ranks, and where JPEG engines could hang.
bool CudaDevice::wait(Event event, Nanos expected) {
  for (;;) {
    bool done = false;
    check("wait", runtime_.query(event, done));
    if (done) return !gang_->has_ended();
    if (stop_.load(std::memory_order_relaxed) != 0) {
      gang_->end();
      return false;
    }
    clock_.keep();
    const Nanos now = runtime_.now(), left = expected - now;
    if (left > kBlockFor) {
      runtime_.sleep_until(now + std::min(kLookEvery, left - kBlockFor / 2), stop_);
    } else if (gang_->has_barrier() || production_) {
      runtime_.sleep_until(now + std::max(kGateLook, left - kMillisecond), stop_);
    } else {
      check("wait", runtime_.synchronise(event));
    }
  }
}

bool CudaDevice::wait_computed(std::int64_t index) {
  if (index < first_) return stop_.load(std::memory_order_relaxed) == 0;
  use();
  const Step& step = this->step(index);
  return wait(end_event(step), step.expected);
}

std::optional<DeviceTimes> CudaDevice::collect() {
  if (steps_.empty() || !steps_.front().submitted) return std::nullopt;
  use();
  const Step& step = steps_.front();
  bool done = false;
  check("times of a step", runtime_.query(end_event(step), done));
  if (!done || gang_->has_ended()) return std::nullopt;
  DeviceTimes times = step_times(step);
  if (production_) times.made = production_->take_times(clock_);
  compute_.correct(step.launched, times.compute.wall());
  free_marks_.push_back(step.marks);
  steps_.pop_front();
  ++first_;
  if (steps_.empty()) tail_ = times.compute.end;
  return times;
}

Interval CudaDevice::between(Event begin, Event end) const {
  const Nanos from = clock_.event_time(begin);
  return {from, std::max(from, clock_.event_time(end)), 0, 0};
}

// Between two kernels the GPU waited for the trainer to launch: no compute, and booked before it.
Nanos CudaDevice::starved(const Step& step, const DeviceTimes& times) const {
  if (step.duration == 0 || !compute_.shows_gaps()) return 0;
  return std::max<Nanos>(times.compute.wall() - compute_.takes(step.duration), 0);
}

DeviceTimes CudaDevice::step_times(const Step& step) const {
  DeviceTimes times;
  times.step = step.index;
  times.launch = step.launch;
  if (step.copied) times.copy = between(step.marks.copy_begin, step.marks.copy_end);
  times.compute = between(step.marks.begin, end_event(step));
  times.ready = gang_->has_barrier() ? clock_.event_time(step.marks.ready) : times.compute.begin;
  if (augments(step)) times.augment = between(step.marks.augment_begin, step.marks.augment_end);
  const Nanos gaps = starved(step, times);
  times.compute.begin += gaps;
  times.ready += gaps;
  return times;
}

std::unique_ptr<HostSlots> CudaDevice::make_slots(MemoryMode mode, std::size_t count,
                                                  Bytes slot_bytes) {
  return make_cuda_slots(gang_, device_, mode, count, slot_bytes);
}

std::unique_ptr<HostSlots> CudaDevice::wrap_slots(MemoryMode mode, std::byte* place,
                                                  std::size_t count, Bytes slot_bytes) {
  return wrap_cuda_slots(gang_, device_, mode, place, count, slot_bytes);
}

DeviceFacts CudaDevice::facts() const {
  DeviceFacts facts;
  if (rank_ > 0) return facts;
  Properties properties;
  int driver = 0, built_with = 0, devices = 1;
  runtime_.properties(device_, properties);
  runtime_.versions(driver, built_with);
  runtime_.device_count(devices);
  facts.notes.push_back(fmt::format("GPU {}: {}, compute capability {}.{}, driver for CUDA {}.{}",
                                    device_, properties.name, properties.major, properties.minor,
                                    driver / 1000, driver % 1000 / 10));
  if (gang_->ranks() > devices) {
    facts.notes.push_back(fmt::format("{} ranks share {}: they slow each other down",
                                      gang_->ranks(),
                                      devices == 1 ? "one GPU" : fmt::format("{} GPUs", devices)));
  }
  if (!compute_.description().empty()) facts.notes.push_back(compute_.description());
  if (production_ && production_->decoder() != nullptr)
    facts.notes.push_back(describe(production_->decoder()->facts()));
  facts.metrics = {
      make_metric(metric::gpu_buffer_bytes,
                  "batches on the GPU of one rank, with all inputs and buffers",
                  static_cast<double>(buffer_bytes_)),
      make_metric(metric::gpu_anchor_error_s,
                  "largest uncertainty of the GPU's clock against the host's",
                  seconds(clock_.error())),
      make_metric(metric::gpu_anchor_drift_s,
                  "most by which the GPU's clock had left the host's when it was set again",
                  seconds(clock_.drift())),
  };
  for (Metric& metric : link_metrics(std::min(devices, gang_->ranks())))
    facts.metrics.push_back(std::move(metric));
  return facts;
}

std::vector<Metric> CudaDevice::link_metrics(int devices) const {
  std::vector<std::string> addresses;
  for (int device = 0; device < devices; ++device) {
    Properties properties;
    if (runtime_.properties(device, properties).ok() && !properties.pci_address.empty())
      addresses.push_back(properties.pci_address);
  }
  return weakest_link_metrics("/", addresses, allowed_cpus());
}

}  // namespace loaderscope::cuda
