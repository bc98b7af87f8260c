#include "experiment/watch/doing.h"

#include <algorithm>

#include "machine/proc_file.h"
#include "machine/process_stat.h"

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

// Where in the kernel a thread waits, by the beginning of the function's name.
struct PlaceRow {
  std::string_view begin;
  Doing doing;
};
constexpr PlaceRow kPlaces[] = {
    {"pipe_read", Doing::queue},
    {"anon_pipe_read", Doing::queue},
    {"pipe_wait", Doing::queue},
    {"unix_stream", Doing::queue},
    {"poll_schedule", Doing::queue},
    {"do_poll", Doing::queue},
    {"do_sys_poll", Doing::queue},
    {"futex", Doing::lock},
    {"do_futex", Doing::lock},
    {"rwsem", Doing::lock},
    {"hrtimer_nanosleep", Doing::sleep},
    {"do_nanosleep", Doing::sleep},
    {"common_nsleep", Doing::sleep},
    {"folio_wait", Doing::storage},
    {"wait_on_page", Doing::storage},
    {"io_schedule", Doing::storage},
    {"bit_wait_io", Doing::storage},
    {"filemap", Doing::storage},
    {"blk_", Doing::storage},
    {"submit_bio_wait", Doing::storage},
    {"rpc_wait", Doing::storage},
    {"nfs", Doing::storage},
    {kWaitsForFuse, Doing::storage},
    {"fuse", Doing::storage},
    {"netfs", Doing::storage},
    {"ceph", Doing::storage},
    {"sk_wait", Doing::network},
    {"tcp_", Doing::network},
    {"inet_", Doing::network},
    {"wait_woken", Doing::network},
};

Doing doing_of_place(std::string_view wchan) {
  const auto* row = std::find_if(std::begin(kPlaces), std::end(kPlaces),
                                 [&](const PlaceRow& one) { return wchan.starts_with(one.begin); });
  return row == std::end(kPlaces) ? Doing::other : row->doing;
}

Doing doing_of_file(const SystemCall& call) {
  if (call.object.starts_with("pipe:")) return Doing::queue;
  // Processes hand each other batches by sockets too: multiprocessing calls read() and recvmsg(),
  // where clients of servers call recv().
  if (call.is_socket && (call.name == "read" || call.name == "recvmsg")) return Doing::queue;
  if (call.is_socket) return Doing::network;
  return call.object.starts_with('/') ? Doing::storage : Doing::other;
}

}  // namespace

const DoingWord& word_of(Doing doing) { return kWords[static_cast<std::size_t>(doing)]; }

Doing doing_of(char state, const SystemCall& call, bool is_call_known, std::string_view wchan) {
  if (state == 'R') return Doing::runs;
  if (state == 'T' || state == 't') return Doing::stopped;
  const Doing by_place = doing_of_place(wchan);
  if (state == 'D') return by_place == Doing::lock ? Doing::lock : Doing::storage;
  if (!is_call_known || call.name.empty()) return by_place;
  switch (call.kind) {
    case CallKind::reads:
    case CallKind::writes:
      return doing_of_file(call);
    case CallKind::opens:
      return Doing::storage;
    case CallKind::connects:
      return Doing::network;
    case CallKind::polls: {
      const Doing file = doing_of_file(call);
      return file == Doing::storage ? Doing::other : file;
    }
    case CallKind::locks:
    case CallKind::locks_shared:
    case CallKind::locks_file:
      return Doing::lock;
    case CallKind::sleeps:
      return Doing::sleep;
    case CallKind::other:
      break;
  }
  return by_place;
}

namespace {

// What a call says by itself, without the thread's state: these are never waits of the kernel's
// own.
bool is_told_by_call(const SystemCall& call) {
  return call.kind == CallKind::sleeps || call.kind == CallKind::locks ||
         call.kind == CallKind::locks_shared || call.object.starts_with("pipe:");
}

// Who looks for a message gives up now and then; who waits for another thread of a library, or for
// the interpreter's lock for 5 ms, does not.
bool waits_for_message(const SystemCall& call) {
  constexpr Nanos kLongerThanAnInterpreter = 20 * kMillisecond;
  return call.kind == CallKind::locks && call.patience > kLongerThanAnInterpreter;
}

std::int64_t turns_in(const std::string& schedstat) {
  NumbersIn times(schedstat);
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
  const std::string text = text_of(folder + "/syscall");
  look.is_call_known = !text.empty();
  if (text.starts_with("running")) {
    look.doing = Doing::runs;
    return look;
  }
  const SystemCall call = system_call_of(process, text, {.root = root, .other_side = false});
  look.call = call.name;
  look.object = call.object;
  char state = 'S';
  if (!is_told_by_call(call)) {
    const auto stat = read_process_stat(folder);
    look.has_ended = !stat || stat->has_ended();
    if (look.has_ended) return look;
    state = stat->state;
    look.wchan = text_of(folder + "/wchan");
    if (look.wchan == "0") look.wchan.clear();
  }
  look.doing = waits_for_message(call) ? Doing::queue
                                       : doing_of(state, call, look.is_call_known, look.wchan);
  if (look.doing == Doing::queue) look.turns = turns_in(text_of(folder + "/schedstat"));
  return look;
}

}  // namespace loaderscope::watch
