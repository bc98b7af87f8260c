#include "guest/host/user_code.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "guest/protocol/bounded.h"

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMostPerStage = 8;

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
  of_stage.resize(std::min(of_stage.size(), kMostPerStage));
  for (Detail& detail : of_stage) {
    detail.share /= all;
    details.push_back(std::move(detail));
  }
}

}  // namespace

void UserCode::hear_spent(std::int64_t process, const nlohmann::json& message) {
  std::map<std::string, Spent> spent;
  for (const auto& [stage, name, time] :
       message.at("parts").get<std::vector<std::tuple<std::string, std::string, double>>>()) {
    if (std::isfinite(time) && time > 0) spent[bounded_text(stage)][bounded_text(name)] += time;
  }
  spent_[process] = std::move(spent);
}

void UserCode::hear_loader(const nlohmann::json& message) {
  if (!names_.empty() || !message.contains("code")) return;
  for (const auto& [stage, name] : message.at("code").items())
    names_[bounded_text(stage)] = bounded_text(name.get<std::string>());
}

std::vector<Detail> UserCode::details() const {
  std::map<std::string, Spent> sums;  // by stage
  for (const auto& [process, stages] : spent_) {
    for (const auto& [stage, spent] : stages) {
      for (const auto& [name, time] : spent) sums[stage][name] += time;
    }
  }
  std::vector<Detail> details;
  for (const auto& [stage, name] : names_) details.push_back({stage, name});
  for (const auto& [stage, spent] : sums) add_largest(details, stage, spent);
  return details;
}

}  // namespace loaderscope::guest
