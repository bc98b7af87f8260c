#include "guest/host/user_code.h"

#include <algorithm>

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMostPerStage = 8;
constexpr std::size_t kMostLines = 3;  // of what is in no other stage, which is told by its lines

void add_largest(std::vector<Detail>& details, const std::string& stage,
                 const std::map<std::string, double>& spent) {
  double all = 0;
  std::vector<Detail> of_stage;
  for (const auto& [name, time] : spent) {
    all += time;
    of_stage.push_back({stage, name, time});
  }
  if (all <= 0) return;
  std::stable_sort(of_stage.begin(), of_stage.end(),
                   [](const Detail& a, const Detail& b) { return a.share > b.share; });
  const bool has_lines = stage == name_of(Stage::opaque);
  of_stage.resize(std::min(of_stage.size(), has_lines ? kMostLines : kMostPerStage));
  for (Detail& detail : of_stage) {
    detail.share /= all;
    details.push_back(std::move(detail));
  }
}

}  // namespace

void UserCode::know_names(const NamesByStage& names) {
  if (names_.empty()) names_ = names;
}

std::vector<Detail> UserCode::details() const {
  std::vector<Detail> details;
  SpentTimes sums = spent_.all();
  for (const auto& [stage, name] : names_)
    if (!sums[stage].contains(name)) details.push_back({stage, name});
  for (const auto& [stage, spent] : sums) add_largest(details, stage, spent);
  return details;
}

}  // namespace loaderscope::guest
