// Table of the settings that a tune ran.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/wording.h"
#include "experiment/settings.h"
#include "record/family_traits.h"
#include "report/experiment_text.h"
#include "report/text_table.h"
#include "report/tune_text.h"

namespace loaderscope {
namespace {

// "now, use ->"
std::string case_mark(const Tune& tune, std::size_t i) {
  const std::string now = tune.now == i ? "now" : "";
  const std::string rank = tune.recommended == i ? "use ->" : tune.best == i ? "best" : "";
  return now.empty() || rank.empty() ? now + rank : now + ", " + rank;
}

// Returns the memory of a case as measured, or its slots if it was not measured.
std::string memory_text(const Case& one) {
  const double resident = mean_bytes(one, &CaseRun::resident);
  const bool is_real = !is_model_engine(one.config.engine.value) && resident > 0;
  return bytes_text(is_real ? resident : static_cast<double>(case_price(one.config).slots));
}

// Busy stands for the rate where there is a compute: the two go together.
std::string predicted_text(const Tune& tune, std::size_t i, bool busy) {
  const auto& predicted = tune.candidates[i].predicted;
  if (!predicted) return "";
  return busy ? fmt::format("{:.1f}", 100 * predicted->busy)
              : format_rate(predicted->samples_per_s);
}

std::string cores_heading(const Experiment& experiment) {
  for (const Case& one : experiment.cases) {
    if (!one.runs.empty()) return "of " + format_cores(one.config.declared.cores);
  }
  return "cores";
}

std::vector<std::string> table_header(const Experiment& experiment) {
  std::vector<std::string> header = {""};
  for (const Axis& axis : experiment.axes) header.push_back(column_name(axis));
  for (const char* const name : {"busy %", "model", "samples/s", "model"}) header.push_back(name);
  header.push_back(cores_heading(experiment));
  for (const char* const name : {"memory", "shm", "runs"}) header.push_back(name);
  return header;
}

std::vector<std::string> case_row(const Tune& tune, const CaseStatistics& judgement,
                                  std::size_t i) {
  const Case& one = tune.experiment.cases[i];
  const bool busy = judgement.has_busy(i);
  std::vector<std::string> row = {case_mark(tune, i)};
  for (const Axis& axis : tune.experiment.axes) row.push_back(setting_text(one, axis.key));
  row.push_back(busy ? busy_text(judgement.busy(i)) : "");
  row.push_back(busy ? predicted_text(tune, i, true) : "");
  row.push_back(busy ? format_rate(judgement.rate(i).mean) : rate_text(judgement.rate(i)));
  row.push_back(busy ? "" : predicted_text(tune, i, false));
  row.push_back(busy_cores(one) > 0 ? fmt::format("{:.2f}", busy_cores(one)) : "");
  row.push_back(memory_text(one));
  row.push_back(bytes_text(mean_bytes(one, &CaseRun::shared)));
  row.push_back(std::to_string(one.runs.size()));
  return row;
}

}  // namespace

std::vector<std::size_t> measured_by_price(const Tune& tune, const CaseStatistics& judgement) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tune.experiment.cases.size(); ++i) {
    if (judgement.measured(i)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return case_price(tune.experiment.cases[a].config) <
           case_price(tune.experiment.cases[b].config);
  });
  return order;
}

void add_cases(TextReportBuilder& screen, const Tune& tune, const CaseStatistics& judgement) {
  const Experiment& experiment = tune.experiment;
  const std::vector<std::string> header = table_header(experiment);
  TextTable table("l" + std::string(header.size() - 1, 'r'), header);
  std::vector<LinePriority> worths;
  for (const std::size_t i : measured_by_price(tune, judgement)) {
    table.add(case_row(tune, judgement, i));
    worths.push_back(case_mark(tune, i).empty() ? LinePriority::basis : LinePriority::evidence);
  }
  screen.table(LinePriority::evidence, table, worths);
}

}  // namespace loaderscope
