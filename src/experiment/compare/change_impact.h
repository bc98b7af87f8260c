// Decides whether a change between two commits can reach the loader at all.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope::compare {

// The files below its work tree that one run of the loader has read and loaded, as
// loaderscope_guest/file_trace.py writes them.
struct FileTrace {
  std::set<std::string> files;    // paths as git writes them
  bool started_programs = false;  // these may read anything
};
FileTrace parse_file_trace(std::string_view lines);

struct ChangedFile {
  char how = 'M';  // status from git: A, D, M, T
  std::string path;
};
std::vector<ChangedFile> read_changes(std::string_view name_status);  // parses git diff -z

// "README.md, which the loader does not read": why nothing that changed can reach it. "": something
// may, or it cannot be known.
std::string why_unaffected(const std::vector<ChangedFile>& changes, const FileTrace& touched);

}  // namespace loaderscope::compare
