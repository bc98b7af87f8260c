#include "watch/thread_activity.h"

#include <algorithm>

#include "machine/proc_file.h"

namespace loaderscope::watch {
namespace {

constexpr std::array<DoingWord, kDoings> kWords = {{
    {"cpu", "on a core, or ready and without one", "are on a core"},
    {"queue", "waiting for a message of another process or thread", "wait for a task"},
    {"storage", "waiting for storage", "wait for storage"},
    {"network", "waiting for the other side of a connection", "wait for the network"},
    {"lock", "waiting for a lock or another thread", "wait for a lock"},
    {"sleep", "sleeping", "sleep"},
    {"other", "waiting for something else, or for what may not be seen", "wait for something else"},
    {"stopped", "stopped by a signal or a debugger", "are stopped"},
}};

// Kernel functions in which threads wait, by the beginning of the function's name.
struct PlaceRow {
  std::string_view begin;
  ThreadActivity doing;
};
constexpr PlaceRow kPlaces[] = {
    {"pipe_read", ThreadActivity::queue},
    {"anon_pipe_read", ThreadActivity::queue},
    {"pipe_wait", ThreadActivity::queue},
    {"unix_stream", ThreadActivity::queue},
    {"poll_schedule", ThreadActivity::queue},
    {"do_poll", ThreadActivity::queue},
    {"do_sys_poll", ThreadActivity::queue},
    {"futex", ThreadActivity::lock},
    {"do_futex", ThreadActivity::lock},
    {"rwsem", ThreadActivity::lock},
    {"hrtimer_nanosleep", ThreadActivity::sleep},
    {"do_nanosleep", ThreadActivity::sleep},
    {"common_nsleep", ThreadActivity::sleep},
    {"folio_wait", ThreadActivity::storage},
    {"wait_on_page", ThreadActivity::storage},
    {"io_schedule", ThreadActivity::storage},
    {"bit_wait_io", ThreadActivity::storage},
    {"filemap", ThreadActivity::storage},
    {"blk_", ThreadActivity::storage},
    {"submit_bio_wait", ThreadActivity::storage},
    {"rpc_wait", ThreadActivity::storage},
    {"nfs", ThreadActivity::storage},
    {kWaitsForFuse, ThreadActivity::storage},
    {"fuse", ThreadActivity::storage},
    {"netfs", ThreadActivity::storage},
    {"ceph", ThreadActivity::storage},
    {"sk_wait", ThreadActivity::network},
    {"tcp_", ThreadActivity::network},
    {"inet_", ThreadActivity::network},
    {"wait_woken", ThreadActivity::network},
};

ThreadActivity doing_of_place(std::string_view wchan) {
  const auto* row = std::find_if(std::begin(kPlaces), std::end(kPlaces),
                                 [&](const PlaceRow& one) { return wchan.starts_with(one.begin); });
  return row == std::end(kPlaces) ? ThreadActivity::other : row->doing;
}

ThreadActivity doing_of_file(const SystemCall& call) {
  if (call.object.starts_with("pipe:")) return ThreadActivity::queue;
  // Processes hand each other batches by sockets too: multiprocessing calls read() and recvmsg(),
  // where clients of servers call recv().
  if (call.is_socket && (call.name == "read" || call.name == "recvmsg"))
    return ThreadActivity::queue;
  if (call.is_socket) return ThreadActivity::network;
  return call.object.starts_with('/') ? ThreadActivity::storage : ThreadActivity::other;
}

}  // namespace

const DoingWord& doing_word(ThreadActivity doing) {
  return kWords[static_cast<std::size_t>(doing)];
}

ThreadActivity classify_doing(char state, const SystemCall& call, bool is_call_known,
                              std::string_view wchan) {
  if (state == 'R') return ThreadActivity::runs;
  if (state == 'T' || state == 't') return ThreadActivity::stopped;
  const ThreadActivity place_doing = doing_of_place(wchan);
  if (state == 'D')
    return place_doing == ThreadActivity::lock ? ThreadActivity::lock : ThreadActivity::storage;
  if (!is_call_known || call.name.empty()) return place_doing;
  switch (call.kind) {
    case CallKind::reads:
    case CallKind::writes:
      return doing_of_file(call);
    case CallKind::opens:
      return ThreadActivity::storage;
    case CallKind::connects:
      return ThreadActivity::network;
    case CallKind::polls: {
      const ThreadActivity file = doing_of_file(call);
      return file == ThreadActivity::storage ? ThreadActivity::other : file;
    }
    case CallKind::locks:
    case CallKind::locks_shared:
    case CallKind::locks_file:
      return ThreadActivity::lock;
    case CallKind::sleeps:
      return ThreadActivity::sleep;
    case CallKind::other:
      break;
  }
  return place_doing;
}

namespace {

// True if the call alone shows the activity, without the thread's state: these are never waits of
// the kernel's own.
bool shows_activity(const SystemCall& call) {
  return call.kind == CallKind::sleeps || call.kind == CallKind::locks ||
         call.kind == CallKind::locks_shared || call.object.starts_with("pipe:");
}

// Returns true for a wait with a long time limit. Threads that poll for a message have such a
// limit. A thread that waits for another thread of a library has no limit. A wait for the
// interpreter's lock has a limit of 5 ms.
bool waits_for_message(const SystemCall& call) {
  constexpr Nanos kLongerThanAnInterpreter = 20 * kMillisecond;
  return call.kind == CallKind::locks && call.patience > kLongerThanAnInterpreter;
}

std::int64_t parse_turns(const std::string& schedstat) {
  NumberReader times(schedstat);
  times.next();
  times.next();
  return times.next().value_or(0);
}

}  // namespace

// Each file is read only where it is needed: there may be many threads, and this is done often.
ThreadLook look_at_thread(const std::filesystem::path& root, pid_t process, pid_t thread) {
  const std::string folder =
      root / "proc" / std::to_string(process) / "task" / std::to_string(thread);
  ThreadLook look;
  const std::string text = read_text(folder + "/syscall");
  look.is_call_known = !text.empty();
  if (text.starts_with("running")) {
    look.doing = ThreadActivity::runs;
    return look;
  }
  const SystemCall call = read_system_call(process, text, {.root = root, .other_side = false});
  look.call = call.name;
  look.object = call.object;
  char state = 'S';
  if (!shows_activity(call)) {
    const auto stat = read_process_stat(folder);
    look.has_ended = !stat || stat->has_ended();
    if (look.has_ended) return look;
    state = stat->state;
    look.wchan = read_text(folder + "/wchan");
    if (look.wchan == "0") look.wchan.clear();
  }
  look.doing = waits_for_message(call)
                   ? ThreadActivity::queue
                   : classify_doing(state, call, look.is_call_known, look.wchan);
  if (look.doing == ThreadActivity::queue)
    look.turns = parse_turns(read_text(folder + "/schedstat"));
  return look;
}

}  // namespace loaderscope::watch
