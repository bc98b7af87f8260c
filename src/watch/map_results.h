// A job's files in the cache of Hugging Face's datasets: results of map(), filter() and the like.
// Each result is a file, which is mapped into memory while it is in use.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "watch/watch.h"

namespace loaderscope::watch {

class MapResultsWatch {
 public:
  // `started`: of the job, in ticks since boot. `root` is "/", or a folder with its own proc.
  MapResultsWatch(const std::filesystem::path& root, std::int64_t started);

  // At what the ones have mapped, and what the others write now.
  void look(const std::vector<pid_t>& mapping, const std::vector<pid_t>& writing);
  // Returns nothing if the mapped files of the processes may not be read, or a result among them
  // has unknown attributes.
  std::optional<MapResults> report() const;

 private:
  void look_at_maps(pid_t process);
  void look_at_open_files(pid_t process);
  std::string process_folder(pid_t process) const;

  std::filesystem::path root_;
  double started_s_ = 0;  // since 1970; 0: not known
  bool is_readable_ = false;
  bool is_cut_ = false;                   // there is more than is read
  std::map<std::string, bool> is_found_;  // per result: it is older than the job
  std::set<std::string> unseen_;          // results that are mapped and cannot be looked at
  std::set<std::string> folders_;         // folders of mapped Arrow files
  std::set<std::string> being_written_;   // now
};

}  // namespace loaderscope::watch
