#include "engine/pipeline/resident_load.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/arithmetic.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxDrawn = 2000;  // samples that stand for all

// Sums over samples, in ns and bytes.
struct Work {
  double waits = 0;    // times that workers spend off the CPU
  double cpu = 0;      // times of workers on a core
  double fetched = 0;  // times of reads alone
  double bytes = 0;    // stored bytes
  double held = 0;     // bytes that the device keeps

  void scale(double factor) {
    for (double* const sum : {&waits, &cpu, &fetched, &bytes, &held}) *sum *= factor;
  }
};

double link_time(const StorageModel& storage, double bytes) {
  return storage.bandwidth > 0 ? 1e9 * bytes / storage.bandwidth : 0;
}

// Requests are under way while the worker does other work: a worker waits for its share of them.
double request_time(const FittedCosts::Requests& requests, double bytes) {
  const double each = requests.latency + requests.queueing + requests.per_byte * bytes;
  return each / std::max(1.0, requests.samples) /
         static_cast<double>(std::max<std::int64_t>(requests.depth, 1));
}

void add_read(const LoaderPlan& plan, const StagePlan& stage, const Execution& sample, Work& work) {
  const auto bytes = static_cast<double>(sample.bytes);
  StageTime time = plan.sample_time(stage, sample);
  double fetched = static_cast<double>(time.waits + time.transfers);
  if (const FittedCosts::Requests* requests = plan.storage.requests()) {
    fetched = request_time(*requests, bytes);
  } else if (plan.storage.serves_reads) {
    fetched = static_cast<double>(plan.storage.latency + stage.injected(sample)) +
              link_time(plan.storage, bytes);
    time.cpu = 0;
  }
  work.waits += fetched;
  work.fetched += fetched;
  work.cpu += static_cast<double>(time.cpu);
}

void add_sample(const LoaderPlan& plan, const Execution& sample, Work& work) {
  const ResidentForm form = plan.config.image.resident.value.form;
  for (const StagePlan& stage : plan.sample_stages) {
    if (!is_loading_stage(stage.stage(), form)) continue;
    if (stage.stage() == Stage::read) {
      add_read(plan, stage, sample, work);
      continue;
    }
    const StageTime time = plan.sample_time(stage, sample);
    work.waits += static_cast<double>(time.waits + time.transfers + time.remote_cpu);
    work.cpu += static_cast<double>(time.cpu);
  }
  work.bytes += static_cast<double>(sample.bytes);
  work.held += static_cast<double>(plan.on_device.held_bytes(sample.bytes));
}

// The work on all samples that the device keeps.
Work loading_work(const LoaderPlan& plan) {
  const std::int64_t samples = plan.config.data.samples;
  const std::int64_t drawn = std::min(samples, kMaxDrawn);
  Work work;
  for (std::int64_t i = 0; i < drawn; ++i) {
    Execution sample;
    sample.draw = saturated_product(i, samples) / drawn;
    sample.count = i;
    sample.bytes = plan.storage.stored_bytes(sample);
    if (plan.device_holds(sample)) add_sample(plan, sample, work);
  }
  if (drawn > 0) work.scale(static_cast<double>(samples) / static_cast<double>(drawn));
  return work;
}

// Time until the workers of one host have read everything, while all hosts do.
double reading_time(const LoaderPlan& plan, const Work& work) {
  const auto hosts = static_cast<double>(plan.cores.per_host.size());
  const double readers = plan.workers * static_cast<double>(plan.ranks) / hosts;
  const double cores =
      std::accumulate(plan.cores.per_host.begin(), plan.cores.per_host.end(), 0.0) / hosts;
  double longest = (work.waits + work.cpu) / readers;
  if (cores > 0) longest = std::max(longest, work.cpu / cores);
  const StorageModel& storage = plan.storage;
  if (storage.serves_reads) longest = std::max(longest, hosts * link_time(storage, work.bytes));
  if (storage.concurrency > 0)
    longest = std::max(longest, hosts * work.fetched / static_cast<double>(storage.concurrency));
  if (const FittedCosts::Requests* requests = storage.requests())
    return std::max(longest, hosts * requests->link_per_byte * work.bytes);
  const bool is_limited = storage.shared && !storage.serves_reads && storage.streams > 0;
  return is_limited ? std::max(longest, hosts * work.fetched / storage.streams) : longest;
}

Nanos limited(double value, double most) { return std::llround(std::min(value, most)); }

}  // namespace

bool is_loading_stage(Stage stage, ResidentForm form) {
  if (stage == Stage::read || stage == Stage::read_decompress) return true;
  return form == ResidentForm::decoded;  // the image is decoded and resized
}

Nanos resident_copy_time(const LoaderPlan& plan, Bytes bytes) {
  const bool is_rate = plan.link.rate > 0 && plan.config.declared_cost(Stage::h2d) == nullptr &&
                       !plan.copy.is_fitted();
  if (is_rate) return transfer_time(bytes, plan.link.rate);
  Execution batch;
  batch.samples = plan.config.loader.batch_size;
  batch.bytes = plan.delivered_bytes(batch.samples);
  if (batch.bytes <= 0) return 0;
  const auto batches = static_cast<double>(bytes) / static_cast<double>(batch.bytes);
  return limited(static_cast<double>(plan.copy_time(batch)) * batches,
                 static_cast<double>(kMaxCost));
}

ResidentLoad resident_load(const LoaderPlan& plan) {
  if (!plan.config.image.resident.value.holds_data()) return {};
  const Work work = loading_work(plan);
  const double ranks_of_host =
      static_cast<double>(plan.ranks) / static_cast<double>(plan.cores.per_host.size());
  const Bytes bytes = limited(work.held, 0x1p60);
  const double ns = reading_time(plan, work) +
                    ranks_of_host * static_cast<double>(resident_copy_time(plan, bytes));
  return {bytes, limited(ns, static_cast<double>(kMaxCost))};
}

void add_resident_load(const ResidentLoad& load, RunRecord& record) {
  if (load.bytes == 0) return;
  record.before_first_ask.emplace_back(name_of(Cause::read), load.time);
  record.metrics.push_back(make_metric(metric::memory_gpu_data_bytes,
                                       "data set that the GPU of one rank keeps",
                                       static_cast<double>(load.bytes)));
}

}  // namespace loaderscope
