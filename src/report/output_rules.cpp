#include "report/output_rules.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "report/detect_kind.h"

namespace loaderscope {
namespace {

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

using Names = std::array<std::string_view, 4>;

bool begins_with_any(const Names& names, std::string_view text) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return text.starts_with(name); });
}

// Returns true for paths of descriptors, which the user has already opened.
bool is_open_already(const std::string& path) {
  return begins_with_any({"/dev/fd/", "/proc/self/fd/", "/dev/stdout", "/dev/stderr"}, path);
}

bool is_harmless_device(const std::string& path) {
  std::error_code error;
  return begins_with_any({"/dev/null", "/dev/full", "/dev/tty", "/dev/pts/"},
                         std::filesystem::canonical(path, error).string());
}

}  // namespace

void refuse_to_replace(const std::string& path, const OutputRules& rules) {
  const std::string shown = shown_text(path);
  if (is_open_already(path)) return;
  if (const std::string_view other = non_file_kind(path); !other.empty()) {
    if (is_harmless_device(path)) return;
    throw RunError(shown + ": is " + std::string(other) + ", not a file", "name a file");
  }
  std::error_code error;
  if (std::filesystem::file_size(path, error) == 0 || error) return;
  if (same_file(path, "/proc/self/exe"))
    throw RunError(shown + ": is this program itself", "name another file for the result");
  for (const std::string& source : rules.made_from) {
    if (!same_file(path, source)) continue;
    throw RunError(shown + ": is what the result would be made from", "name another file for it");
  }
  if (rules.force || is_result_of_ours(read_beginning(path))) return;
  throw RunError(shown + ": exists and is no result of loaderscope",
                 "name another file, or replace it with "
                 "--force");
}

}  // namespace loaderscope
