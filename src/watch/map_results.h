// What a job has of the cache of Hugging Face's datasets: results of map(), filter() and the like,
// which lie in files of their own and are mapped into memory as long as they are used.
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
  // Nothing where what processes have mapped may not be read, or a result among it not looked at.
  std::optional<MapResults> report() const;

 private:
  void look_at_maps(pid_t process);
  void look_at_open_files(pid_t process);
  std::string folder_of(pid_t process) const;

  std::filesystem::path root_;
  double started_s_ = 0;  // since 1970; 0: not known
  bool is_readable_ = false;
  bool is_cut_ = false;                   // there is more than is read
  std::map<std::string, bool> is_found_;  // by result: it is older than the job
  std::set<std::string> unseen_;          // results that are mapped and cannot be looked at
  std::set<std::string> folders_;         // of Arrow files that are mapped
  std::set<std::string> being_written_;   // now
};

}  // namespace loaderscope::watch
