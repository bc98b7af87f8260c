// Pipelines whose answer follows by hand from the rules of the design. The working is next to each
// case; nothing here is copied from a run.
//
// In the workings T is the time that a worker needs for one batch, C the compute of a step, W the
// number of workers, N the steps in flight. A batch in brackets [a, b] begins at a and ends at b,
// in ms. Steps and batches count from 0. The warm-up is chosen so that the window begins where
// the pipeline repeats itself.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/analysis.h"
#include "loaderscope/engine.h"

namespace loaderscope::known_answer {

constexpr Nanos operator""_ms(unsigned long long n) { return static_cast<Nanos>(n) * kMillisecond; }
constexpr Nanos operator""_us(unsigned long long n) { return static_cast<Nanos>(n) * kMicrosecond; }

// Expected times in the window of one rank. Times that a case does not name are 0, to the ns.
struct Answer {
  Nanos window = 0;
  Nanos compute = 0;
  std::map<Cause, Nanos> stall = {};
  std::map<Why, Nanos> why = {};
  Nanos order = 0;
  Nanos waiting_for_ranks = 0;
};

// Verdicts that are no cause.
inline constexpr const char* kNoVerdict = "";  // withheld, or the causes are indistinguishable
inline constexpr const char* kNotLookedAt = nullptr;

struct Case {
  const char* name;
  const char* settings;  // "workers=1 cost=decode=8ms:sleep ...": scenario lines, in one
  std::vector<Answer> ranks;
  const char* bound_by = kNotLookedAt;
};

inline void PrintTo(const Case& the_case, std::ostream* out) { *out << the_case.settings; }

// The settings as a scenario would give them, on a machine with 1024 cores.
RunConfig case_config(std::string_view settings);
RunRecord run(std::string_view settings);

// Instantiated once per theme; the test itself is in known_answer_test.cpp.
class KnownAnswer : public testing::TestWithParam<Case> {};

inline std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

}  // namespace loaderscope::known_answer
