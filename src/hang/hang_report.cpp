#include "hang/hang_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace loaderscope::hang {
namespace {

constexpr std::size_t kMaxGroups = 5;   // limit of groups of processes with the same state
constexpr std::size_t kMaxNumbers = 8;  // limit of one group

struct Group {
  std::string place;
  std::vector<std::int32_t> numbers;
};

void add_to(std::vector<Group>& groups, std::string place, std::int32_t number) {
  for (Group& group : groups) {
    if (group.place != place) continue;
    group.numbers.push_back(number);
    return;
  }
  groups.push_back({std::move(place), {number}});
}

// "workers 0, 1, 3: idle: no task"; "worker 0: waits in ...".
std::string group_line(std::string_view noun, Group group) {
  const std::size_t count = group.numbers.size();
  const bool is_cut = count > kMaxNumbers;
  if (is_cut) group.numbers.resize(kMaxNumbers);
  return fmt::format("{}{} {}{}: {}", noun, count == 1 ? "" : "s", fmt::join(group.numbers, ", "),
                     is_cut ? fmt::format(" and {} more", count - kMaxNumbers) : "", group.place);
}

std::vector<std::string> group_lines(std::string_view noun, std::vector<Group> groups) {
  std::vector<std::string> lines;
  for (Group& group : groups) {
    if (lines.size() == kMaxGroups) break;
    lines.push_back(group_line(noun, std::move(group)));
  }
  return lines;
}

bool has_batches_ready(const RankFacts& rank, const WorkerFacts& worker) {
  for (const AwaitedBatch& batch : rank.awaited) {
    if (batch.worker == worker.number && batch.finished) return true;
  }
  return false;
}

std::string worker_place(const RankFacts& rank, const WorkerFacts& worker) {
  if (worker.has_ended || worker.is_stopped || worker.batch >= 0)
    return describe_place(worker) + describe_work(worker);
  return has_batches_ready(rank, worker) ? "idle: batches are ready" : "idle: no task";
}

std::vector<std::string> other_workers(const RankFacts& rank) {
  std::vector<Group> groups;
  for (const WorkerFacts& worker : rank.workers) {
    if (&worker != rank.maker()) add_to(groups, worker_place(rank, worker), worker.number);
  }
  return group_lines("worker", std::move(groups));
}

std::vector<std::string> other_ranks(const HangFacts& facts) {
  std::vector<Group> groups;
  for (const RankFacts& rank : facts.ranks) {
    if (&rank == &facts.rank() || rank.rank < 0) continue;
    const std::string epoch =
        &rank == rank_without_batches(facts, facts.rank()) ? "has no more batches; it " : "";
    add_to(groups, epoch + describe_place(rank), rank.rank);
  }
  return group_lines("rank", std::move(groups));
}

// Describes the process that the rank waits for, and its state.
std::string awaited_by(const RankFacts& rank) {
  const AwaitedBatch* batch = rank.next_batch();
  const bool is_known = !rank.loader.is_opaque && batch != nullptr;
  if (!is_known) return fmt::format("waits for its loader and {}", describe_place(rank));
  if (rank.loader.num_workers == 0)
    return fmt::format("makes batch {} itself and {}{}", batch->number, describe_place(rank),
                       describe_work(rank));
  const WorkerFacts* maker = rank.maker();
  const std::string worker = maker != nullptr ? with_process(name_of(*maker), *maker)
                                              : fmt::format("worker {}", batch->worker);
  if (batch->sent)
    return fmt::format("waits for batch {}, which {} has sent: it takes it in and {}",
                       batch->number, worker, describe_place(rank));
  if (batch->finished)
    return fmt::format("waits for batch {}, which {} has made and not sent", batch->number, worker);
  return fmt::format("waits for batch {} of {}, which {}", batch->number, worker,
                     maker != nullptr ? describe_place(*maker) + describe_work(*maker)
                     : batch->begun   ? "is gone"
                                      : "has not started");
}

std::string answer_text(const HangFacts& facts) {
  const RankFacts& rank = facts.rank();
  return fmt::format("{} for {} s: {} {}", facts.is_busy ? "no batch" : "standing",
                     facts.since / kSecond, with_process(name_of(rank), rank),
                     rank.asking_for > 0 ? awaited_by(rank) : describe_place(rank));
}

}  // namespace

std::vector<std::string> HangReport::lines() const {
  std::vector<std::string> lines = {answer};
  for (const std::string& line : others) lines.push_back("  " + line);
  if (cause.empty()) return lines;
  lines.push_back("  Cause: " + cause);
  lines.push_back("  Do: " + advice);
  return lines;
}

HangReport make_report(const HangFacts& facts) {
  HangReport report;
  report.answer = answer_text(facts);
  if (facts.rank().asking_for > 0) report.others = other_workers(facts.rank());
  for (std::string& line : other_ranks(facts)) report.others.push_back(std::move(line));
  const auto reason = facts.is_busy ? std::nullopt : find_cause(facts);
  if (!reason) return report;
  report.cause = fmt::format("{}: {}", reason->name, reason->words.cause);
  report.advice = reason->words.advice;
  return report;
}

namespace {

// True for a thread that runs no Python of the program: our own, or one of multiprocessing, such as
// the thread that sends batches.
bool runs_nothing(const PythonThread& thread) {
  return thread.frames.empty() || (thread.own() == nullptr && thread.is_in("/multiprocessing/"));
}

// A fork copies locks as they are held, and of the threads only the one that forks. True for a lock
// that no thread of the process can release.
bool has_orphaned_lock(const HangFacts& facts) {
  const WorkerFacts* maker = facts.rank().maker();
  if (maker == nullptr || maker->has_ended || maker->call.kind != CallKind::locks ||
      maker->waits_for_interpreter || facts.rank().loader.mp_context != "fork")
    return false;
  const auto& threads = maker->threads;
  return !threads.empty() && std::all_of(threads.begin() + 1, threads.end(), runs_nothing);
}

std::string orphaned_lock(const HangFacts& facts) {
  const WorkerFacts& maker = *facts.rank().maker();
  return fmt::format(
      "{} {}, and runs no other thread of Python that could release it: a fork "
      "copies locks as they are held, and takes no threads along",
      name_of(maker), describe_place(maker));
}

constexpr const char* kWithoutFork = "DataLoader(..., multiprocessing_context='forkserver')";

// PyTorch starts the pin thread of a loader after its workers, so this one is another loader's.
std::optional<Explanation> explain_pin_thread_and_fork(const HangFacts& facts) {
  if (!has_orphaned_lock(facts)) return std::nullopt;
  const auto& threads = facts.rank().threads;
  const auto pins = std::count_if(threads.begin(), threads.end(), [](const PythonThread& thread) {
    return thread.is_within("_pin_memory_loop");
  });
  if (pins <= (facts.rank().loader.pin_memory ? 1 : 0)) return std::nullopt;
  return Explanation{
      orphaned_lock(facts) + "; the thread that pins another loader's batches ran then",
      fmt::format("{}, or make the iterators of all loaders before the first batch, with "
                  "persistent_workers=True",
                  kWithoutFork)};
}

std::optional<Explanation> explain_lock_held_at_fork(const HangFacts& facts) {
  if (!has_orphaned_lock(facts)) return std::nullopt;
  return Explanation{
      orphaned_lock(facts),
      fmt::format(
          "{}, or start threads (clients, executors, loggers) in each worker and not before "
          "(worker_init_fn)",
          kWithoutFork)};
}

using Answer = std::optional<Explanation>;

// Returns the process that makes the awaited batch, if a batch is awaited.
const ProcessFacts* awaited_maker(const HangFacts& facts) {
  const RankFacts& rank = facts.rank();
  if (rank.asking_for == 0) return nullptr;
  const WorkerFacts* worker = rank.maker();
  if (worker != nullptr) return worker;
  return rank.loader.num_workers == 0 ? &rank : nullptr;
}

std::string name_of_maker(const HangFacts& facts) {
  const WorkerFacts* worker = facts.rank().maker();
  return worker != nullptr ? name_of(*worker) : name_of(facts.rank());
}

// Workers of the rank that is waited for, and all ranks.
std::vector<std::pair<std::string, const ProcessFacts*>> list_processes(const HangFacts& facts) {
  std::vector<std::pair<std::string, const ProcessFacts*>> all;
  for (const WorkerFacts& worker : facts.rank().workers)
    all.emplace_back(with_process(name_of(worker), worker), &worker);
  for (const RankFacts& rank : facts.ranks)
    all.emplace_back(with_process(name_of(rank), rank), &rank);
  return all;
}

Answer dead_worker(const HangFacts& facts) {
  const WorkerFacts* maker = facts.rank().maker();
  if (maker == nullptr || !maker->has_ended) return std::nullopt;
  return Explanation{
      fmt::format("{} has ended, and its batch will not come",
                  with_process(name_of(*maker), *maker)),
      "look for what ended it: memory that ran out (dmesg, the limits of the container), a signal, "
      "or an exit in the data set"};
}

Answer stopped_process(const HangFacts& facts) {
  for (const auto& [name, process] : list_processes(facts)) {
    if (!process->is_stopped) continue;
    return Explanation{fmt::format("{} is stopped, by a signal or a debugger", name),
                       fmt::format("let it continue: kill -CONT {}", process->pid)};
  }
  return std::nullopt;
}

Answer descriptors_gone(const HangFacts& facts) {
  constexpr std::int64_t kFew = 8;  // less than it takes to hand over a batch
  for (const auto& [name, process] : list_processes(facts)) {
    if (process->most_files == 0 || process->open_files + kFew < process->most_files) continue;
    return Explanation{fmt::format("{} has {} of {} files open, and can open no more", name,
                                   process->open_files, process->most_files),
                       "raise ulimit -n, close what the data set opens, or call "
                       "torch.multiprocessing.set_sharing_strategy('file_system')"};
  }
  return std::nullopt;
}

Answer shared_memory_full(const HangFacts& facts) {
  constexpr double kLeft = 0.005;  // share of its size
  if (facts.shared_size <= 0 || facts.shared_free > kLeft * facts.shared_size) return std::nullopt;
  return Explanation{
      fmt::format("/dev/shm is full ({} of {} are free), and workers put batches there",
                  format_size(facts.shared_free), format_size(facts.shared_size)),
      "make it larger (docker run --shm-size), or lower prefetch_factor or num_workers"};
}

Answer unequal_ranks(const HangFacts& facts) {
  const RankFacts& waiting = facts.rank();
  const RankFacts* ended = rank_without_batches(facts, waiting);
  if (ended == nullptr) return std::nullopt;
  return Explanation{
      fmt::format(
          "{} had {} in this epoch and {} has taken {}: where steps need all ranks, as in an "
          "all_reduce, it waits for one that does not come",
          name_of(*ended), plural(ended->finished.taken, "batch"), name_of(waiting),
          waiting.current.taken),
      "give all ranks as many batches (DistributedSampler, drop_last=True), or wrap the loop in "
      "torch.distributed.algorithms.Join"};
}

Answer shared_lock(const HangFacts& facts) {
  const ProcessFacts* maker = awaited_maker(facts);
  if (maker == nullptr || maker->call.kind != CallKind::locks_shared) return std::nullopt;
  return Explanation{
      fmt::format("{} waits for a lock that another process has", name_of_maker(facts)),
      "look which one: it hangs itself, or was killed and keeps it for ever (multiprocessing.Lock, "
      "Queue)"};
}

Answer file_lock(const HangFacts& facts) {
  const ProcessFacts* maker = awaited_maker(facts);
  if (maker == nullptr || maker->call.kind != CallKind::locks_file) return std::nullopt;
  return Explanation{fmt::format("another process has locked {}, which {} waits for",
                                 maker->call.object, name_of_maker(facts)),
                     "look for who has it (lslocks), and end it or let it go"};
}

Answer no_answer(const HangFacts& facts) {
  const ProcessFacts* maker = awaited_maker(facts);
  if (maker == nullptr) return std::nullopt;
  const CallKind kind = maker->call.kind;
  const bool waits_for_data = kind == CallKind::reads || kind == CallKind::opens ||
                              kind == CallKind::connects || kind == CallKind::polls;
  if (!waits_for_data || (maker->call.object.empty() && !maker->call.is_socket))
    return std::nullopt;
  const std::string cause =
      fmt::format("{}: {} does not return", name_of_maker(facts), describe_call(*maker));
  if (maker->call.is_socket)
    return Explanation{cause, "look at the server, and give its client a time-out and retries"};
  return Explanation{cause,
                     "look at its storage or program (dmesg, df), and give the read "
                     "a time-out"};
}

constexpr HangCause kReasons[] = {
    {"dead-worker", dead_worker},
    {"stopped-process", stopped_process},
    {"descriptors-gone", descriptors_gone},
    {"shm-full", shared_memory_full},
    {"unequal-ranks", unequal_ranks},
    {"pin-thread-and-fork", explain_pin_thread_and_fork},
    {"lock-held-at-fork", explain_lock_held_at_fork},
    {"shared-lock", shared_lock},
    {"file-lock", file_lock},
    {"no-answer", no_answer},
};

}  // namespace

std::span<const HangCause> hang_causes() { return kReasons; }

std::optional<NamedCause> find_cause(const HangFacts& facts) {
  for (const HangCause& reason : kReasons) {
    if (auto words = reason.explain(facts)) return NamedCause{reason.name, std::move(*words)};
  }
  return std::nullopt;
}

const RankFacts* rank_without_batches(const HangFacts& facts, const RankFacts& waiting) {
  const auto found =
      std::find_if(facts.ranks.begin(), facts.ranks.end(), [&](const RankFacts& other) {
        return waiting.rank >= 0 && other.rank >= 0 && other.asking_for == 0 &&
               is_left_alone(waiting.current, other.finished);
      });
  return found == facts.ranks.end() ? nullptr : &*found;
}

}  // namespace loaderscope::hang
