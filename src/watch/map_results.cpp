#include "watch/map_results.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "machine/proc_file.h"

namespace loaderscope::watch {
namespace {

constexpr std::string_view kArrow = ".arrow";
constexpr std::size_t kMaxOfMaps = std::size_t{64} << 20;  // bytes, of one process

struct SplitPath {
  std::string folder, name;
};
SplitPath split_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return {};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

// A result that several processes made is a file of each: cache-FINGERPRINT_00001_of_00004.arrow.
std::string result_of_file(const SplitPath& file) {
  return file.folder + "/" + file.name.substr(0, file.name.find_first_of("_."));
}

// The path of a line of /proc/PID/maps; "" of what is no file.
std::string_view mapped_path(std::string_view line) {
  const std::size_t slash = line.find('/');
  return slash == line.npos ? std::string_view() : line.substr(slash);
}

bool is_open_for_writing(const std::string& folder, const std::string& descriptor) {
  const auto flags = read_value(folder + "/fdinfo/" + descriptor, "flags");  // octal digits
  return flags && (*flags % 10 & O_ACCMODE) != O_RDONLY;
}

}  // namespace

MapResultsWatch::MapResultsWatch(const std::filesystem::path& root, std::int64_t started)
    : root_(root) {
  const auto boot = read_value((root / "proc/stat").string(), "btime");
  static const auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (boot) started_s_ = static_cast<double>(*boot) + static_cast<double>(started) / tick;
}

void MapResultsWatch::look(const std::vector<pid_t>& mapping, const std::vector<pid_t>& writing) {
  if (started_s_ == 0) return;
  for (const pid_t process : mapping) look_at_maps(process);
  being_written_.clear();
  if (folders_.empty()) return;  // the job does not use datasets
  for (const pid_t process : writing) look_at_open_files(process);
}

std::string MapResultsWatch::process_folder(pid_t process) const {
  return (root_ / "proc" / std::to_string(process)).string();
}

void MapResultsWatch::look_at_maps(pid_t process) {
  const std::string maps = read_text(process_folder(process) + "/maps", kMaxOfMaps);
  is_cut_ = is_cut_ || maps.size() >= kMaxOfMaps;
  is_readable_ = is_readable_ || !maps.empty();
  std::string_view rest = maps;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string_view path = mapped_path(line);
    if (!path.ends_with(kArrow)) continue;
    const SplitPath file = split_path(path);
    folders_.insert(file.folder);
    if (!file.name.starts_with("cache-")) continue;
    const std::string name = result_of_file(file);
    struct stat facts {};
    // Uses the path in the process's own view, which may be in a container.
    const std::string there = process_folder(process) + "/root" + std::string(path);
    if (::stat(there.c_str(), &facts) != 0) {
      if (!is_found_.contains(name)) unseen_.insert(name);
      continue;
    }
    unseen_.erase(name);
    const bool is_older = static_cast<double>(facts.st_mtim.tv_sec) < started_s_;
    const auto [result, is_new] = is_found_.try_emplace(name, is_older);
    result->second = result->second && is_older;
  }
}

// A result is written under a temporary name, in the folder of its input.
void MapResultsWatch::look_at_open_files(pid_t process) {
  const std::string folder = process_folder(process);
  std::error_code refused;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(folder + "/fd", refused); !refused && at != end;
       at.increment(refused)) {
    std::error_code gone;
    const std::string path = std::filesystem::read_symlink(at->path(), gone).string();
    const SplitPath file = split_path(path);
    if (!file.name.starts_with("tmp") || !folders_.contains(file.folder)) continue;
    if (is_open_for_writing(folder, at->path().filename().string())) being_written_.insert(path);
  }
}

std::optional<MapResults> MapResultsWatch::report() const {
  if (!is_readable_ || is_cut_ || !unseen_.empty()) return std::nullopt;
  MapResults results;
  for (const auto& [result, is_found] : is_found_) ++(is_found ? results.found : results.made);
  results.being_written.assign(being_written_.begin(), being_written_.end());
  return results;
}

}  // namespace loaderscope::watch
