// A comparison as tests: one for each thing that was looked at, which is how a CI shows what
// failed.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiment/compare/gate.h"
#include "page/escape.h"
#include "report/compare_text.h"
#include "report/kinds.h"

namespace loaderscope::compare {
namespace {

struct Test {
  std::string name, message;
  std::string_view element;  // "failure", "skipped", "system-out"
};

std::string count_message(const CountChange& count) {
  return fmt::format("A {:.6g}, B {:.6g} per sample", count.a, count.b);
}

Test test_of(const GateAnswer& answer, const std::string& name, std::string message, bool is_told) {
  const Worse* worse = answer.find(name);
  if (worse != nullptr && worse->fails) return {name, std::move(message), "failure"};
  if (worse != nullptr) message += ": " + worse->why;
  return {name, std::move(message), is_told ? "system-out" : "skipped"};
}

std::vector<Test> tests_of(const GateAnswer& answer, const ComparisonResult& judgement) {
  std::vector<Test> tests;
  for (const Difference& one : judgement.differences)
    tests.push_back(
        test_of(answer, one.name, change_line(one), one.verdict != Outcome::cannot_tell));
  for (const CountChange& count : judgement.counts)
    tests.push_back(test_of(answer, count.name, count_message(count), true));
  for (const std::string& name : judgement.uncounted)
    tests.push_back({name, "no run repeats it", "skipped"});
  return tests;
}

// Returns a test for the verdict, used if no quantity failed, or nothing was compared.
Test whole_of(const Comparison& comparison, const ComparisonResult& judgement, Gate gate) {
  std::string_view element = "system-out";
  if (judgement.verdict == Outcome::cannot_tell) element = "skipped";
  if (gate != Gate::passes) element = "failure";
  return {"verdict", answer_line(comparison, judgement), element};
}

std::int64_t count_of(const std::vector<Test>& tests, std::string_view element) {
  return std::count_if(tests.begin(), tests.end(),
                       [&](const Test& test) { return test.element == element; });
}

void write_test(std::ostream& out, const Test& test) {
  out << fmt::format("    <testcase classname=\"loaderscope.compare\" name=\"{}\">\n",
                     in_xml(test.name));
  const std::string message = in_xml(test.message);
  if (test.element == "system-out")
    out << fmt::format("      <system-out>{}</system-out>\n", message);
  else
    out << fmt::format("      <{} message=\"{}\"/>\n", test.element, message);
  out << "    </testcase>\n";
}

}  // namespace

void write_comparison_junit(std::ostream& out, const Comparison& comparison) {
  const ComparisonResult judgement = judge(comparison);
  const GateAnswer answer = gate_of(comparison, judgement);
  std::vector<Test> tests = {whole_of(comparison, judgement, answer.gate)};
  for (Test& test : tests_of(answer, judgement)) tests.push_back(std::move(test));
  const std::string counts = fmt::format(
      "tests=\"{}\" failures=\"{}\" skipped=\"{}\" errors=\"0\" time=\"{:.3f}\"", tests.size(),
      count_of(tests, "failure"), count_of(tests, "skipped"), seconds(comparison.spent));
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out << fmt::format("<testsuites name=\"loaderscope\" {}>\n", counts);
  out << fmt::format("  <testsuite name=\"loaderscope.compare\" {}>\n", counts);
  for (const Test& test : tests) write_test(out, test);
  out << "  </testsuite>\n</testsuites>\n";
}

}  // namespace loaderscope::compare
