#include "probe/link.h"

#include <algorithm>
#include <functional>
#include <span>

#include "device/cuda/cuda_slots.h"
#include "device/cuda/gpu_link.h"
#include "device/cuda/runtime.h"
#include "loaderscope/errors.h"

namespace loaderscope::probe {
namespace {

using cuda::DeviceObjects;
using cuda::Event;
using cuda::Runtime;
using cuda::Stream;

constexpr Nanos kAnswerTimeout = 2 * kSecond;  // limit for a kernel that waits for its release
// Copies of a sample: untimed ones, and the least number of timed ones.
constexpr std::int64_t kWarmingCopies = 4, kTimedCopies = 16;
constexpr std::int64_t kMaxCopies = 256;

class LinkProbe {
 public:
  LinkProbe(Runtime& runtime, const LinkOptions& options)
      : runtime_(runtime),
        options_(options),
        largest_(*std::max_element(options.sizes.begin(), options.sizes.end())),
        objects_(runtime, "GPU " + std::to_string(options.device)),
        stream_(objects_.stream()),
        other_(objects_.stream()),
        begin_(objects_.event()),
        end_(objects_.event()),
        words_(static_cast<std::int64_t*>(objects_.host_memory(64, "words for its kernels"))) {
    target_ = objects_.memory(static_cast<std::size_t>(largest_), "the target of copies");
  }

  Bytes largest() const { return largest_; }  // largest of the sizes

  LinkCell measure(MemoryMode memory, CopyMode copy, HostSlots& slots, Bytes bytes) {
    LinkCell cell;
    cell.memory = memory;
    cell.copy = copy;
    cell.bytes = bytes;
    cell.fallback = slots.fallback_reason();
    const std::span<const std::byte> host = slot_bytes(slots);
    // A copy from memory that is not page-locked ends before its call returns. It would wait for a
    // kernel that holds it.
    const bool is_locked = memory != MemoryMode::pageable && cell.fallback.empty();
    const bool is_host_timed = copy == CopyMode::sync || !is_locked;
    std::vector<double> rates = sampled(
        [&] {
          const Busy busy(*this, copy == CopyMode::stream);
          return is_host_timed ? time_by_host(host, bytes, copy == CopyMode::sync)
                               : time_held(host, bytes);
        },
        bytes);
    cell.low = rates.front();
    cell.median = rates[rates.size() / 2];
    cell.high = rates.back();
    return cell;
  }

  BareLoop measure_bare(HostSlots& slots, Bytes bytes) {
    const std::span<const std::byte> host = slot_bytes(slots);
    const auto rates = sampled([&] { return time_by_host(host, bytes, false); }, bytes);
    return {bytes, rates[rates.size() / 2]};
  }

 private:
  // A kernel that runs on another stream as long as this lives.
  class Busy {
   public:
    Busy(LinkProbe& probe, bool wanted) : probe_(probe), wanted_(wanted) {
      if (!wanted_) return;
      probe_.store_word(1, 0);
      probe_.hold(probe_.other_, 1);
    }
    ~Busy() {
      if (!wanted_) return;
      probe_.store_word(1, 1);
      probe_.runtime_.synchronise_device();  // the kernel has seen the word before it is written
                                             // again
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    LinkProbe& probe_;
    bool wanted_;
  };

  std::int64_t count_copies(Bytes bytes) const {
    return std::clamp(options_.at_least / bytes, kTimedCopies, kMaxCopies);
  }

  void check(const cuda::Status& status) const { objects_.check("probe link", status); }

  void store_word(std::size_t word, std::int64_t value) {
    std::atomic_ref<std::int64_t>(words_[word]).store(value, std::memory_order_release);
  }

  void hold(Stream stream, std::size_t word) {
    cuda::Spin spin;
    spin.duration = kAnswerTimeout;
    spin.abort = words_ + word;
    check(runtime_.spin(spin, stream));
  }

  std::span<const std::byte> slot_bytes(HostSlots& slots) const {
    return {slots.slot(0), static_cast<std::size_t>(largest_)};
  }

  // One piece after another of the place, as batches come: what was copied just now lies in the
  // host's cache, from where memory that is not page-locked is copied twice as fast.
  void copy(std::span<const std::byte> host, Bytes bytes) {
    const auto length = static_cast<std::size_t>(bytes);
    if (next_ + length > host.size()) next_ = 0;
    check(runtime_.copy_to_device(target_, host.data() + next_, length, stream_));
    next_ += length;
  }

  Nanos time_held(std::span<const std::byte> host, Bytes bytes) {
    store_word(0, 0);
    hold(stream_, 0);
    for (std::int64_t i = 0; i < kWarmingCopies; ++i) copy(host, bytes);
    check(runtime_.record(begin_, stream_));
    for (std::int64_t i = 0; i < count_copies(bytes); ++i) copy(host, bytes);
    check(runtime_.record(end_, stream_));
    store_word(0, 1);
    check(runtime_.synchronise(end_));
    double ms = 0;
    check(runtime_.elapsed(begin_, end_, ms));
    return static_cast<Nanos>(ms * 1e6);
  }

  Nanos time_by_host(std::span<const std::byte> host, Bytes bytes, bool waits) {
    for (std::int64_t i = 0; i < kWarmingCopies; ++i) copy(host, bytes);
    check(runtime_.record(end_, stream_));
    check(runtime_.synchronise(end_));
    const Nanos begin = runtime_.now();
    for (std::int64_t i = 0; i < count_copies(bytes); ++i) {
      copy(host, bytes);
      if (!waits) continue;
      check(runtime_.record(end_, stream_));
      check(runtime_.synchronise(end_));
    }
    check(runtime_.record(end_, stream_));
    check(runtime_.synchronise(end_));
    return runtime_.now() - begin;
  }

  // Rates in ascending order; the first sample wakes the link and is not counted.
  std::vector<double> sampled(const std::function<Nanos()>& time, Bytes bytes) {
    std::vector<double> rates;
    const auto copied = static_cast<double>(bytes * count_copies(bytes));
    time();
    for (int i = 0; i < options_.samples; ++i)
      rates.push_back(copied * 1e9 / static_cast<double>(std::max<Nanos>(time(), 1)));
    std::sort(rates.begin(), rates.end());
    return rates;
  }

  Runtime& runtime_;
  const LinkOptions& options_;
  const Bytes largest_;
  DeviceObjects objects_;
  Stream stream_, other_;
  Event begin_, end_;
  std::int64_t* words_;  // words of the kernel that holds the copies, and of the concurrent one
  void* target_ = nullptr;
  std::size_t next_ = 0;  // byte of the place
};

template <class Mode>
bool wants(const std::vector<Mode>& modes, Mode mode) {
  return modes.empty() || std::find(modes.begin(), modes.end(), mode) != modes.end();
}

}  // namespace

LinkMatrix measure_link(std::shared_ptr<cuda::Runtime> runtime, const LinkOptions& options,
                        const std::atomic<int>& stop) {
  if (const auto reason = cuda::why_no_gpu(runtime.get())) throw RunError("probe link: " + *reason);
  LinkMatrix matrix;
  cuda::Properties properties;
  cuda::check("probe link", runtime->set_device(options.device));
  cuda::check("probe link", runtime->properties(options.device, properties));
  matrix.gpu = properties.name;
  // Memory is placed where it is first touched, and copies from another node cross the sockets.
  const OnCpus near(near_cpus(options.root, properties.pci_address, allowed_cpus()));
  matrix.near_cpus = near.holds() ? std::ssize(allowed_cpus()) : 0;

  LinkProbe probe(*runtime, options);
  const Bytes largest = probe.largest();
  for (const auto& memory : Words<MemoryMode>::table()) {
    // The pin thread's memory is that of pinned slots.
    if (memory.value == MemoryMode::pin_thread || !wants(options.memories, memory.value)) continue;
    const auto gang = std::make_shared<cuda::DeviceGroup>(runtime, 1, 1, false);
    const auto slots = cuda::make_cuda_slots(gang, options.device, memory.value, 1, largest);
    std::fill_n(slots->slot(0), largest, std::byte{1});
    for (const Bytes bytes : options.sizes) {
      for (const auto& copy : Words<CopyMode>::table()) {
        if (!wants(options.copies, copy.value)) continue;
        matrix.interrupted = stop.load(std::memory_order_relaxed) != 0;
        if (matrix.interrupted) return matrix;
        matrix.cells.push_back(probe.measure(memory.value, copy.value, *slots, bytes));
      }
      if (memory.value == MemoryMode::pinned_slots)
        matrix.bare.push_back(probe.measure_bare(*slots, bytes));
    }
  }
  return matrix;
}

}  // namespace loaderscope::probe
