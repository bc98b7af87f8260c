#include "analysis/scale/shared_things.h"

#include <algorithm>
#include <cmath>

#include "analysis/scale/sample_needs.h"

namespace loaderscope {
namespace {

struct Job {
  const RunRecord& record;
  const JobQuestion& question;
  const RunConfig& config;  // of the job, in force
  double step_ns;           // that the GPU computes
};

double full_rate(const Job& job) {
  const auto batch = static_cast<double>(job.config.loader.batch_size.value);
  return static_cast<double>(job.question.ranks) * batch / job.step_ns * 1e9;
}

// What the worker of a sample waits for the storage, where nobody else asks it.
double storage_wait(const SharedStorage& storage, double bytes) {
  return static_cast<double>(storage.latency) + bytes / storage.bandwidth * 1e9;
}

SampleNeeds needs_of(const Job& job) {
  SampleNeeds needs = needs_of_sample(job.record);
  if (job.question.storage)
    needs.worker_ns +=
        storage_wait(*job.question.storage, needs.stored_bytes) - needs.read_waits_ns;
  return needs;
}

void add_shared(std::vector<SharedThing>& things, const SharedThingRow& row, const Job& job,
                double needed, double given) {
  if (given <= 0 || needed <= 0) return;
  SharedThing thing{std::string(row.row.name), needed, given, {}};
  if (!row.is_of_host)
    thing.full_at_ranks = static_cast<double>(job.question.ranks) * given / needed;
  things.push_back(std::move(thing));
}

}  // namespace

std::span<const SharedThingRow> shared_things() {
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
      {{"host-cores", "Cores of one host, for the loaders of its ranks."},
       "the cores of each host are",
       " a host",
       Unit::cores,
       true},
      {{"workers", "Workers of one rank, with what they wait for the storage."},
       "the workers of each rank are",
       " a rank",
       Unit::workers,
       true},
  };
  return rows;
}

std::vector<SharedThing> things_shared_by(const RunRecord& record, const JobQuestion& question,
                                          const RunConfig& config, double step_ns) {
  const Job job{record, question, config, step_ns};
  const SampleNeeds needs = needs_of(job);
  const double rate = full_rate(job);
  const double of_rank = rate / static_cast<double>(job.question.ranks) / 1e9;
  const double of_host = of_rank * static_cast<double>(question.ranks_of_host());
  const auto rows = shared_things();
  std::vector<SharedThing> things;
  if (job.question.storage)
    add_shared(things, rows[0], job, rate * needs.stored_bytes, job.question.storage->bandwidth);
  double cpu = needs.cpu_ns, worker = needs.worker_ns;
  if (job.question.decode) {
    const DecodeHosts& decode = *job.question.decode;
    add_shared(things, rows[1], job, rate * needs.decode_cpu_ns / 1e9,
               static_cast<double>(decode.count) * static_cast<double>(decode.cores));
    const auto delivered = static_cast<double>(job.config.delivered_sample_bytes());
    add_shared(things, rows[2], job, rate * delivered,
               static_cast<double>(decode.count) * decode.rate);
    cpu -= needs.decode_cpu_ns;
    worker -= needs.decode_cpu_ns;
  }
  add_shared(things, rows[3], job, of_host * cpu, job.config.declared.cores);
  add_shared(things, rows[4], job, of_rank * worker,
             static_cast<double>(std::max<std::int64_t>(job.config.loader.num_workers, 1)));
  return things;
}

JobQuestion with_enough(JobQuestion question, const std::vector<SharedThing>& things) {
  const auto set = [&](const char* key, double value) {
    std::erase_if(question.changes, [&](const Change& change) { return change.key == key; });
    question.changes.push_back({key, std::to_string(std::llround(std::ceil(value)))});
  };
  for (const SharedThing& thing : things) {
    const double enough = std::max(thing.given, 2 * thing.needed);
    if (thing.name == "storage") question.storage->bandwidth = enough;
    if (thing.name == "decode-hosts")
      question.decode->cores =
          std::llround(std::ceil(enough / static_cast<double>(question.decode->count)));
    if (thing.name == "decode-link")
      question.decode->rate = enough / static_cast<double>(question.decode->count);
    if (thing.name == "host-cores") set("cores", enough);
    if (thing.name == "workers") set("num-workers", enough);
  }
  return question;
}

std::string first_full(const std::vector<SharedThing>& things) {
  const auto comes_before = [](const SharedThing& a, const SharedThing& b) {
    if (a.full_at_ranks.has_value() != b.full_at_ranks.has_value())
      return a.full_at_ranks.has_value();
    return a.full_at_ranks ? *a.full_at_ranks < *b.full_at_ranks : a.share() > b.share();
  };
  const SharedThing* first = nullptr;
  for (const SharedThing& thing : things) {
    if (thing.is_full() && (first == nullptr || comes_before(thing, *first))) first = &thing;
  }
  return first == nullptr ? "" : first->name;
}

}  // namespace loaderscope
