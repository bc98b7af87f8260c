#include "predict/shared_resources.h"

#include <algorithm>
#include <cmath>

#include "analysis/epochs.h"
#include "analysis/library_threads.h"

namespace loaderscope {
namespace {

bool is_of_loader(Stage stage) {
  const bool is_of_device = stage == Stage::compute || stage == Stage::h2d;
  return !is_startup(stage) && !is_of_device && stage != Stage::idle;
}

double worker_time(const RankRecord& rank) {
  double ns = 0;
  for (const Stage stage : kMakingStages) {
    const StageStats& stats = rank.stages[stage];
    ns += static_cast<double>(stats.cpu + stats.blocked());
  }
  return ns;
}

struct Job {
  const PlanRequest& question;
  const RunConfig& config;  // settings of the job, in force
  double step_ns;           // compute time of the GPU
};

// Returns the samples of a rank in a mean step; the last step of an epoch may have fewer.
double mean_batch(const RunConfig& config) {
  const auto batch = static_cast<double>(config.loader.batch_size.value);
  const std::int64_t steps = steps_of_epoch(config);
  if (steps <= 0 || config.loader.drop_last) return batch;
  const std::int64_t samples = divide_up(config.data.samples, sane_count(config.trainer.ranks));
  return static_cast<double>(samples) / static_cast<double>(steps);
}

double full_rate(const Job& job) {
  return static_cast<double>(job.question.ranks) * mean_batch(job.config) / job.step_ns * 1e9;
}

void add_shared(std::vector<SharedResource>& things, const SharedThingRow& row, const Job& job,
                double needed, double given) {
  if (needed <= 0) return;
  SharedResource thing{std::string(row.row.name), needed, given, {}};
  if (!row.is_of_host)
    thing.full_at_ranks = static_cast<double>(job.question.ranks) * given / needed;
  things.push_back(std::move(thing));
}

// Adds the cores and the network of the decode hosts. A worker waits while they decode.
void add_decode_hosts(std::vector<SharedResource>& things, const Job& job, double rate,
                      SampleNeeds& needs) {
  const auto rows = shared_resources();
  const JobHosts hosts = hosts_for(job.question, job.question.hosts, 0);
  const Bytes delivered = job.config.delivered_sample_bytes();
  add_shared(things, rows[1], job, rate * needs.decode_cpu_ns / 1e9, hosts.decode_cores);
  if (hosts.decode_rate > 0)
    add_shared(things, rows[2], job, rate * static_cast<double>(delivered), hosts.decode_rate);
  needs.cpu_ns -= needs.decode_cpu_ns;
  needs.worker_ns +=
      static_cast<double>(hosts.remote_cpu(std::llround(needs.decode_cpu_ns), delivered)) -
      needs.decode_cpu_ns;
}

}  // namespace

SampleNeeds needs_of_sample(const RunRecord& record) {
  SampleNeeds needs;
  double samples = 0;
  for (const RankRecord& rank : record.ranks) {
    if (rank.samples <= 0) continue;
    const auto rank_samples = static_cast<double>(rank.samples);
    samples += rank_samples;
    needs.stored_bytes += static_cast<double>(rank.read_bytes);
    for (const auto& word : Words<Stage>::table()) {
      if (!is_of_loader(word.value)) continue;
      const auto cpu = static_cast<double>(rank.stages[word.value].cpu);
      needs.cpu_ns += cpu;
      if (word.value == Stage::decode) needs.decode_cpu_ns += cpu;
    }
    needs.worker_ns = std::max(needs.worker_ns, worker_time(rank) / rank_samples);
  }
  needs.cpu_ns += 1e9 * cpu_of_libraries(record).value_or(0);
  if (samples <= 0) return {};
  for (double* part : {&needs.stored_bytes, &needs.cpu_ns, &needs.decode_cpu_ns}) *part /= samples;
  return needs;
}

std::span<const SharedThingRow> shared_resources() {
  using Unit = SharedThingRow::Unit;
  static const SharedThingRow rows[] = {
      {{"storage", "Bytes per second of the storage that all hosts read from."},
       "the storage is",
       " of storage",
       Unit::bytes_per_s,
       false},
      {{"decode-hosts", "Cores of the hosts that decode for all ranks."},
       "the hosts that decode are",
       " that decode",
       Unit::cores,
       false},
      {{"decode-link", "Bytes per second that the hosts that decode send."},
       "the link of the hosts that decode is",
       " from the hosts that decode",
       Unit::bytes_per_s,
       false},
      {{"host-cores", "Cores that the loaders of one host's ranks share."},
       "the cores of each host are",
       " a host",
       Unit::cores,
       true},
      {{"workers", "Workers of the rank that needs most, with waits for storage and other hosts."},
       "the workers of each rank are",
       " a rank",
       Unit::workers,
       true},
  };
  return rows;
}

JobHosts hosts_for(const PlanRequest& question, std::int64_t count, Nanos apart) {
  JobHosts hosts;
  hosts.count = count;
  hosts.start_skew = apart;
  if (!question.decode) return hosts;
  const DecodeHosts& decode = *question.decode;
  hosts.decode_cores = static_cast<double>(decode.count) * static_cast<double>(decode.cores);
  hosts.decode_rate = static_cast<double>(decode.count) * decode.rate;
  return hosts;
}

std::vector<SharedResource> things_shared_by(const JobNeeds& needs, const PlanRequest& question,
                                             const RunConfig& config, double step_ns) {
  const Job job{question, config, step_ns};
  SampleNeeds sample = needs.sample;
  const double rate = full_rate(job);
  const double rank_samples = rate / static_cast<double>(question.ranks) / 1e9;
  const double host_samples = rank_samples * static_cast<double>(question.ranks_of_host());
  const auto rows = shared_resources();
  std::vector<SharedResource> things;
  if (needs.storage_rate > 0)
    add_shared(things, rows[0], job, rate * needs.storage_bytes, needs.storage_rate);
  if (question.decode) add_decode_hosts(things, job, rate, sample);
  add_shared(things, rows[3], job, host_samples * sample.cpu_ns, config.declared.cores);
  add_shared(things, rows[4], job, rank_samples * sample.worker_ns,
             static_cast<double>(config.loader.num_workers.value));
  return things;
}

PlanRequest if_unlimited(PlanRequest question, const std::vector<SharedResource>& things) {
  const auto set = [&](const char* key, const std::string& value) {
    std::erase_if(question.changes, [&](const Change& change) { return change.key == key; });
    question.changes.push_back({key, value});
  };
  const auto whole = [](double value) { return std::to_string(std::llround(std::ceil(value))); };
  for (const SharedResource& thing : things) {
    const double enough = std::max(thing.given, 2 * thing.needed);
    if (thing.name == "storage") {
      if (question.storage)
        question.storage->bandwidth = enough;
      else
        set("storage.bandwidth", byte_rate_to_text(enough));
    }
    if (thing.name == "decode-hosts")
      question.decode->cores =
          std::llround(std::ceil(enough / static_cast<double>(question.decode->count)));
    if (thing.name == "decode-link")
      question.decode->rate = enough / static_cast<double>(question.decode->count);
    if (thing.name == "host-cores") set("cores", whole(enough));
    if (thing.name == "workers") set("num-workers", whole(enough));
  }
  return question;
}

std::string first_full(const std::vector<SharedResource>& things) {
  const auto comes_before = [](const SharedResource& a, const SharedResource& b) {
    if (a.full_at_ranks.has_value() != b.full_at_ranks.has_value())
      return a.full_at_ranks.has_value();
    return a.full_at_ranks ? *a.full_at_ranks < *b.full_at_ranks : a.share() > b.share();
  };
  const SharedResource* first = nullptr;
  for (const SharedResource& thing : things) {
    if (thing.is_full() && (first == nullptr || comes_before(thing, *first))) first = &thing;
  }
  return first == nullptr ? "" : first->name;
}

}  // namespace loaderscope
