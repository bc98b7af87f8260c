// Break-even of a data set that is loaded into GPU memory.
#include <gtest/gtest.h>

#include "loaderscope/predict.h"

namespace loaderscope {
namespace {

TEST(ResidentGain, CountsWholeEpochs) {
  const ResidentGain gain{20, 4};
  EXPECT_EQ(gain.epochs(), 5);
  EXPECT_EQ(gain.sentence(), "pays after 5 epochs (20 s to load, 4 s saved per epoch)");
  EXPECT_EQ((ResidentGain{20.1, 4}).epochs(), 6);
  EXPECT_EQ((ResidentGain{0.5, 4}).sentence(),
            "pays after 1 epoch (0.5 s to load, 4 s saved per epoch)");
  EXPECT_EQ((ResidentGain{400, 99.6}).sentence(),
            "pays after 5 epochs (7 min to load, 100 s saved per epoch)");
}

TEST(ResidentGain, CountsNoEpochsWithoutSaving) {
  EXPECT_EQ((ResidentGain{20, 0}).epochs(), std::nullopt);
  EXPECT_EQ((ResidentGain{20, -1}).sentence(),
            "never pays (20 s to load, nothing saved per epoch)");
}

TEST(ResidentGain, ComparesEpochsAtGivenRates) {
  Prediction prediction;
  prediction.config.data.samples.value = 1000;
  prediction.loading = 20 * kSecond;
  EXPECT_FALSE(resident_gain(prediction, 100, 200).has_value());  // no data set is kept
  prediction.held_bytes = 1;
  EXPECT_DOUBLE_EQ(resident_gain(prediction, 100, 200)->saved_s, 5);
  EXPECT_DOUBLE_EQ(resident_gain(prediction, 100, 200)->load_s, 20);
  prediction.config.data.samples.value = 0;
  EXPECT_FALSE(resident_gain(prediction, 100, 200).has_value());
}

}  // namespace
}  // namespace loaderscope
