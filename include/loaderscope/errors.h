// Exit codes of the program, and the three types of errors.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope {

enum class ExitCode : int {
  ok = 0,
  failed = 1,               // the run failed
  requirement_not_met = 2,  // --require is false, or a regression was found
  cannot_tell = 3,          // a value that was asked to matter is withheld
  usage = 64,
  hung_up = 129,      // SIGHUP; what was measured so far has been written
  interrupted = 130,  // SIGINT; what was measured so far has been written
  terminated = 143,   // SIGTERM; what was measured so far has been written
};

// Every message is one sentence that names the place, the cause and the next step, without a
// trailing newline. main() prints it after "loaderscope: " and maps the type to the exit code.

// The user's words are wrong: a flag, a scenario, a value. Exit 64.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The words are fine, the run is not possible: a missing folder, a full disk, a damaged result.
// Exit 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A value that a parser cannot read. `what()` names the expected value ("a duration such as 8ms").
// A caller that knows the key and the place turns it into a UsageError.
class ValueError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A sample that cannot be used. It is counted by kind, named, and skipped or fatal (--on-error).
class SampleError : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t {
    unreadable,   // missing, a directory, an I/O error
    not_allowed,  // no permission
    timed_out,    // no answer of the storage in time; a retry may help
    throttled,    // a server refuses more requests for now: trying again later may help
    truncated,    // ends early, or shrank while it was read
    damaged,      // the bytes contradict themselves
    unsupported,  // a format, colour space or depth that no decoder here knows
    too_large,    // the header asks for more memory than a sample may have
  };
  SampleError(Kind why, const std::string& what) : std::runtime_error(what), kind(why) {}
  Kind kind;
};
std::string_view name_of(SampleError::Kind kind);  // "unreadable", ...

// The candidate nearest to `word` by edit distance, or "" when none is near enough to suggest.
std::string nearest_word(std::string_view word, const std::vector<std::string_view>& candidates);

// "; did you mean 'num-workers'?" or "".
std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates);

// Returns a user's text in a form for messages. Control characters become \xNN, and long text is
// cut.
std::string shown_text(std::string_view text);

}  // namespace loaderscope
