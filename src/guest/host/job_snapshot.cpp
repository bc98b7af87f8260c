#include "guest/host/job_snapshot.h"

#include <sys/statvfs.h>

#include "machine/proc_file.h"

namespace loaderscope::guest {
namespace {

using Trainer = TrainingProcesses::Trainer;

constexpr std::size_t kMaxProcesses = 512;  // processes of each kind in a snapshot

const CurrentWork* current_work_of(const JobView& job, pid_t process) {
  for (const auto& member : job.members) {
    if (member->pid == process && member->page() != nullptr) return &member->page()->current_work;
  }
  return nullptr;
}

// Returns the workers of the iterator that the trainer waits for, by number. Includes workers that
// have ended.
std::map<std::int32_t, pid_t> workers_of(const JobView& job, const Trainer& trainer) {
  std::map<std::int32_t, pid_t> workers;
  const std::int32_t iterator = trainer.process->movement().current().iterator;
  const auto add = [&](const Hello& who) {
    const bool is_its = who.is_worker && who.trainer == trainer.pid && who.iterator == iterator;
    if (is_its && workers.size() < kMaxProcesses) workers[who.worker] = who.pid;
  };
  for (const auto& [pid, offer] : job.messages.stacks()) add(offer.who);
  for (const auto& member : job.members) add(*member);
  return workers;
}

LoaderFacts loader_of(const Trainer& trainer) {
  const LoaderFacts* loader =
      trainer.process->loader_with(trainer.process->movement().current().iterator);
  return loader == nullptr ? LoaderFacts() : *loader;
}

hang::ProcessFacts looked_at(const JobView& job, pid_t process, const StackRequest& answers) {
  hang::ProcessFacts facts = hang::take_process_snapshot(process, current_work_of(job, process));
  facts.waits_for_interpreter = job.processes.waits_for_interpreter(process);
  facts.threads = answers.answer_of(process);
  return facts;
}

hang::RankFacts rank_facts(const JobView& job, const Trainer& trainer, const StackRequest& answers,
                           Nanos now) {
  hang::RankFacts facts;
  static_cast<hang::ProcessFacts&>(facts) = looked_at(job, trainer.pid, answers);
  const hang::ProgressTracker& movement = trainer.process->movement();
  facts.rank = trainer.rank;
  if (movement.asking_since() != 0 && !facts.has_ended)
    facts.asking_for = now - movement.asking_since();
  facts.current = movement.current();
  facts.finished = movement.finished();
  facts.awaited = movement.awaited();
  facts.loader = loader_of(trainer);
  return facts;
}

std::vector<hang::WorkerFacts> worker_facts(const JobView& job, const Trainer& trainer,
                                            const StackRequest& answers) {
  std::vector<hang::WorkerFacts> all;
  for (const auto& [number, pid] : workers_of(job, trainer)) {
    hang::WorkerFacts& worker = all.emplace_back();
    static_cast<hang::ProcessFacts&>(worker) = looked_at(job, pid, answers);
    worker.number = number;
  }
  return all;
}

void look_at_shared_memory(hang::HangFacts& facts) {
  struct statvfs memory {};
  if (::statvfs("/dev/shm", &memory) != 0) return;
  const auto block = static_cast<double>(memory.f_frsize);
  facts.shared_size = static_cast<double>(memory.f_blocks) * block;
  facts.shared_free = static_cast<double>(memory.f_bavail) * block;
}

}  // namespace

std::map<pid_t, hang::Signs> signs_for(const JobView& job, const Trainer& trainer) {
  std::map<pid_t, hang::Signs> signs;
  const auto add = [&](pid_t pid) { signs[pid] = hang::signs_of(pid, current_work_of(job, pid)); };
  hang::RankFacts rank;
  rank.loader = loader_of(trainer);
  rank.awaited = trainer.process->movement().awaited();
  const hang::AwaitedBatch* next = rank.next_batch();
  if (rank.loader.num_workers == 0 || next == nullptr || next->finished) {
    add(trainer.pid);
    return signs;
  }
  const auto workers = workers_of(job, trainer);
  if (const auto maker = workers.find(next->worker); maker != workers.end()) {
    add(maker->second);
  } else {
    for (const pid_t child : children_of(trainer.pid)) add(child);
  }
  return signs;
}

StackRequest ask_for_stacks(const JobView& job, const Trainer& root) {
  StackRequest request;
  const auto ask = [&](pid_t pid) {
    const auto offer = job.messages.stacks().find(pid);
    if (offer != job.messages.stacks().end()) request.ask(pid, offer->second.how);
  };
  for (const Trainer& trainer : job.training.trainers()) ask(trainer.pid);
  for (const auto& [number, pid] : workers_of(job, root)) ask(pid);
  return request;
}

hang::HangFacts take_job_snapshot(const JobView& job, const Trainer& root,
                                  const StackRequest& answers, Nanos now) {
  hang::HangFacts facts;
  facts.since = now - root.process->movement().last();
  for (const Trainer& trainer : job.training.trainers()) {
    if (facts.ranks.size() == kMaxProcesses && trainer.pid != root.pid) continue;
    if (trainer.pid == root.pid) facts.root = facts.ranks.size();
    facts.ranks.push_back(rank_facts(job, trainer, answers, now));
  }
  facts.ranks[facts.root].workers = worker_facts(job, root, answers);
  look_at_shared_memory(facts);
  return facts;
}

}  // namespace loaderscope::guest
