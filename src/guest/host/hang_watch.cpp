#include "guest/host/hang_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <utility>

#include "machine/proc_file.h"

namespace loaderscope::guest {
namespace {

constexpr Nanos kHangLookEvery = kSecond / 2;
// Factor on the patience for a busy process, whose sample may be large.
constexpr Nanos kBusyTimes = 6;

}  // namespace

HangWatch::Standing HangWatch::make_standing(const Trainer& trainer) {
  return {trainer.pid, trainer.process->movement().last()};
}

std::optional<hang::HangReport> HangWatch::look(Nanos now) {
  if (least_ == 0 || now < next_look_) return std::nullopt;
  next_look_ = now + std::min(kHangLookEvery, least_ / 8);
  const std::vector<Trainer> trainers = job_.training.trainers();
  if (request_) return report(trainers, now);
  if (reported_) return std::nullopt;
  const Trainer* root = find_root(trainers, now);
  if (root == nullptr) return std::nullopt;
  root_ = make_standing(*root);
  request_ = ask_for_stacks(job_, *root);
  next_look_ = now + StackRequest::kAnswerTimeout;
  return std::nullopt;
}

// The rank that asks its loader longest keeps the others waiting; where none asks, one may wait for
// another that has no more batches.
const HangWatch::Trainer* HangWatch::find_root(const std::vector<Trainer>& trainers, Nanos now) {
  const Trainer* asking = nullptr;
  const Trainer* without = nullptr;
  for (const Trainer& trainer : trainers) {
    const hang::ProgressTracker& movement = trainer.process->movement();
    if (trainer.ended || movement.last() == 0) continue;
    if (movement.asking_since() != 0) {
      if (asking == nullptr || movement.last() < asking->process->movement().last())
        asking = &trainer;
    } else if (now - movement.last() > movement.patience(least_) &&
               is_without_a_rank(trainer, trainers)) {
      without = &trainer;
    }
  }
  if (asking != nullptr) return hangs(*asking, now) ? asking : nullptr;
  return without;
}

bool HangWatch::is_without_a_rank(const Trainer& waiting,
                                  const std::vector<Trainer>& trainers) const {
  const hang::ProgressTracker& own = waiting.process->movement();
  return std::any_of(trainers.begin(), trainers.end(), [&](const Trainer& other) {
    return waiting.rank >= 0 && other.rank >= 0 &&
           hang::is_left_alone(own.current(), other.process->movement().finished());
  });
}

// Compares two snapshots of the processes that the rank waits for, half of its patience apart.
bool HangWatch::hangs(const Trainer& asking, Nanos now) {
  const hang::ProgressTracker& movement = asking.process->movement();
  const Nanos patience = movement.patience(least_);
  if (now - movement.last() < patience / 2) return false;
  if (suspicion_.standing != make_standing(asking)) {
    suspicion_ = {make_standing(asking), movement.last(), now, signs_for(job_, asking), false};
    return false;
  }
  if (now - suspicion_.moved_at < patience || now - suspicion_.at < patience / 2) return false;
  return is_still(signs_for(job_, asking), patience, now);
}

bool HangWatch::is_still(std::map<pid_t, hang::Signs> signs, Nanos patience, Nanos now) {
  bool has_moved = false, is_busy = false;
  for (const auto& [pid, sign] : signs) {
    const auto before = suspicion_.signs.find(pid);
    const bool is_new = before == suspicion_.signs.end();
    has_moved |= is_new || sign.has_moved_since(before->second);
    is_busy |= !is_new && sign.was_busy_since(before->second, now - suspicion_.at);
  }
  suspicion_.signs = std::move(signs);
  suspicion_.at = now;
  suspicion_.is_busy = is_busy;
  if (has_moved) suspicion_.moved_at = now;
  return !has_moved && (!is_busy || now - suspicion_.moved_at > kBusyTimes * patience);
}

std::optional<hang::HangReport> HangWatch::report(const std::vector<Trainer>& trainers, Nanos now) {
  const StackRequest answers = std::move(*std::exchange(request_, std::nullopt));
  const auto root = std::find_if(trainers.begin(), trainers.end(), [&](const Trainer& trainer) {
    return make_standing(trainer) == root_;
  });
  if (root == trainers.end() || root->ended) return std::nullopt;
  reported_ = root_;
  hang::HangFacts facts = take_job_snapshot(job_, *root, answers, now);
  facts.is_busy = suspicion_.standing == root_ && suspicion_.is_busy;
  return make_report(facts);
}

std::optional<Nanos> HangWatch::take_ended_hang() {
  if (!reported_) return std::nullopt;
  for (const Trainer& trainer : job_.training.trainers()) {
    if (trainer.pid != reported_->trainer) continue;
    const Nanos last = trainer.process->movement().last();
    if (trainer.ended) reported_.reset();
    if (trainer.ended || last == reported_->last) return std::nullopt;
    return last - std::exchange(reported_, std::nullopt)->last;
  }
  return std::nullopt;
}

namespace {

using Trainer = TrainingProcesses::Trainer;

constexpr std::size_t kMaxListedProcesses = 512;  // processes of each kind in a snapshot

const CurrentWork* find_current_work(const JobView& job, pid_t process) {
  for (const auto& member : job.members) {
    if (member->pid == process && member->page() != nullptr) return &member->page()->current_work;
  }
  return nullptr;
}

// Returns the workers of the iterator that the trainer waits for, by number. Includes workers that
// have ended.
std::map<std::int32_t, pid_t> awaited_workers(const JobView& job, const Trainer& trainer) {
  std::map<std::int32_t, pid_t> workers;
  const std::int32_t iterator = trainer.process->movement().current().iterator;
  const auto add = [&](const Hello& who) {
    const bool is_its = who.is_worker && who.trainer == trainer.pid && who.iterator == iterator;
    if (is_its && workers.size() < kMaxListedProcesses) workers[who.worker] = who.pid;
  };
  for (const auto& [pid, offer] : job.messages.stacks()) add(offer.who);
  for (const auto& member : job.members) add(*member);
  return workers;
}

LoaderFacts current_loader(const Trainer& trainer) {
  const LoaderFacts* loader =
      trainer.process->loader_with(trainer.process->movement().current().iterator);
  return loader == nullptr ? LoaderFacts() : *loader;
}

hang::ProcessFacts looked_at(const JobView& job, pid_t process, const StackRequest& answers) {
  hang::ProcessFacts facts = hang::take_process_snapshot(process, find_current_work(job, process));
  facts.waits_for_interpreter = job.processes.waits_for_interpreter(process);
  facts.threads = answers.read_answer(process);
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
  facts.loader = current_loader(trainer);
  return facts;
}

std::vector<hang::WorkerFacts> worker_facts(const JobView& job, const Trainer& trainer,
                                            const StackRequest& answers) {
  std::vector<hang::WorkerFacts> all;
  for (const auto& [number, pid] : awaited_workers(job, trainer)) {
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
  const auto add = [&](pid_t pid) {
    signs[pid] = hang::read_signs(pid, find_current_work(job, pid));
  };
  hang::RankFacts rank;
  rank.loader = current_loader(trainer);
  rank.awaited = trainer.process->movement().awaited();
  const hang::AwaitedBatch* next = rank.next_batch();
  if (rank.loader.num_workers == 0 || next == nullptr || next->finished) {
    add(trainer.pid);
    return signs;
  }
  const auto workers = awaited_workers(job, trainer);
  if (const auto maker = workers.find(next->worker); maker != workers.end()) {
    add(maker->second);
  } else {
    for (const pid_t child : list_children(trainer.pid)) add(child);
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
  for (const auto& [number, pid] : awaited_workers(job, root)) ask(pid);
  return request;
}

hang::HangFacts take_job_snapshot(const JobView& job, const Trainer& root,
                                  const StackRequest& answers, Nanos now) {
  hang::HangFacts facts;
  facts.since = now - root.process->movement().last();
  for (const Trainer& trainer : job.training.trainers()) {
    if (facts.ranks.size() == kMaxListedProcesses && trainer.pid != root.pid) continue;
    if (trainer.pid == root.pid) facts.root = facts.ranks.size();
    facts.ranks.push_back(rank_facts(job, trainer, answers, now));
  }
  facts.ranks[facts.root].workers = worker_facts(job, root, answers);
  look_at_shared_memory(facts);
  return facts;
}

namespace {

constexpr long kMaxRead = 256 * 1024;  // bytes of an answer

// Opens the offered file of the process. Fails if the descriptor is another file now.
Fd open_memory(pid_t process, const StacksMessage& offer) {
  const std::string path =
      "/proc/" + std::to_string(process) + "/fd/" + std::to_string(offer.descriptor);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::int64_t>(status.st_ino) != offer.inode)
    return Fd();
  return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

// "SigCgt:\t0000000180004a02": bit 0 is signal 1.
bool takes_signal(pid_t process, int signal) {
  constexpr std::string_view kCaught = "SigCgt:";
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kCaught)) continue;
    const std::uint64_t caught = std::stoull(line.substr(kCaught.size()), nullptr, 16);
    return signal > 0 && signal <= 64 && (caught >> (signal - 1) & 1) != 0;
  }
  return false;
}

// Signals the main thread. Another thread may run a library that cannot handle signals.
void StackRequest::ask(pid_t process, const StacksMessage& offer) {
  Fd memory = open_memory(process, offer);
  if (memory < 0 || !takes_signal(process, offer.signal)) return;
  const long before = std::max<long>(0, ::lseek(memory, 0, SEEK_END));
  if (::syscall(SYS_tgkill, process, process, offer.signal) != 0) return;
  asked_[process] = {std::move(memory), before};
}

std::vector<hang::PythonThread> StackRequest::read_answer(pid_t process) const {
  const auto asked = asked_.find(process);
  if (asked == asked_.end()) return {};
  const auto& [memory, before] = asked->second;
  const long size = std::clamp<long>(::lseek(memory, 0, SEEK_END) - before, 0, kMaxRead);
  std::string text(static_cast<std::size_t>(size), '\0');
  const ssize_t got = ::pread(memory, text.data(), text.size(), before);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return hang::parse_dump(text);
}

}  // namespace loaderscope::guest
