#include "measure/process_stat.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

namespace loaderscope {

std::optional<ProcessStat> read_process_stat(const std::string& folder) {
  std::ifstream file(folder + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const auto name_end = text.rfind(')');  // a name may have blanks, brackets and ends of lines
  if (name_end == text.npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcessStat stat;
  std::array<std::int64_t, 14> value{};  // from the parent's pid to the children's system time
  fields >> stat.state;
  for (std::int64_t& one : value) fields >> one;
  if (!fields) return std::nullopt;
  static const auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto used = [&](std::size_t faults, std::size_t times) {
    return ProcessStat::Used{static_cast<double>(value[times]) / tick,
                             static_cast<double>(value[times + 1]) / tick, value[faults],
                             value[faults + 2]};
  };
  stat.own = used(6, 10);
  stat.children = used(7, 12);
  return stat;
}

}  // namespace loaderscope
