#include "watch/hang_lines.h"

#include <fmt/format.h>

#include "hang/hang_facts.h"
#include "hang/hang_report.h"
#include "machine/machine.h"

namespace loaderscope::watch {
namespace {

using hang::HangFacts;
using hang::RankFacts;
using hang::WorkerFacts;

std::vector<hang::PythonThread> threads_of(pid_t process, const PythonLooks& python) {
  const auto look = python.find(process);
  return look == python.end() ? std::vector<hang::PythonThread>{} : look->second.threads;
}

// A worker that waits for a task rests; any other makes a batch, or cannot.
bool rests(const ProcessSamples& worker) {
  return !worker.has_ended() && worker.latest_look().doing == ThreadActivity::queue;
}

hang::WorkerFacts worker_facts(const std::filesystem::path& root, const ProcessSamples& worker,
                               const PythonLooks& python) {
  hang::WorkerFacts facts;
  const pid_t pid = worker.process().pid;
  static_cast<hang::ProcessFacts&>(facts) = hang::take_process_snapshot(pid, nullptr, root);
  facts.number = static_cast<std::int32_t>(worker.process().number);
  facts.threads = threads_of(pid, python);
  if (!rests(worker)) facts.batch = 0;  // unknown number
  return facts;
}

hang::RankFacts rank_facts(const std::filesystem::path& root, const ProcessSamples& trainer,
                           bool is_alone, const JobSampler& sampler, const PythonLooks& python) {
  hang::RankFacts facts;
  const pid_t pid = trainer.process().pid;
  static_cast<hang::ProcessFacts&>(facts) = hang::take_process_snapshot(pid, nullptr, root);
  facts.rank = is_alone ? -1 : static_cast<std::int32_t>(trainer.process().rank);
  facts.threads = threads_of(pid, python);
  if (trainer.latest_look().doing == ThreadActivity::queue || is_alone)
    facts.asking_for = sampler.hung_for();
  for (const ProcessSamples* worker : sampler.traces(Role::worker)) {
    if (worker->process().trainer == pid)
      facts.workers.push_back(worker_facts(root, *worker, python));
  }
  facts.loader.num_workers = static_cast<std::int32_t>(facts.workers.size());
  // The awaited batch is not visible: the first worker that does not rest has it.
  for (const hang::WorkerFacts& worker : facts.workers) {
    if (worker.has_ended || worker.batch >= 0) {
      hang::AwaitedBatch batch;
      batch.worker = worker.number;
      batch.begun = true;
      facts.awaited.push_back(batch);
      break;
    }
  }
  return facts;
}

// The one whose worker does not rest keeps the others waiting.
std::size_t root_among(const std::vector<hang::RankFacts>& ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].asking_for > 0 && ranks[i].maker() != nullptr) return i;
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].asking_for > 0) return i;
  }
  return 0;
}

std::string answer_of(const hang::HangFacts& facts) {
  const hang::RankFacts& rank = facts.rank();
  const hang::WorkerFacts* maker = rank.maker();
  const std::string begin = fmt::format("standing for {} s: {}", facts.since / kSecond,
                                        with_process(name_of(rank), rank));
  if (rank.asking_for > 0 && maker != nullptr)
    return fmt::format("{} waits for {}, which {}", begin, with_process(name_of(*maker), *maker),
                       place_of(*maker));
  if (rank.asking_for > 0 && !rank.workers.empty())
    return fmt::format("{} waits for a batch though all workers rest, and {}", begin,
                       place_of(rank));
  return fmt::format("{} {}", begin, place_of(rank));
}

}  // namespace

std::vector<std::string> hang_lines(const std::filesystem::path& root, const JobSampler& sampler,
                                    const PythonLooks& python) {
  hang::HangFacts facts;
  facts.since = sampler.hung_for();
  const std::vector<const ProcessSamples*> trainers = sampler.traces(Role::trainer);
  for (const ProcessSamples* trainer : trainers)
    facts.ranks.push_back(rank_facts(root, *trainer, trainers.size() == 1, sampler, python));
  if (facts.ranks.empty()) return {};
  facts.root = root_among(facts.ranks);
  if (const auto shared = read_shared_folder()) {
    facts.shared_free = static_cast<double>(shared->free);
    facts.shared_size = static_cast<double>(shared->free + shared->used);
  }
  hang::HangReport report = report_of(facts);
  report.answer = answer_of(facts);
  return report.lines();
}

}  // namespace loaderscope::watch
