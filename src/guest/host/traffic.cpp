#include "guest/host/traffic.h"

#include <algorithm>

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMostProcesses = 4096;  // processes: of a job of hours the first tell enough
constexpr std::size_t kMostSameNames = 8;     // names
constexpr std::string_view kSameNames = "opens.same";

struct Sums {
  double processes = 0;
  TrafficCounts first, all, behind;  // `behind` their first batch
  double batches = 0;                // behind the first
};

void add(TrafficCounts& to, const TrafficCounts& more, double sign = 1) {
  to.opens += sign * more.opens;
  to.modules += sign * more.modules;
  to.listings += sign * more.listings;
  to.requests += sign * more.requests;
  to.throttled += sign * more.throttled;
  to.retries += sign * more.retries;
  to.failed += sign * more.failed;
  to.bytes += sign * more.bytes;
  to.spent += sign * more.spent;
}

void add(Sums& sums, const TrafficMessage& told) {
  ++sums.processes;
  add(sums.first, told.first);
  add(sums.all, told.all);
  if (told.batches < 2) return;
  add(sums.behind, told.all);
  add(sums.behind, told.first, -1);
  sums.batches += told.batches - 1;
}

// Of a process, on average. `asks`: the job makes requests.
void say_first(std::vector<Metric>& metrics, const Sums& sums, bool of_workers, bool asks) {
  if (sums.processes == 0) return;
  const std::string whose = of_workers ? "worker_first" : "trainer_first";
  const std::string until =
      of_workers ? "a worker until its first batch" : "the trainer until its loader begins";
  const auto each = [&](const std::string& name, const std::string& text, double sum) {
    metrics.push_back({name, "1", text + until, sum / sums.processes});
  };
  each("opens." + whose, "files that Python opens, without its modules, in ", sums.first.opens);
  each("opens." + whose + "_modules", "modules that Python opens in ", sums.first.modules);
  each("opens." + whose + "_listings", "folders that Python lists in ", sums.first.listings);
  if (!asks) return;
  each("requests." + whose, "requests to servers by ", sums.first.requests);
  metrics.push_back({"requests." + whose + "_s", "s", "that they took, the mean of the processes",
                     sums.first.spent * 1e-9 / sums.processes});
}

}  // namespace

void Traffic::hear(const Hello& who, const TrafficMessage& told) {
  const auto known = processes_.find(who.id());
  if (known != processes_.end()) {
    std::vector<std::string> names = std::move(known->second.told.names);
    known->second.told = told;
    if (told.names.empty()) known->second.told.names = std::move(names);
  } else if (processes_.size() < kMostProcesses) {
    processes_[who.id()] = {who.is_worker, told};
  }
}

std::vector<std::string> Traffic::same_names() const {
  std::map<std::string, std::size_t> times;
  std::size_t workers = 0;
  for (const auto& [pid, process] : processes_) {
    if (!process.is_worker) continue;
    ++workers;
    for (const std::string& name : process.told.names) ++times[name];
  }
  std::vector<std::string> same;
  for (const auto& [name, count] : times)
    if (workers > 1 && count == workers) same.push_back(name);
  return same;
}

std::vector<Metric> Traffic::metrics(double samples) const {
  Sums of_trainers, of_workers;
  for (const auto& [pid, process] : processes_)
    add(process.is_worker ? of_workers : of_trainers, process.told);
  std::vector<Metric> metrics;
  TrafficCounts all = of_trainers.all;
  add(all, of_workers.all);
  say_first(metrics, of_trainers, false, all.requests > 0);
  say_first(metrics, of_workers, true, all.requests > 0);
  const Sums& makers = of_workers.processes > 0 ? of_workers : of_trainers;
  if (makers.batches > 0 && samples > 0) {
    metrics.push_back({"opens.per_sample", "1", "files that Python opens for a sample",
                       makers.behind.opens / makers.batches / samples, true});
    if (all.requests > 0)
      metrics.push_back({"requests.per_sample", "1", "requests to servers for a sample",
                         makers.behind.requests / makers.batches / samples, true});
  }
  if (const auto same = same_names(); !same.empty())
    metrics.push_back({std::string(kSameNames), "1",
                       "names that every worker opens, lists or asks for before its first batch",
                       static_cast<double>(same.size())});
  if (all.requests == 0) return metrics;
  metrics.push_back(adds_up({"requests.count", "1", "to servers, by all processes", all.requests}));
  metrics.push_back(
      adds_up({"requests.bytes", "bytes", "that their answers say they have", all.bytes}));
  metrics.push_back(adds_up(
      {"requests.throttled", "1", "answers 429 or 503: the server wants fewer", all.throttled}));
  metrics.push_back(adds_up({"requests.retries", "1",
                             "made again behind such an answer, an error of the "
                             "server (500, 502, 504) or none",
                             all.retries}));
  metrics.push_back(adds_up({"requests.failed", "1", "without an answer", all.failed}));
  return metrics;
}

std::vector<Detail> Traffic::details() const {
  std::vector<Detail> details;
  for (const std::string& name : same_names())
    if (details.size() < kMostSameNames) details.push_back({std::string(kSameNames), name, 0});
  return details;
}

}  // namespace loaderscope::guest
