#include "experiment/prediction_history.h"

#include <gtest/gtest.h>

#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

Case ran(std::initializer_list<std::pair<int, double>> rounds_and_rates) {
  Case one;
  for (const auto& [round, rate] : rounds_and_rates) {
    CaseRun run;
    run.round = round;
    run.samples_per_s.mean = rate;
    one.runs.push_back(run);
  }
  return one;
}

TEST(RememberPredictions, KeepsThoseThatWereRunAfterwards) {
  Tune tune;
  tune.experiment.cases = {ran({{0, 100}, {1, 100}}), ran({{1, 180}, {2, 220}}), ran({}),
                           ran({{1, 50}})};
  tune.candidates.resize(4);
  tune.candidates[0].predicted = Forecast{130, 0};  // the case that was probed
  tune.candidates[1].predicted = Forecast{210, 0};  // 5 % off
  tune.candidates[2].predicted = Forecast{400, 0};  // not run
  const source::TempFolder folder;
  const PredictionHistory history(folder.path());
  record_prediction_errors(tune, history);
  EXPECT_EQ(history.summary().count, 1);
  EXPECT_NEAR(history.summary().worst, 0.05, 1e-9);
}

}  // namespace
}  // namespace loaderscope
