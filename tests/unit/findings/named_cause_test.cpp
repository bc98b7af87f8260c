// The cause that is named is the one of which the fix takes away most seconds. In exact virtual
// time.
#include <gtest/gtest.h>

#include "loaderscope/predict.h"
#include "predict/fitted_model.h"
#include "report/findings_text.h"
#include "unit/predict/seen_program.h"

namespace loaderscope {
namespace {

// A program with two workers, ten batches an epoch, and steps of 5 ms on its own thread.
RunRecord short_epochs(const std::string& costs) {
  return as_seen(
      modelled("executor = processes\nmemory = pageable\nin-flight = 1\nworkers = 2\n"
               "batch = 10\nsamples = 100\nsteps = 200\nwarmup = 10\ncompute = 5ms\n" +
               costs));
}

Analysis full_analysis(const RunRecord& record) {
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  return analysis;
}

// New workers take 100 ms of each epoch, and transport takes 30 ms.
const std::string kStartsAndSends =
    "cost = decode=50us\ncost = transport=2ms\ncost = transport.recv=3ms\n"
    "cost = startup.parent=20ms\ncost = startup=80ms\n";

TEST(NamedCause, MatchesLargestCauseThatFixRemoves) {
  const RunRecord record = short_epochs(kStartsAndSends);
  const Analysis analysis = full_analysis(record);
  const Finding* fix = advised_fix(analysis);
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix->removes, Cause::startup) << changes_to_text(fix->changes);
  EXPECT_EQ(cause_line(analysis).find("Why: each epoch starts new"), 0U) << cause_line(analysis);
  EXPECT_NE(cause_line(analysis).find("(workers-restarted)"), std::string::npos);
  EXPECT_EQ(analysis.verdict.sentence.find("what can be changed is transport"), std::string::npos)
      << analysis.verdict.sentence;
}

TEST(NamedCause, NamesTransportIfItTakesMost) {
  const RunRecord record = short_epochs(
      "cost = decode=50us\ncost = transport=2ms\ncost = transport.recv=6ms\n"
      "cost = startup.parent=1ms\ncost = startup=2ms\n");
  const Analysis analysis = full_analysis(record);
  const Finding* fix = advised_fix(analysis);
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix->removes, Cause::transport) << changes_to_text(fix->changes);
  EXPECT_NE(cause_line(analysis).find("(slow-transport)"), std::string::npos)
      << cause_line(analysis);
}

TEST(NamedCause, MatchesCauseThatPredictionRemoves) {
  const RunRecord record = short_epochs(kStartsAndSends);
  const FittedModel model(record);
  EXPECT_EQ(model.predict({{"persistent-workers", "true"}}).removes(), Cause::startup);
  EXPECT_EQ(
      model.predict({{"transport.recv.speed", "1000"}, {"transport.speed", "1000"}}).removes(),
      Cause::transport);
  EXPECT_EQ(model.predict({}).removes(), std::nullopt);
}

}  // namespace
}  // namespace loaderscope
