// Predictions of work on a GPU from the rates that a record contains.
#include "predict/gpu_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/machine_ceilings.h"
#include "loaderscope/errors.h"
#include "predict/fitted_model.h"
#include "unit/predict/seen_program.h"

namespace loaderscope {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

const Changes kOnEngines = {{"decode", "hw"}};

// Workers need 64 ms for a batch of 32, and the GPU computes for 40 ms. An image of 100 kB has
// 170,000 pixels.
RunRecord host_run() {
  return modelled(
      "batch = 32\nsteps = 200\nwarmup = 20\nworkers = 4\nstored-bytes = 100KB\n"
      "cost = decode=6ms\ncost = augment=2ms\ncompute = 40ms\n");
}

// 10 us and 100 us for 170,000 pixels to decode, 10 us to augment.
ProbedRates measured_rates() {
  ProbedRates rates;
  rates.gpu_decode_image_s = 10e-6;
  rates.gpu_decode_pixels_per_s = 1.7e9;
  rates.gpu_augment_sample_s = 10e-6;
  return rates;
}

RunRecord with_rates(RunRecord record, const ProbedRates& rates = measured_rates()) {
  add_probed_rates(rates, record);
  return record;
}

RunRecord on_card(const char* name) {
  RunRecord record = host_run();
  record.machine.gpus = name;
  return record;
}

// A program that trains on a GPU.
RunRecord seen_on_gpu() {
  RunRecord record = as_seen(host_run());
  record.config.trainer.device.value = "cuda";
  return record;
}

std::string refusal(const RunRecord& record, const Changes& changes) {
  try {
    FittedModel(record).predict(changes);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

// The steps take 40 ms, as the GPU decodes 3.52 ms and augments 0.32 ms at the same time.
TEST(GpuCosts, TakesTimesFromProbe) {
  const FittedModel model(with_rates(host_run()));
  const Prediction prediction = model.predict(kOnEngines);
  EXPECT_NEAR(prediction.base_samples_per_s, 32 / 0.064, 5);
  EXPECT_NEAR(prediction.samples_per_s, 32 / 0.040, 1);
  EXPECT_EQ(prediction.may_be_off, 0);
  EXPECT_THAT(prediction.notes,
              Contains(HasSubstr("the time of 9,090 images/s of 0.17 MP, by probe of this GPU")));
  EXPECT_THAT(prediction.notes, Contains(HasSubstr("1.7 pixels for each stored byte")));
  EXPECT_EQ(prediction.config.declared_cost(Stage::gpu_decode)->amount.mean, 110e3);
}

TEST(GpuCosts, UsesPixelsOfRecord) {
  RunRecord record = with_rates(host_run());
  record.metrics.push_back({"decode.image_pixels", "1", "for a test", 1.7e6});
  const Prediction prediction = FittedModel(record).predict(kOnEngines);
  EXPECT_EQ(prediction.config.declared_cost(Stage::gpu_decode)->amount.mean, 1010e3);
  EXPECT_THAT(prediction.notes, Contains(HasSubstr("990 images/s of 1.70 MP, by probe")));
}

// The training waits 3.52 ms for decoding and 0.32 ms for augmenting. A stream of its own takes
// nothing from it.
TEST(GpuCosts, LetsTrainingOfProgramWait) {
  const FittedModel model(with_rates(seen_on_gpu()));
  const Prediction prediction = model.predict(kOnEngines);
  EXPECT_NEAR(prediction.samples_per_s, 32 / 0.04384, 2);
  EXPECT_THAT(prediction.notes, Contains(HasSubstr("on the stream of the training")));
  const std::optional<Changes> own = model.with_own_stream(kOnEngines);
  ASSERT_TRUE(own);
  EXPECT_NEAR(model.predict(*own).samples_per_s, 32 / 0.040, 1);
  Changes said = kOnEngines;
  said.push_back({"shared-speed", "gpu-decode=0.5:1"});
  said.push_back({"shared-speed", "gpu-augment=0.5:1"});
  EXPECT_NEAR(model.predict(said).samples_per_s, 32 / 0.04192, 2);
  EXPECT_FALSE(model.with_own_stream(said));
}

// Decoding takes 20 % of the speed of one training and 60 % of the other: 0.7 or 2.1 ms a step.
TEST(GpuCosts, GivesIntervalBetweenTwoTrainings) {
  ProbedRates rates = measured_rates();
  rates.gpu_decode_taken = 0.2;
  rates.gpu_decode_taken_of_copies = 0.6;
  const FittedModel model(with_rates(host_run(), rates));
  const Prediction prediction = model.predict(kOnEngines);
  EXPECT_NEAR(prediction.samples_per_s, 32 / (0.040 + 0.4 * 0.00352), 2);
  const double best = 32 / (0.040 + 0.2 * 0.00352), worst = 32 / (0.040 + 0.6 * 0.00352);
  EXPECT_NEAR(prediction.may_be_off, (best - worst) / 2 / prediction.samples_per_s, 0.002);
  EXPECT_FALSE(model.with_own_stream(kOnEngines));
}

TEST(GpuCosts, UsesPresetOfKnownCard) {
  const Changes changes = {{"decode", "hw"}, {"gpu.augment-rate", "100000/s"}};
  const Prediction prediction = FittedModel(on_card("NVIDIA H200")).predict(changes);
  const double us = prediction.config.declared_cost(Stage::gpu_decode)->amount.mean / 1e3;
  EXPECT_NEAR(us, 31 * 170.0 / 187.5, 0.01);
  EXPECT_THAT(prediction.notes,
              Contains(AllOf(HasSubstr("by short tests of another H200"), HasSubstr("±40 %"))));
  EXPECT_EQ(prediction.may_be_off, 0);  // the GPU is not the limit
}

// The GPU decodes a batch in 1.4 ms, and computes for 1 ms. The time may be 40 % off.
TEST(GpuCosts, GivesIntervalOfPreset) {
  RunRecord record = modelled(
      "batch = 32\nsteps = 200\nwarmup = 20\nworkers = 4\nstored-bytes = 100KB\n"
      "cost = decode=6ms\ncompute = 100us\n");
  record.machine.gpus = "NVIDIA H100 80GB HBM3";
  const Prediction prediction =
      FittedModel(record).predict({{"decode", "hw"}, {"gpu.augment-rate", "100000000/s"}});
  EXPECT_GT(prediction.may_be_off, 0.4);
  EXPECT_FALSE(prediction.is_known());
}

TEST(GpuCosts, RefusesUnknownTime) {
  EXPECT_EQ(refusal(on_card("NVIDIA A100-SXM4-80GB"), kOnEngines),
            "--set decode=hw: the time of gpu-decode on NVIDIA A100-SXM4-80GB is unknown; "
            "run 'loaderscope probe' there, or give --set gpu.decode-rate=22000/s");
  EXPECT_THAT(refusal(on_card("NVIDIA GH200 480GB"), kOnEngines),
              HasSubstr("the time of gpu-decode on"));
  EXPECT_THAT(refusal(on_card("NVIDIA H200"), kOnEngines),
              AllOf(HasSubstr("the time of gpu-augment on"),
                    HasSubstr("give --set gpu.augment-rate=1000000/s")));
  EXPECT_THAT(refusal(host_run(), {{"augment-on", "gpu"}}),
              HasSubstr("the time of gpu-augment is unknown"));
}

TEST(GpuCosts, PrefersGivenRate) {
  const Changes changes = {{"decode", "hw"}, {"gpu.decode-rate", "1000/s"}};
  const Prediction prediction = FittedModel(with_rates(host_run())).predict(changes);
  EXPECT_EQ(prediction.config.declared_cost(Stage::gpu_decode)->amount.mean, 1e6);
  EXPECT_EQ(prediction.config.declared_cost(Stage::gpu_augment)->amount.mean, 10e3);
}

// A run of a simulated GPU gets the same costs.
TEST(GpuCosts, GivesCostsToRun) {
  const FittedModel model(with_rates(host_run()));
  const RunConfig config = model.to_run(kOnEngines);
  EXPECT_EQ(config.declared_cost(Stage::gpu_decode)->amount.mean, 110e3);
  EXPECT_EQ(model.why_not_run(kOnEngines), "");
}

}  // namespace
}  // namespace loaderscope
