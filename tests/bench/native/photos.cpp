#include "bench/native/photos.h"

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "base/thread_meter.h"
#include "dataset/make.h"
#include "engine/native/native_engine.h"
#include "loaderscope/augment.h"
#include "loaderscope/decode.h"
#include "loaderscope/device.h"
#include "loaderscope/engine.h"
#include "loaderscope/settings.h"
#include "source/file_source.h"

namespace loaderscope::bench {
namespace {

constexpr std::int64_t kPhotos = 2000;

AugmentOptions make_augment_options(const Load& load) {
  AugmentOptions options;
  options.antialias = load.antialias;
  return options;
}

// A thread of the bare loop: its objects, and the times of its run.
class BareWorker {
 public:
  BareWorker(const Load& load, const Source& source, std::int64_t index)
      : load_(load),
        index_(index),
        bytes_(static_cast<std::size_t>(sample_bytes(make_augment_options(load)))),
        reader_(source.make_reader()),
        decoder_(make_any_decoder({})),
        augmenter_(make_augmenter(make_augment_options(load))),
        slots_(memory_row(MemoryMode::registered)
                   .make(1, static_cast<Bytes>(bytes_) * load.batch_size)) {}

  void run(std::barrier<>& warm) {
    make_batches(0, kWarmup);
    warm.arrive_and_wait();
    begin = monotonic_now();
    const Nanos cpu_before = thread_cpu_now();
    make_batches(kWarmup, kWarmup + load_.steps);
    cpu = thread_cpu_now() - cpu_before;
    end = monotonic_now();
  }

  Nanos begin = 0, end = 0, cpu = 0;

 private:
  void make_batches(std::int64_t from, std::int64_t to) {
    for (std::int64_t batch = from + index_; batch < to; batch += kThreads) {
      for (std::int64_t i = 0; i < load_.batch_size; ++i) {
        const std::int64_t sample = batch * load_.batch_size + i;
        const ImageHeader header = decoder_->open(reader_->read(sample));
        const AugmentRecipe recipe = augmenter_->choose(0, sample, header);
        augmenter_->apply(decoder_->decode(recipe.region), recipe,
                          slots_->slot(0) + static_cast<std::size_t>(i) * bytes_);
      }
    }
  }

  const Load& load_;
  std::int64_t index_;
  std::size_t bytes_;
  std::unique_ptr<SampleReader> reader_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Augmenter> augmenter_;
  std::unique_ptr<HostSlots> slots_;
};

}  // namespace

std::string make_photos() {
  dataset::MakeOptions options;
  options.path = LOADERSCOPE_BENCH_DATA "/photos";
  options.count = kPhotos;
  dataset::MakeContext context;
  context.on_progress = [](const dataset::MakeProgress& progress) {
    std::fprintf(stderr, "\rmaking photographs: %lld of %lld ",
                 static_cast<long long>(progress.done), static_cast<long long>(progress.total));
  };
  const dataset::MakeResult result = dataset::make_dataset(options, context);
  if (result.made > 0) std::fputc('\n', stderr);
  return options.path;
}

RunConfig config_of_lines(const std::string& lines, const std::string& defaults) {
  RunConfig config;
  parse_scenario(lines, "bench", config);
  parse_scenario(defaults, "bench", config);
  std::vector<std::string> notes;
  return resolve(config, MachineLimits{kThreads}, notes);
}

RunConfig load_config(const Load& load) {
  // The window of batches is dispatched ahead of the last step.
  const std::int64_t samples =
      (kWarmup + std::max(load.steps, load.most_steps) + 2 * kThreads + 4) * load.batch_size;
  std::string lines;
  for (std::int64_t listed = 0; listed < samples; listed += kPhotos)
    lines += "data = " + load.folder + "\n";
  lines += "cache = warm\ndevice = null\nnum-workers = " + std::to_string(kThreads) +
           "\nbatch-size = " + std::to_string(load.batch_size) +
           "\nwarmup = " + std::to_string(kWarmup) + "\nsteps = " + std::to_string(load.steps) +
           "\nantialias = " + (load.antialias ? "on" : "off") + "\n";
  return config_of_lines(lines);
}

RunRecord run_loader(const Load& load) {
  RunContext context;
  context.native.time_stages = load.time_stages;
  return run_native(load_config(load), context);
}

RunRecord run_short_stages(double seconds, bool time_stages) {
  constexpr double kBatchSeconds = 64 * 300e-6;
  const auto steps = static_cast<std::int64_t>(seconds * kThreads / kBatchSeconds);
  RunContext context;
  context.native.time_stages = time_stages;
  return run_native(config_of_lines("device = null\ncost = read=100us:cpu\ncost = decode=100us\n"
                                    "cost = augment=100us\nnum-workers = 2\nwarmup = 6\nsteps = " +
                                    std::to_string(steps) + "\n"),
                    context);
}

Rate run_rate(const RunRecord& record) {
  const RankRecord& rank = record.ranks.front();
  const auto samples = static_cast<double>(rank.samples);
  Rate rate;
  rate.wall = samples / seconds(rank.window());
  for (const Metric& metric : record.metrics) {
    if (metric.name == "process.cpu_s") rate.cpu = samples / metric.value;
  }
  return rate;
}

Rate run_bare_loop(const Load& load) {
  SourceOptions options;
  options.paths = load_config(load).data.paths.value;
  const auto source = open_files(options);
  std::vector<std::unique_ptr<BareWorker>> workers;
  for (int i = 0; i < kThreads; ++i)
    workers.push_back(std::make_unique<BareWorker>(load, *source, i));
  std::barrier<> warm(kThreads);
  std::vector<std::thread> threads;
  for (auto& worker : workers)
    threads.emplace_back([&warm, &worker = *worker] { worker.run(warm); });
  for (std::thread& thread : threads) thread.join();

  Nanos begin = workers[0]->begin, end = 0, cpu = 0;
  for (const auto& worker : workers) {
    begin = std::min(begin, worker->begin);
    end = std::max(end, worker->end);
    cpu += worker->cpu;
  }
  const auto samples = static_cast<double>(load.steps * load.batch_size);
  return {samples / seconds(end - begin), samples / seconds(cpu)};
}

}  // namespace loaderscope::bench
