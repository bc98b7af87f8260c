#include "guest/host/hang/fork_reasons.h"

#include <fmt/format.h>

#include <algorithm>

#include "guest/host/hang/hang_words.h"

namespace loaderscope::guest {
namespace {

// True for a thread that runs no Python of the program: our own, or one of multiprocessing, such as
// the thread that sends batches.
bool runs_nothing(const PythonThread& thread) {
  return thread.frames.empty() || (thread.own() == nullptr && thread.is_in("/multiprocessing/"));
}

// In a process that was forked, beside which no thread runs that could let go of it.
bool waits_for_nobody(const HangFacts& facts) {
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
      "{} {}, and runs no other thread of Python that could let it go on: a fork "
      "copies locks as they are held, and takes no threads along",
      name_of(maker), place_of(maker));
}

constexpr const char* kWithoutFork = "DataLoader(..., multiprocessing_context='forkserver')";

}  // namespace

// PyTorch starts that of a loader behind its workers: it is another loader's.
std::optional<Explanation> explain_pin_thread_and_fork(const HangFacts& facts) {
  if (!waits_for_nobody(facts)) return std::nullopt;
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
  if (!waits_for_nobody(facts)) return std::nullopt;
  return Explanation{
      orphaned_lock(facts),
      fmt::format(
          "{}, or start threads (clients, executors, loggers) in each worker and not before "
          "(worker_init_fn)",
          kWithoutFork)};
}

}  // namespace loaderscope::guest
