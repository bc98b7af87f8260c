// Root causes by name. Each is a row with its condition on the metrics of a run, its evidence, the
// settings that fix it, and the advice.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "loaderscope/analysis.h"
#include "loaderscope/rows.h"

namespace loaderscope {

struct FindingInput;
struct Candidate;

// Kind of gain of a fix. A finding without a gain in time is reported if time is not its subject.
enum class Benefit : std::uint8_t {
  time,
  resources,     // memory, cores or a sound machine, and perhaps time
  correct_data,  // the training data is wrong: reported first, and also without a verdict
  nothing,
};

struct FindingRow {
  Row row;
  // Evaluates the condition. Returns nothing if the facts do not meet it.
  std::optional<Candidate> (*look)(const FindingInput& facts);
  Benefit gives_back = Benefit::time;
  // Share of the window that is spent waiting because of the finding. Null if the finding is not
  // about waiting.
  double (*waited)(const FindingInput& facts) = nullptr;
  FixedBy fixed_by = FixedBy::reader;
  // Marks a fix with a cost. Only a model can decide whether it pays.
  bool is_trade = false;
  bool is_of_gpu = false;  // requires a GPU
};

std::span<const FindingRow> finding_table();  // src/analysis/findings/registry.cpp

// Finds faults in the data that the training gets.
std::vector<Finding> find_wrong_data(const RunRecord& record, const Analysis& analysis);

// Finds the other findings if no model fits the run, without predictions. The finding with the
// longest wait comes first. Returns nothing if the account is incomplete.
std::vector<Finding> find_directions(const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope
