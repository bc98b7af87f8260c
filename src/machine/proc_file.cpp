#include "machine/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/fd.h"

namespace loaderscope {
namespace {

std::optional<std::int64_t> key_value(std::string_view key, std::string_view line) {
  if (!line.starts_with(key)) return std::nullopt;
  line.remove_prefix(key.size());
  if (line.starts_with(':')) line.remove_prefix(1);
  return NumberReader(line).next();
}

}  // namespace

std::string read_text(const std::string& path, std::size_t most) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (file < 0) return text;
  std::array<char, 4096> part;
  for (ssize_t got = 0; text.size() < most && (got = ::read(file, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(got));
  return text;
}

void NumberReader::skip_blanks() {
  text_.remove_prefix(std::min(text_.size(), text_.find_first_not_of(" \t\n")));
}

char NumberReader::letter() {
  skip_blanks();
  if (text_.empty()) {
    has_failed_ = true;
    return '?';
  }
  const char first = text_.front();
  text_.remove_prefix(1);
  return first;
}

std::optional<std::int64_t> NumberReader::next() {
  skip_blanks();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (error != std::errc()) {
    has_failed_ = true;
    return std::nullopt;
  }
  text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
  return value;
}

std::vector<std::optional<std::int64_t>> read_values(const std::string& path,
                                                     std::initializer_list<std::string_view> keys) {
  std::vector<std::optional<std::int64_t>> values(keys.size());
  std::size_t missing = values.size();
  const std::string text = read_text(path);
  for (std::string_view rest = text; missing > 0 && !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i]) continue;
      values[i] = key_value(keys.begin()[i], line);
      if (values[i]) --missing;
    }
  }
  return values;
}

std::optional<std::int64_t> read_value(const std::string& path, std::string_view key) {
  return read_values(path, {key}).front();
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const auto name_begin = text.find('(');
  const auto name_end = text.rfind(')');  // a name may have blanks, brackets and ends of lines
  if (name_begin == text.npos || name_end == text.npos) return std::nullopt;
  NumberReader fields(text.substr(name_end + 1));
  ProcessStat stat;
  std::array<std::int64_t, 19> value{};  // values from the parent's pid to the time of its start
  stat.state = fields.letter();
  for (std::int64_t& one : value) one = fields.next().value_or(0);
  if (fields.has_failed()) return std::nullopt;
  static const auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto used = [&](std::size_t faults, std::size_t times) {
    return ProcessStat::Used{static_cast<double>(value[times]) / tick,
                             static_cast<double>(value[times + 1]) / tick, value[faults],
                             value[faults + 2]};
  };
  stat.name = text.substr(name_begin + 1, name_end - name_begin - 1);
  constexpr std::int64_t kKernelThread = 0x00200000;  // PF_KTHREAD of the flags
  stat.parent = static_cast<pid_t>(value[0]);
  stat.is_of_kernel = (value[5] & kKernelThread) != 0;
  stat.threads = value[16];
  stat.started = value[18];
  stat.own = used(6, 10);
  stat.children = used(7, 12);
  return stat;
}

std::optional<ProcessStat> read_process_stat(const std::string& folder) {
  return parse_process_stat(read_text(folder + "/stat"));
}

ProcessTable read_processes(const std::filesystem::path& root) {
  ProcessTable processes;
  std::error_code error;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(root / "proc", error); !error && at != end;
       at.increment(error)) {
    const auto pid = static_cast<pid_t>(std::strtol(at->path().filename().c_str(), nullptr, 10));
    if (pid <= 0) continue;
    if (auto stat = read_process_stat(at->path().string())) processes.emplace(pid, *stat);
  }
  return processes;
}

std::set<pid_t> process_family(pid_t process, const ProcessTable& all) {
  std::set<pid_t> family = {process};
  for (std::size_t before = 0; before != family.size();) {
    before = family.size();
    for (const auto& [pid, stat] : all) {
      if (family.contains(stat.parent)) family.insert(pid);
    }
  }
  return family;
}

ProcessId process_id(pid_t process) {
  const auto stat = read_process_stat("/proc/" + std::to_string(process));
  return {process, stat ? stat->started : 0};
}

bool is_running(const ProcessId& process) {
  const auto stat = read_process_stat("/proc/" + std::to_string(process.pid));
  return stat && !stat->has_ended() && (process.started == 0 || stat->started == process.started);
}

std::vector<pid_t> list_children(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code gone;
  const std::filesystem::path threads = "/proc/" + std::to_string(parent) + "/task";
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(threads, gone); !gone && at != end;
       at.increment(gone)) {
    std::ifstream file(at->path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

std::vector<pid_t> list_descendants(pid_t process) {
  std::vector<pid_t> all = list_children(process);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<pid_t> more = list_children(all[i]);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace loaderscope
