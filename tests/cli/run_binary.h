// Runs the program as a user does: words in, texts and exit code out.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/built.h"
#include "environment.h"

namespace loaderscope::testing_cli {

using Words = std::vector<std::string>;

struct Ended {
  int exit_code = -1;  // -N when signal N killed it
  std::string out;
  std::string err;      // standard error; its hint is joined to the sentence: "X; give Y"
  std::string printed;  // standard error as it was printed
};

// A running program. Its output is collected in temporary files, so that it never waits for a
// reader.
class RunningBinary {
 public:
  // `stdout_path` replaces the collected standard output.
  explicit RunningBinary(const std::vector<std::string>& words, const std::string& stdout_path = "",
                         const std::string& program = binary());
  ~RunningBinary();  // kills what still runs
  RunningBinary(const RunningBinary&) = delete;
  RunningBinary& operator=(const RunningBinary&) = delete;

  pid_t pid() const { return pid_; }
  void send(int signal) const;
  // Returns once it has a handler for the signal, or has ended.
  void wait_until_it_catches(int signal);
  bool has_ended();
  std::string err() const;  // so far
  Ended wait();             // kills it after three minutes

 private:
  void take_status(int status);

  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  bool ended_ = false;
  int exit_code_ = -1;
};

Ended run_binary(const std::vector<std::string>& words);
// Another program than ours, by its path.
Ended run_program(const std::string& path, const std::vector<std::string>& words);

// Words that the program rejects with one sentence, which contains `message`.
struct Refused {
  std::vector<std::string> words;
  const char* message;
  int exit_code = 64;
};
// Runs `command` with the words of each.
void expect_refused(const Words& command, const std::vector<Refused>& cases);

// An empty folder of this test, removed afterwards.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const;  // returns its path
  std::string read(const std::string& name) const;
  int files() const;

 private:
  std::string path_;
};

}  // namespace loaderscope::testing_cli
