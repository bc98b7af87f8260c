// Knowledge from a user's earlier runs, as lines of a file. Any number of processes may add lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace loaderscope {

class HistoryFile {
 public:
  // The file `name` in `folder`, which need not exist; "" keeps nothing.
  HistoryFile(const std::string& folder, const std::string& name);

  // Best effort. The older half goes where there are many.
  void add(const std::string& line) const;
  std::string text() const;  // the latest lines, the oldest of them first

 private:
  std::string folder_, file_;
};

void for_each_line(std::string_view text, const std::function<void(std::string_view line)>& take);

}  // namespace loaderscope
