// All GPUs at once: their copies alone and while cores decode, launches on a machine at rest and at
// work, and copies from the far NUMA node.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <thread>

#include "analysis/wording.h"
#include "base/sleep.h"
#include "device/cuda/device_objects.h"
#include "device/cuda/gpu_link.h"
#include "device/cuda/runtime.h"
#include "loaderscope/errors.h"
#include "probe/measurement.h"

namespace loaderscope::probe {
namespace {

using cuda::DeviceObjects;
using cuda::Runtime;

constexpr std::size_t kCopiedAtOnce = std::size_t{64} << 20;
constexpr int kSlices = 7;  // parts of the time

// Copies of one GPU. The thread that uses it must create it, so that its memory is near that
// thread.
class CopiedGpu {
 public:
  CopiedGpu(Runtime& runtime, int device) : runtime_(runtime), device_(device) {
    cuda::check(name(), runtime.set_device(device));
    objects_.emplace(runtime, name());
    stream_ = objects_->stream();
    done_ = objects_->event();
    target_ = objects_->memory(kCopiedAtOnce, "the target of copies");
    host_ = objects_->host_memory(kCopiedAtOnce, "what is copied");
  }
  ~CopiedGpu() {
    runtime_.set_device(device_);
    objects_.reset();
  }
  CopiedGpu(const CopiedGpu&) = delete;
  CopiedGpu& operator=(const CopiedGpu&) = delete;

  double copy() {
    check(runtime_.copy_to_device(target_, host_, kCopiedAtOnce, stream_));
    wait();
    return static_cast<double>(kCopiedAtOnce);
  }
  void launch() {
    check(runtime_.spin({}, stream_));
    wait();
  }

 private:
  std::string name() const { return fmt::format("GPU {}", device_); }
  void check(const cuda::Status& status) const { objects_->check("probe", status); }
  void wait() {
    check(runtime_.record(done_, stream_));
    check(runtime_.synchronise(done_));
  }

  Runtime& runtime_;
  int device_;
  std::optional<DeviceObjects> objects_;
  cuda::Stream stream_;
  cuda::Event done_;
  void *target_ = nullptr, *host_ = nullptr;
};

Work copying_to(Runtime& runtime, int device) {
  return [&runtime, device, gpu = std::shared_ptr<CopiedGpu>()]() mutable {
    if (!gpu) gpu = std::make_shared<CopiedGpu>(runtime, device);
    return gpu->copy();
  };
}

// Works during a measurement, until its destructor.
class BackgroundLoad {
 public:
  explicit BackgroundLoad(std::function<void(const std::atomic<int>& stop)> work)
      : thread_([this, work = std::move(work)] {
          try {
            work(stop_);
          } catch (const std::exception&) {
            failed_.store(true);
          }
        }) {}
  ~BackgroundLoad() { end(); }
  BackgroundLoad(const BackgroundLoad&) = delete;
  BackgroundLoad& operator=(const BackgroundLoad&) = delete;

  bool end() {  // false: it could not work
    stop_.store(1);
    if (thread_.joinable()) thread_.join();
    return !failed_.load();
  }

 private:
  std::atomic<int> stop_{0};
  std::atomic<bool> failed_{false};
  std::thread thread_;
};

// Every CPU works for that share of each 10 ms.
void burn_on(const CpuSet& cpus, double share, const std::atomic<int>& stop) {
  constexpr Nanos kTurn = 10 * kMillisecond;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < cpus.size(); ++i)
    threads.emplace_back([&] {
      run_on(cpus);
      while (stop.load() == 0) {
        const Nanos begin = monotonic_now();
        burn_cpu(std::llround(share * static_cast<double>(kTurn)), stop);
        sleep_until(begin + kTurn, &stop);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

// "52.7 GB/s", or "52.7 GB/s (±14 %)"
std::string with_noise(const Rate& rate) {
  constexpr double kMuch = 0.1;
  const std::string text = format_byte_rate(rate.per_s);
  return rate.noise > kMuch ? fmt::format("{} (±{:.0f} %)", text, 100 * rate.noise) : text;
}

class Together {
 public:
  Together(const ProbeContext& probing, Runtime& runtime, int gpus, Outcome& outcome)
      : probing_(probing),
        runtime_(runtime),
        gpus_(gpus),
        outcome_(outcome),
        time_(std::max<Nanos>(probing.left() / kSlices, 30 * kMillisecond)) {}

  // One GPU is alone: how fast is measured with its link.
  void measure() {
    std::string line;
    if (gpus_ > 1) {
      const Rate alone = measure_rate(copies(), probing_.cpus.all, time_, probing_.stop);
      add_rate("all_pinned", alone);
      line = fmt::format("{} at once: {}", plural(gpus_, "GPU"), with_noise(alone));
    }
    if (const auto busy = while_decoding()) {
      add_rate("all_pinned_decoding", *busy);
      line += line.empty() ? "copies to the GPU " : ", ";
      line += with_noise(*busy) + " while all cores decode";
    }
    if (!line.empty()) outcome_.lines.push_back(line);
    measure_launches();
    measure_far_node();
  }

 private:
  std::vector<Work> copies() {
    std::vector<Work> works;
    for (int gpu = 0; gpu < gpus_; ++gpu) works.push_back(copying_to(runtime_, gpu));
    return works;
  }

  void add_rate(const std::string& name, const Rate& rate) {
    outcome_.figures.push_back({name, "bytes/s", rate.per_s, rate.noise, "64 MiB"});
  }

  std::optional<Rate> while_decoding() {
    if (!probing_.is_running()) return std::nullopt;
    try {
      const std::vector<Work> decoding = decoding_of_made_images(probing_.cpus.all.size());
      BackgroundLoad load([&](const std::atomic<int>& stop) {
        measure_rate(decoding, probing_.cpus.all, 60 * kSecond, stop);
      });
      const Rate rate = measure_rate(copies(), probing_.cpus.all, time_, probing_.stop);
      if (load.end()) return rate;
      outcome_.notes.push_back("not measured while cores decode: they could not");
    } catch (const RunError& error) {
      outcome_.notes.push_back(fmt::format("not measured while cores decode: {}", error.what()));
    }
    return std::nullopt;
  }

  // Returns the median time from the call until the host knows that an empty kernel has run.
  double launch() {
    CopiedGpu gpu(runtime_, 0);
    gpu.launch();
    std::vector<double> times;
    const Nanos until = monotonic_now() + time_;
    for (Nanos begin = monotonic_now(); begin < until && probing_.is_running();) {
      gpu.launch();
      const Nanos end = monotonic_now();
      times.push_back(seconds(end - begin));
      begin = end;
    }
    if (times.empty()) return 0;
    std::nth_element(times.begin(), times.begin() + std::ssize(times) / 2, times.end());
    return times[times.size() / 2];
  }

  void measure_launches() {
    struct Load {
      const char *name, *words;
      double share;
    };
    std::string line;
    for (const Load& load : {Load{"launch_s", "at rest", 0},
                             {"launch_half_s", "with every CPU half at work", 0.5},
                             {"launch_full_s", "at 95 %", 0.95}}) {
      if (!probing_.is_running()) return;
      std::optional<BackgroundLoad> background;
      if (load.share > 0)
        background.emplace(
            [&](const std::atomic<int>& stop) { burn_on(probing_.cpus.all, load.share, stop); });
      Figure figure{load.name, "s", launch()};
      line += fmt::format("{}{} {}", line.empty() ? "a launch and its end " : ", ", load.words,
                          shown(figure));
      outcome_.figures.push_back(std::move(figure));
    }
    outcome_.lines.push_back(line);
  }

  void measure_far_node() {
    cuda::Properties facts;
    cuda::check("GPU 0", runtime_.properties(0, facts));
    const CpuSet& all = probing_.cpus.all;
    const CpuSet near = near_cpus(probing_.options.root, facts.pci_address, all);
    CpuSet far;
    std::set_difference(all.begin(), all.end(), near.begin(), near.end(), std::back_inserter(far));
    if (near.empty() || far.empty()) {
      outcome_.notes.push_back(near.empty()
                                   ? "which NUMA node GPU 0 is on is not known"
                                   : "no CPU of another NUMA node than GPU 0's may be used");
      return;
    }
    if (!probing_.is_running()) return;
    const Rate here = measure_rate({copying_to(runtime_, 0)}, near, time_, probing_.stop);
    const Rate there = measure_rate({copying_to(runtime_, 0)}, far, time_, probing_.stop);
    add_rate("near_0", here);
    add_rate("far_0", there);
    outcome_.lines.push_back(fmt::format("GPU 0 from its own NUMA node {}, from others {}",
                                         with_noise(here), with_noise(there)));
  }

  const ProbeContext& probing_;
  Runtime& runtime_;
  int gpus_;
  Outcome& outcome_;
  Nanos time_;
};

}  // namespace

void measure_gpus_together(const ProbeContext& probing, Outcome& outcome) {
  Runtime* const runtime = probing.options.runtime.get();
  const auto none = runtime != nullptr ? cuda::why_no_gpu(runtime)
                                       : std::optional<std::string>("built without CUDA");
  if (none) throw RunError(none->ends_with('.') ? none->substr(0, none->size() - 1) : *none);
  int gpus = 0;
  cuda::check("GPUs", runtime->device_count(gpus));
  Together(probing, *runtime, gpus, outcome).measure();
}

}  // namespace loaderscope::probe
