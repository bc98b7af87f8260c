// Files of /proc and of cgroups: pairs of a key and a number, and `stat` of a process or a thread.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope {

inline constexpr std::int64_t kKibi = 1024;  // bytes: the unit of amounts of memory there

// All of a small file, or what `most` bytes and a little more hold of it; "" where it cannot be
// read. Without a stream: some are read often.
std::string read_text(const std::string& path, std::size_t most = std::size_t{1} << 20);

// Numbers between blanks, one after another.
class NumberReader {
 public:
  explicit NumberReader(std::string_view text) : text_(text) {}  // `text` must outlive this
  explicit NumberReader(std::string&&) = delete;

  char letter();                       // a word of one letter
  std::optional<std::int64_t> next();  // missing if the next word is no number
  bool has_failed() const { return has_failed_; }

 private:
  void skip_blanks();

  std::string_view text_;
  bool has_failed_ = false;
};

// Returns the numbers of `keys`, in their order, from a file of "key value" or "key: value unit"
// lines. Reads the file once, because some are expensive for the kernel.
std::vector<std::optional<std::int64_t>> read_values(const std::string& path,
                                                     std::initializer_list<std::string_view> keys);

std::optional<std::int64_t> read_value(const std::string& path, std::string_view key);

// The facts in the `stat` file of a process or a thread.
struct ProcessStat {
  struct Used {
    double user_s = 0, system_s = 0;
    std::int64_t minor_faults = 0, major_faults = 0;

    double cpu_s() const { return user_s + system_s; }
  };

  std::string name;  // name that it gave itself, up to 15 characters
  char state = '?';
  bool is_of_kernel = false;  // a thread of the kernel, such as kworker/0:1
  pid_t parent = 0;
  std::int64_t threads = 0;
  std::int64_t started = 0;  // ticks since boot: distinguishes processes with the same number
  Used own;
  Used children;  // children that it has waited for, and theirs

  bool has_ended() const { return state == 'Z' || state == 'X'; }  // and is not waited for yet
};

// Parses the text of such a file; nothing if it is invalid.
std::optional<ProcessStat> parse_process_stat(std::string_view text);
// `folder`: /proc/PID, or /proc/PID/task/TID. Nothing where it is gone.
std::optional<ProcessStat> read_process_stat(const std::string& folder);

// A process. Its start distinguishes it from an earlier one with the same number.
struct ProcessId {
  ProcessId(pid_t number = 0, std::int64_t ticks = 0) : pid(number), started(ticks) {}  // NOLINT
  auto operator<=>(const ProcessId&) const = default;

  pid_t pid;
  std::int64_t started;  // ticks since boot; 0: not known
};
ProcessId process_id(pid_t process);  // the current process with this number
bool is_running(const ProcessId& process);

// All that /proc shows. `root` is "/", or a folder with its own proc for tests.
using ProcessTable = std::map<pid_t, ProcessStat>;
ProcessTable read_processes(const std::filesystem::path& root);
// `process` and its descendants among them.
std::set<pid_t> process_family(pid_t process, const ProcessTable& all);

// Returns children that the parent has not waited for.
std::vector<pid_t> list_children(pid_t parent);
std::vector<pid_t> list_descendants(pid_t process);

}  // namespace loaderscope
