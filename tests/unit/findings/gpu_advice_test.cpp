// Advice to decode or augment on the GPU: what it needs to know, its price and its gain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/machine_ceilings.h"
#include "loaderscope/findings.h"
#include "loaderscope/predict.h"
#include "loaderscope/report.h"
#include "predict/fitted_model.h"
#include "unit/predict/seen_program.h"

namespace loaderscope {
namespace {

using testing::HasSubstr;

// All 8 cores decode and augment: 10 ms a sample. The GPU computes for 10 ms a batch of 8.
constexpr const char* kAllCoresBusy =
    "batch = 8\nsteps = 160\nwarmup = 20\nworkers = 8\ncores = 8\nstored-bytes = 110KB\n"
    "cost = decode=20ms:cpu\ncost = augment=5ms:cpu\ncompute = 10ms\n";

// Decoding takes 110 us an image of 187,000 pixels, and augmenting 10 us.
ProbedRates fast_gpu() {
  ProbedRates rates;
  rates.gpu_decode_image_s = 10e-6;
  rates.gpu_decode_pixels_per_s = 1.87e9;
  rates.gpu_augment_sample_s = 10e-6;
  return rates;
}

RunRecord with_gpu(RunRecord record, double jpeg_share, const ProbedRates& rates) {
  add_probed_rates(rates, record);
  record.metrics.push_back({"decode.jpeg_share", "1", "for a test", jpeg_share});
  return record;
}

std::vector<Finding> advice_for(const RunRecord& record) {
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  return analysis.findings;
}

const Finding* find_advice(const std::vector<Finding>& findings, std::string_view id) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.id == id; });
  return found == findings.end() ? nullptr : &*found;
}

bool advises_gpu(const RunRecord& record) {
  const std::vector<Finding> findings = advice_for(record);
  return find_advice(findings, "decode-on-gpu") != nullptr ||
         find_advice(findings, "augment-on-gpu") != nullptr;
}

TEST(GpuAdvice, NamesPriceAndGain) {
  const RunRecord record = with_gpu(modelled(kAllCoresBusy), 0.93, fast_gpu());
  const std::vector<Finding> findings = advice_for(record);
  const Finding* decode = find_advice(findings, "decode-on-gpu");
  ASSERT_NE(decode, nullptr);
  EXPECT_EQ(decode->changes, (Changes{{"decode", "hw"}}));
  EXPECT_EQ(changes_to_text(decode->to_run),
            "decode=hw cost=gpu-decode=110us cost=gpu-augment=10us");
  EXPECT_THAT(decode->evidence, HasSubstr("93.0 % of the images are JPEGs that the GPU decodes"));
  EXPECT_THAT(decode->evidence,
              HasSubstr("the GPU needs 960.0 us of each step for it, which frees 8.0 of 8 cores"));
  EXPECT_NEAR(decode->rate_before, 320, 5);
  EXPECT_NEAR(decode->rate_after, 800, 10);
  EXPECT_DOUBLE_EQ(
      decode->rate_after,
      scale_prediction(analyse(record), FittedModel(record).predict(decode->changes)).rate_after);
}

TEST(GpuAdvice, NeedsProbedRatesAndJpegs) {
  RunRecord on_known_card = with_gpu(modelled(kAllCoresBusy), 0.93, {});
  on_known_card.machine.gpus = "NVIDIA H200";  // a preset is no measurement
  EXPECT_FALSE(advises_gpu(on_known_card));
  EXPECT_TRUE(advises_gpu(with_gpu(modelled(kAllCoresBusy), 0.93, fast_gpu())));
  const std::vector<Finding> few = advice_for(with_gpu(modelled(kAllCoresBusy), 0.7, fast_gpu()));
  EXPECT_EQ(find_advice(few, "decode-on-gpu"), nullptr);
  EXPECT_NE(find_advice(few, "augment-on-gpu"), nullptr);
}

TEST(GpuAdvice, ChangesNothingWithoutRatesOfGpu) {
  ProbedRates host_rates;
  host_rates.decodes_per_core_s = 100;
  host_rates.copied_bytes_per_s = 1e10;
  const std::vector<Finding> before = advice_for(modelled(kAllCoresBusy)),
                             after = advice_for(with_gpu(modelled(kAllCoresBusy), 1, host_rates));
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].id, after[i].id);
    EXPECT_EQ(before[i].evidence, after[i].evidence);
    EXPECT_EQ(before[i].rate_after, after[i].rate_after);
  }
}

// The GPU decodes 300 images/s and augments 300, fewer than the workers.
TEST(GpuAdvice, AdvisesNoLoss) {
  ProbedRates slow;
  slow.gpu_decode_pixels_per_s = 187e3 * 300;
  slow.gpu_augment_sample_s = 1.0 / 300;
  EXPECT_FALSE(advises_gpu(with_gpu(modelled(kAllCoresBusy), 1, slow)));
}

// The training of a program waits for the GPU: 10.96 ms a step.
TEST(GpuAdvice, PredictsWaitingTrainingOfProgram) {
  RunRecord record = with_gpu(as_seen(modelled(kAllCoresBusy)), 1, fast_gpu());
  record.config.trainer.device.value = "cuda";
  const std::vector<Finding> findings = advice_for(record);
  const Finding* decode = find_advice(findings, "decode-on-gpu");
  ASSERT_NE(decode, nullptr);
  EXPECT_NEAR(decode->rate_after, 8 / 0.01096, 15);
  EXPECT_EQ(changes_to_text(decode->changes),
            "decode=hw gpu.decode-rate=9091/s gpu.augment-rate=100000/s");
  EXPECT_FALSE(decode->has_setting());
  EXPECT_THAT(decode->pytorch, HasSubstr("decode_jpeg(list, device=\"cuda\")"));
  EXPECT_THAT(decode->pytorch, HasSubstr("DALI"));
}

}  // namespace
}  // namespace loaderscope
