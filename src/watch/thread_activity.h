// The activity of a thread of another process at one instant, as far as the kernel shows it.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "machine/system_call.h"

namespace loaderscope::watch {

enum class ThreadActivity : std::uint8_t {
  runs,     // on a core, or ready and without one
  queue,    // waits for a message of another process or thread: a task, a batch
  storage,  // in a read that does not return, or a page that is not there
  network,  // waits for the peer of a connection
  lock,
  sleep,
  other,  // another call, or one that may not be seen
  stopped,
};
inline constexpr std::size_t kDoings = 8;

struct DoingWord {
  std::string_view name, sentence;
  std::string_view as_verb;  // "waits for storage"
};
const DoingWord& doing_word(ThreadActivity doing);

struct ThreadLook {
  ThreadActivity doing = ThreadActivity::other;
  bool has_ended = false;
  bool is_call_known = false;  // true if its system call could be read, or it is in no call
  std::string_view call{};     // "pread"
  std::string object{};        // object of the call: a file, "pipe:[7]"
  std::string wchan{};         // set if no call is known
  // Times that a thread that waits for a message was on a core. If two samples are equal, it has
  // not run between them.
  std::int64_t turns = 0;
};

// Samples `thread` of `process`. The main thread has the number of the process.
ThreadLook look_at_thread(const std::filesystem::path& root, pid_t process, pid_t thread);

// Kernel function in which a thread waits for the server of a FUSE file system.
inline constexpr std::string_view kWaitsForFuse = "request_wait_answer";

// Combines the letter of its state with the call or the kernel function in which it waits.
ThreadActivity classify_doing(char state, const SystemCall& call, bool is_call_known,
                              std::string_view wchan);

}  // namespace loaderscope::watch
