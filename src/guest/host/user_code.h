// What of the user's own code the time of a stage goes into, as the job's processes report it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope::guest {

class UserCode {
 public:
  // A message of kind "spent": what `process` has spent so far.
  void hear_spent(std::int64_t process, const nlohmann::json& message);
  // A message of kind "loader": the names of what makes samples and collates them.
  void hear_loader(const nlohmann::json& message);

  // The few names of each stage that took most, with their shares.
  std::vector<Detail> details() const;

 private:
  using Spent = std::map<std::string, double>;                  // ns by name
  std::map<std::int64_t, std::map<std::string, Spent>> spent_;  // by process, by stage
  std::map<std::string, std::string> names_;                    // by stage; of no known share
};

}  // namespace loaderscope::guest
