// A comparison as tests: one for each thing that was looked at, which is how a CI shows what
// failed.
#include <fmt/format.h>

#include <utility>

#include "experiment/compare/gate.h"
#include "report/compare_text.h"
#include "report/kinds.h"
#include "report/writers.h"

namespace loaderscope::compare {
namespace {

std::string count_message(const CountChange& count) {
  return fmt::format("A {:.6g}, B {:.6g} per sample", count.a, count.b);
}

JUnitTest make_test(const GateAnswer& answer, const std::string& name, std::string message,
                    bool is_decided) {
  const Worse* worse = answer.find(name);
  if (worse != nullptr && worse->fails) return {name, std::move(message), false};
  if (worse != nullptr) message += ": " + worse->why;
  return {name, std::move(message), is_decided ? std::optional(true) : std::nullopt};
}

// Returns a test for the verdict, used if no quantity failed, or nothing was compared.
JUnitTest verdict_test(const Comparison& comparison, const ComparisonResult& judgement, Gate gate) {
  JUnitTest test{"verdict", answer_line(comparison, judgement), true};
  if (judgement.verdict == Outcome::cannot_tell) test.passed = std::nullopt;
  if (gate != Gate::passes) test.passed = false;
  return test;
}

}  // namespace

JUnitSuite comparison_tests(const AnyResult& result) {
  const Comparison& comparison = *result.comparison;
  const ComparisonResult judgement = judge(comparison);
  const GateAnswer answer = decide_gate(comparison, judgement);
  JUnitSuite suite{.tests = {verdict_test(comparison, judgement, answer.gate)},
                   .duration = comparison.spent};
  for (const Difference& one : judgement.differences)
    suite.tests.push_back(
        make_test(answer, one.name, change_line(one), one.verdict != Outcome::cannot_tell));
  for (const CountChange& count : judgement.counts)
    suite.tests.push_back(make_test(answer, count.name, count_message(count), true));
  for (const std::string& name : judgement.uncounted)
    suite.tests.push_back({name, "no run repeats it", std::nullopt});
  return suite;
}

}  // namespace loaderscope::compare
