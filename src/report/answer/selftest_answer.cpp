// The default answer of selftest: in how many stages a known delay is found.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/wording.h"
#include "report/answer/answers.h"
#include "report/answer/plain_figures.h"

namespace loaderscope {
namespace {

constexpr double kQuietMachine = 0.05;  // share of the window spent waiting for a core
constexpr std::size_t kMaxStageRows = 4;

// Returns the pipeline with the worst result for each stage.
std::vector<const selftest::Recovery*> worst_by_stage(const selftest::Result& result) {
  std::vector<const selftest::Recovery*> worst;
  const auto miss = [](const selftest::Recovery& one) { return std::abs(one.share() - 1); };
  for (const selftest::Recovery& one : result.stages) {
    const auto same = std::find_if(worst.begin(), worst.end(),
                                   [&](const auto* other) { return other->stage == one.stage; });
    if (same == worst.end())
      worst.push_back(&one);
    else if (miss(one) > miss(**same))
      *same = &one;
  }
  std::stable_sort(worst.begin(), worst.end(),
                   [&](const auto* a, const auto* b) { return miss(*a) > miss(*b); });
  return worst;
}

TextTable stages_found(const std::vector<const selftest::Recovery*>& stages) {
  TextTable table("llrrr", {"stage", "pipeline", "put in", "found", ""});
  for (std::size_t i = 0; i < std::min(stages.size(), kMaxStageRows); ++i) {
    const selftest::Recovery& one = *stages[i];
    const auto ms_text = [](double s) { return plain_figures(fmt::format("{:.3f} ms", 1e3 * s)); };
    table.add({std::string(name_of(one.stage)), one.pipeline, ms_text(one.injected_s),
               ms_text(one.recovered_s()), whole_percent(one.share())});
  }
  return table;
}

}  // namespace

Answer answer_selftest(const selftest::Result& result) {
  Answer answer;
  answer.last.push_back({"More", "-v, --html page.html    Learn: help trust"});
  if (result.interrupted || result.stages.empty()) {
    answer.headline =
        result.interrupted ? "No answer: it was interrupted" : "No answer: no stage was measured";
    answer.first.push_back({"Next", "loaderscope selftest"});
    return answer;
  }
  const std::vector<const selftest::Recovery*> stages = worst_by_stage(result);
  const auto found = static_cast<std::size_t>(
      std::count_if(stages.begin(), stages.end(), [](const auto* one) { return one->found(); }));
  answer.table = stages_found(stages);
  if (found == stages.size()) {
    answer.tone = LineTone::good;
    answer.headline = fmt::format("Known delays are found on this machine, in {} of {} stages",
                                  found, stages.size());
    return answer;
  }
  answer.tone = LineTone::bad;
  std::string missing;
  for (const selftest::Recovery* one : stages)
    if (!one->found()) missing += (missing.empty() ? "" : ", ") + std::string(name_of(one->stage));
  answer.headline = fmt::format("Known delays are found in {} of {} stages only: not in {}", found,
                                stages.size(), missing);
  const bool is_disturbed = result.contention >= kQuietMachine;
  answer.first.push_back({"Next", is_disturbed
                                      ? "run it again on a quieter machine, or with --duration 3m"
                                      : "compare the times of this stage with another tool's"});
  answer.first.push_back({"Why", fmt::format("the runs waited {} of the time for a core{}",
                                             whole_percent(result.contention),
                                             is_disturbed ? ", as other programs took it" : "")});
  return answer;
}

}  // namespace loaderscope
