// The rates that a tune expects of one run: those that `run` and `what-if` say.
#include <gtest/gtest.h>

#include "experiment/tune.h"
#include "loaderscope/errors.h"
#include "predict/fitted_model.h"
#include "unit/predict/seen_program.h"

namespace loaderscope {
namespace {

// A program without workers, as it is measured.
RunRecord seen_without_workers(const std::string& scenario) {
  return as_seen(modelled(
      "workers = 0\nmemory = pageable\nin-flight = 1\nbatch = 10\nsteps = 100\n" + scenario));
}

const Changes kTwo = {{"num-workers", "2"}};

// Batches of 2.5 ms and steps of 1 ms: handing over may cost all that workers save.
TEST(TuneForecast, RejectsUnknownRates) {
  const RunRecord record = seen_without_workers("cost = decode=250us\ncompute = 1ms\n");
  ASSERT_FALSE(FittedModel(record).predict(kTwo).is_known());
  EXPECT_THROW(fit_forecaster(record)(kTwo), RunError);
}

TEST(TuneForecast, GivesKnownRates) {
  const RunRecord record = seen_without_workers("cost = decode=5ms\ncompute = 10ms\n");
  const Prediction prediction = FittedModel(record).predict(kTwo);
  ASSERT_TRUE(prediction.is_known());
  const ScaledPrediction promise = scale_prediction(analyse(record), prediction);
  EXPECT_DOUBLE_EQ(fit_forecaster(record)(kTwo).samples_per_s, promise.rate_after);
}

}  // namespace
}  // namespace loaderscope
