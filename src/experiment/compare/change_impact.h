// Whether what changed between two commits can reach the loader at all.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope::compare {

// What one run of the loader has read and loaded below its work tree, as
// loaderscope_guest/file_trace.py tells it.
struct FileTrace {
  std::set<std::string> files;    // as git names them
  bool started_programs = false;  // which may read anything
};
FileTrace parse_file_trace(std::string_view lines);

struct ChangedFile {
  char how = 'M';  // as git says: A, D, M, T
  std::string path;
};
std::vector<ChangedFile> read_changes(std::string_view name_status);  // of git diff -z

// "README.md, which the loader does not read": why nothing that changed can reach it. "": something
// may, or it cannot be known.
std::string why_unaffected(const std::vector<ChangedFile>& changes, const FileTrace& touched);

}  // namespace loaderscope::compare
