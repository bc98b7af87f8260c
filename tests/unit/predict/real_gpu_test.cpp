// Predictions for a program that was measured on a GPU (reports/gpu-nvidia-h200/), compared with a
// run of the same machine.
#include <gtest/gtest.h>

#include "loaderscope/predict.h"
#include "loaderscope/report.h"
#include "predict/fitted_model.h"

namespace loaderscope {
namespace {

// Eager ResNet-50 in batches of 64: the GPU computes 15 ms, launching takes the host 28. With 12
// workers it gave 1,828 images/s within an epoch, busy 43.1 %.
TEST(RealGpu, PredictsMeasuredRateWithMoreWorkers) {
  const SavedRun saved =
      read_result(LOADERSCOPE_SOURCE_DIR "/reports/gpu-nvidia-h200/resnet50-2-workers.json");
  const RunRecord& record = saved.record;
  const FittedModel model(record);
  const Analysis analysis = analyse(record);
  EXPECT_NEAR(model.fitted().samples_per_s / analysis.samples_per_s.mean, 1, 0.03);
  const ScaledPrediction twelve =
      scale_prediction(analysis, model.predict({{"num-workers", "12"}}));
  EXPECT_NEAR(twelve.rate_after / 1828, 1, 0.05);
  EXPECT_NEAR(twelve.busy_after, 0.431, 0.03);
}

}  // namespace
}  // namespace loaderscope
