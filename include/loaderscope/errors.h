// Exit codes of the program, and the three types of errors.
#pragma once

#include <cstddef>
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

// Base of the errors below. An error is one sentence with the place and the cause, and a hint with
// the next step. what() is both in one line: "SENTENCE; HINT". main() prints the sentence after
// "loaderscope: " and the hint on a line of its own, and maps the type to the exit code.
class Error : public std::runtime_error {
 public:
  // Without "\nhint: " in `text`, which message() writes, the error has no hint.
  explicit Error(const std::string& text);
  // An empty `hint` is no hint.
  Error(const std::string& sentence, const std::string& hint);

  std::string_view sentence() const;
  std::string_view hint() const;
  std::string message() const;  // "SENTENCE\nhint: HINT", or the sentence

 private:
  std::size_t sentence_size_;  // the rest of what() is "; " and the hint
};

// A mistake of the command line or of a file of settings: a flag, a scenario, a value. Exit 64.
class UsageError : public Error {
 public:
  using Error::Error;
};

// A run that is not possible: a missing folder, a full disk, a damaged result. Exit 1.
class RunError : public Error {
 public:
  using Error::Error;
};

// A value that a parser cannot read. `what()` names the expected value ("a duration such as 8ms").
// A caller that knows the key and the place turns it into a UsageError.
class ValueError : public Error {
 public:
  using Error::Error;
};

// A sample that cannot be used. It is counted by kind, named, and skipped or fatal (--on-error).
class SampleError : public Error {
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
  SampleError(Kind why, const std::string& text) : Error(text), kind(why) {}
  SampleError(Kind why, const std::string& sentence, const std::string& hint)
      : Error(sentence, hint), kind(why) {}
  Kind kind;
};
std::string_view name_of(SampleError::Kind kind);  // "unreadable", ...

// Returns an error with a place in front of the sentence and with the same hint.
template <class To>
To add_place(const std::string& place, const Error& error) {
  return To(place + std::string(error.sentence()), std::string(error.hint()));
}

// The candidate nearest to `word` by edit distance, or "" when none is near enough to suggest.
std::string nearest_word(std::string_view word, const std::vector<std::string_view>& candidates);

// Returns the hint "did you mean 'num-workers'?", or "" if no candidate is near enough.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

// "; did you mean 'num-workers'?" or "".
std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates);

// Returns a user's text in a form for messages. Control characters become \xNN, and long text is
// cut.
std::string shown_text(std::string_view text);

}  // namespace loaderscope
