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

// What mending a finding gives back. A finding that gives back no time is said all the same when
// that is not what it is about.
enum class Benefit : std::uint8_t {
  time,
  resources,     // memory, cores or a sound machine, and perhaps time
  correct_data,  // what the training is given is wrong: said first, and without a verdict too
  nothing,
};

struct FindingRow {
  Row row;
  // Looks at the facts; nothing when they do not show it.
  std::optional<Candidate> (*look)(const FindingInput& facts);
  Benefit gives_back = Benefit::time;
  // The share of the window that is waited on its account; null: it is not about waiting.
  double (*waited)(const FindingInput& facts) = nullptr;
  FixedBy mended_by = FixedBy::reader;
  // Mending it costs something else: only a model can tell whether it pays.
  bool is_trade = false;
  bool is_of_gpu = false;  // there is nothing to see without one
};

std::span<const FindingRow> finding_table();  // src/analysis/findings/registry.cpp

// What is wrong with the data that the training is given.
std::vector<Finding> find_wrong_data(const RunRecord& record, const Analysis& analysis);

// The other findings where no model gives the run back: what the rows see, without figures, and
// what is waited for longest first. None where the account has holes.
std::vector<Finding> find_directions(const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope
