// What a thread of another process does at an instant, as far as the kernel shows it.
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
  network,  // for the other side of a connection
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
const DoingWord& word_of(ThreadActivity doing);

struct ThreadLook {
  ThreadActivity doing = ThreadActivity::other;
  bool has_ended = false;
  bool is_call_known = false;  // its system call could be read, or it is in none
  std::string_view call{};     // "pread"
  std::string object{};        // what of: a file, "pipe:[7]"
  std::string wchan{};         // where no call is known
  // Of who waits for a message: on a core so far. Where it is the same, it has not run.
  std::int64_t turns = 0;
};

// Of the thread `thread` of `process`; its main thread has the same number.
ThreadLook look_at_thread(const std::filesystem::path& root, pid_t process, pid_t thread);

// Where in the kernel one waits for the server of a file system by FUSE.
inline constexpr std::string_view kWaitsForFuse = "request_wait_answer";

// By the letter of its state, and the call or the place in the kernel that it waits in.
ThreadActivity doing_of(char state, const SystemCall& call, bool is_call_known,
                        std::string_view wchan);

}  // namespace loaderscope::watch
