// Gate of a comparison, and the slowdowns that a user accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/compare/gate.h"
#include "loaderscope/errors.h"
#include "report/compare_text.h"
#include "unit/compare/sample_comparison.h"

namespace loaderscope::compare {
namespace {

using namespace test;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// decode +10 %, and with it the rate -6.25 % and CPU time +6.7 %.
Comparison accepting(const std::string& lines) {
  Comparison comparison = slower_decode();
  comparison.accepted = parse_accepted(lines, "accepted.conf");
  comparison.today = "2026-11-23";
  return comparison;
}

GateAnswer answer_to(const Comparison& comparison) {
  return decide_gate(comparison, judge(comparison));
}

std::vector<std::string> gate_lines(const Comparison& comparison) {
  return acceptance_lines(comparison, judge(comparison));
}

TEST(Gate, FollowsVerdictAndOptions) {
  EXPECT_EQ(answer_to(slower_decode()).gate, Gate::fails);
  EXPECT_EQ(answer_to(alike()).gate, Gate::passes);
  Comparison open = noisy();
  EXPECT_EQ(answer_to(open).gate, Gate::passes);
  open.options.must_decide = true;
  EXPECT_EQ(answer_to(open).gate, Gate::untold);
}

TEST(Gate, CountsFailOnlyWhereCodeIsCompared) {
  Comparison comparison = alike();
  for (SideRun& run : comparison.runs) run.counts[1].second = run.arm == 0 ? 1 : 2;
  ASSERT_THAT(answer_to(comparison).worse.size(), 1U);
  EXPECT_EQ(answer_to(comparison).worse[0].name, "decodes");
  EXPECT_EQ(answer_to(comparison).worse[0].at_least, 1);
  comparison.accepted = parse_accepted("decodes = 100% until 2030-01-01 by ana: two crops", "a");
  EXPECT_EQ(answer_to(comparison).gate, Gate::passes);
  comparison.same_flags = false;
  EXPECT_THAT(answer_to(comparison).worse, IsEmpty());
}

Comparison with_more_memory(Comparison comparison) {
  for (SideRun& run : comparison.runs)
    run.quantities.emplace_back("memory", run.arm == 0 ? 100e6 : 130e6);
  return comparison;
}

TEST(Gate, ReportsMoreMemoryAndFailsOnlyOnRequest) {
  Comparison comparison = with_more_memory(alike());
  const auto line = [&] { return answer_line(comparison, judge(comparison)); };
  EXPECT_EQ(answer_to(comparison).gate, Gate::passes);
  EXPECT_THAT(line(), StartsWith("SAME within"));
  EXPECT_EQ(memory_line(judge(comparison)), "B needs 30 % more memory: 130 MB, A 100 MB");
  comparison.options.more_memory_fails = true;
  EXPECT_EQ(answer_to(comparison).gate, Gate::fails);
  EXPECT_THAT(line(), StartsWith("MORE MEMORY: B needs 30 % more memory"));
  EXPECT_THAT(line(), HasSubstr("; SAME within"));
  comparison.accepted = parse_accepted("memory = 40% until 2030-01-01 by ana: a cache", "a");
  EXPECT_EQ(answer_to(comparison).gate, Gate::passes);
}

TEST(Gate, KeepsNoisyVerdictDespiteMoreMemory) {
  const Comparison comparison = with_more_memory(noisy());
  EXPECT_THAT(answer_line(comparison, judge(comparison)), StartsWith("CANNOT TELL"));
  EXPECT_EQ(answer_to(comparison).gate, Gate::passes);
}

// A request for memory changes nothing for a slowdown, and the other way round.
TEST(Gate, FailsSlowdownWithoutRequestForMemory) {
  const Comparison comparison = with_more_memory(slower_decode());
  EXPECT_EQ(answer_to(comparison).gate, Gate::fails);
  ASSERT_NE(answer_to(comparison).find("memory"), nullptr);
  EXPECT_FALSE(answer_to(comparison).find("memory")->fails);
  EXPECT_THAT(answer_line(comparison, judge(comparison)), StartsWith("SLOWER: decode"));
}

TEST(Accepted, CoversStageAndWhatItExplains) {
  const Comparison comparison = accepting("decode = 12% until 2026-11-23 by ana: wanted\n");
  EXPECT_EQ(answer_to(comparison).gate, Gate::passes);
  EXPECT_THAT(answer_line(comparison, judge(comparison)),
              StartsWith("SLOWER, as accepted: decode"));
  EXPECT_THAT(gate_lines(comparison),
              ElementsAre("samples per s, cpu per sample: explained by what was accepted",
                          "decode: accepted: up to 12 % until 2026-11-23 by ana: wanted"));
}

TEST(Accepted, FailsLargerSlowdown) {
  const Comparison comparison = accepting("decode = 9% until 2030-01-01 by ana: wanted");
  EXPECT_EQ(answer_to(comparison).gate, Gate::fails);
  EXPECT_THAT(
      gate_lines(comparison),
      ElementsAre("decode: more than was accepted: up to 9 % until 2030-01-01 by ana: wanted"));
}

TEST(Accepted, ExpiresAfterItsDay) {
  const Comparison comparison = accepting("decode = 12% until 2026-11-22 by ana: wanted");
  EXPECT_EQ(answer_to(comparison).gate, Gate::fails);
  EXPECT_THAT(gate_lines(comparison), ElementsAre(HasSubstr("no longer accepted: was up to 12 %")));
}

TEST(Accepted, FailsTotalWorseThanItsStages) {
  Comparison comparison = accepting("decode = 12% until 2030-01-01 by ana: wanted");
  for (SideRun& run : comparison.runs) {
    if (run.arm == 1) run.quantities[0].second *= 0.9;
  }
  EXPECT_EQ(answer_to(comparison).gate, Gate::fails);
  EXPECT_THAT(gate_lines(comparison),
              Contains("samples per s: more than the 6.2 % that the accepted stages explain"));
}

TEST(Accepted, FailsOtherStage) {
  EXPECT_EQ(answer_to(accepting("augment = 50% until 2030-01-01 by ana: x")).gate, Gate::fails);
  EXPECT_EQ(answer_to(accepting("samples-per-s = 50% until 2030-01-01 by ana: x")).gate,
            Gate::fails);
}

TEST(Accepted, CoversWaitForStage) {
  Comparison comparison = accepting("decode = 12% until 2030-01-01 by ana: wanted");
  for (SideRun& run : comparison.runs) {
    run.quantities.emplace_back("busy", 0.5);
    run.quantities.emplace_back("wait-for-decode", run.arm == 0 ? 0.4 : 0.45);
  }
  EXPECT_EQ(answer_to(comparison).gate, Gate::passes);
  EXPECT_THAT(gate_lines(comparison), Contains("wait for decode: accepted with decode"));
}

TEST(Accepted, RejectsWrongLinesByPlace) {
  const std::vector<std::pair<const char*, const char*>> all = {
      {"decoed = 1% until 2030-01-01 by a: b", "a.conf:1: decoed: is no stage, quantity or count"},
      {"decode = 1 until 2030-01-01 by a: b", "a.conf:1: 1 until"},
      {"decode = 0% until 2030-01-01 by a: b",
       "expected a percentage, a date, an author and a reason"},
      {"decode = 1% until 2030-02-30 by a: b", "2030-02-30"},
      {"decode = 1% until 2030-1-1 by a: b", "write it as '12% until"},
      {"decode = 1% until 2030-01-01 by a", "expected a percentage"},
      {"decode = 1% until 2030-01-01 by : b", "expected a percentage"},
      {"decode = 1% until 2030-01-01 by a:", "expected a percentage"},
      {"decode", "a.conf:1: decode: expected 'key = value'"},
      {"read = 1% until 2030-01-01 by a: b\nread = 2% until 2030-01-01 by a: b",
       "a.conf:2: read: already given"},
  };
  for (const auto& [text, message] : all) {
    try {
      parse_accepted(text, "a.conf");
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  }
  EXPECT_THAT(parse_accepted("# none yet\n\n", "a.conf"), IsEmpty());
}

TEST(Accepted, RejectsImpossibleDates) {
  for (const char* date : {"2026-11-23", "2024-02-29"}) EXPECT_TRUE(is_date(date)) << date;
  for (const char* date : {"", "2026-13-01", "2025-02-29", "26-11-23", "2026/11/23", "2026-11-+1"})
    EXPECT_FALSE(is_date(date)) << date;
}

}  // namespace
}  // namespace loaderscope::compare
