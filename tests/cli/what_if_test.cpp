// loaderscope what-if, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The history of predictions goes to a folder of the test.
class WhatIf : public testing::Test {
 protected:
  // 4 workers need 20 ms for each of the batches, of which the GPU takes one in 10 ms.
  std::string saved_run() const {
    const std::string path = folder_.path("r.json");
    const Ended ended = run_binary({"run", "--engine", "model", "--cost", "decode=10ms",
                                    "--compute", "10ms", "--workers", "2", "--batch", "4",
                                    "--cores", "8", "--steps", "100", "--json", path});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return path;
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
};

TEST_F(WhatIf, PredictsFromASavedResult) {
  const Ended ended = run_binary({"what-if", saved_run(), "--set", "workers=4"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("Predicted with workers=4: busy 50.0 % -> 100.0 %, 200 -> 400 "
                                    "samples/s (x2.00)\n"));
  EXPECT_THAT(ended.out, HasSubstr("The model gives the base case's rate +0.0 %"));
}

TEST_F(WhatIf, SavesTheAnswer) {
  const std::string path = folder_.path("w.json");
  const Ended ended =
      run_binary({"what-if", saved_run(), "--set", "decode.speed=2", "--json", path});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json answer = json::parse(folder_.read("w.json"));
  EXPECT_EQ(answer.at("schema"), "loaderscope.what-if/1");
  EXPECT_EQ(answer.at("changes"), json({"decode.speed=2"}));
  EXPECT_NEAR(answer.at("gain").get<double>(), 2, 1e-6);
  EXPECT_TRUE(answer.at("verified").is_null());
  EXPECT_EQ(answer.at("fit").at("rate_error"), 0.0);
}

// The model has no memory. Its result gets that of a real run, in which a worker takes 1 GB.
TEST_F(WhatIf, NamesMemoryOfMoreWorkers) {
  const std::string path = saved_run();
  json result = json::parse(folder_.read("r.json"));
  for (const auto& [name, bytes] :
       {std::pair("worker_private_bytes", 1e9), std::pair("free_bytes", 20e9)}) {
    result["memory"][name] = bytes;
    result["metrics"].push_back(
        {{"name", std::string("memory.") + name}, {"unit", "bytes"}, {"help", ""}});
  }
  folder_.write("r.json", result.dump());
  const Ended ended =
      run_binary({"what-if", path, "--set", "workers=4", "--json", folder_.path("w.json")});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\n4 workers need about 4.0"));
  EXPECT_THAT(ended.out, HasSubstr(" more than now (20.0 GB are free)\n"));
  const json memory = json::parse(folder_.read("w.json")).at("memory");
  EXPECT_EQ(memory.at("workers"), 4);
  EXPECT_GE(memory.at("needed_bytes"), 4e9);
  EXPECT_EQ(memory.at("free_bytes"), 20e9);
  EXPECT_THAT(run_binary({"report", folder_.path("w.json")}).out,
              HasSubstr("\n4 workers need about 4.0"));
  EXPECT_THAT(run_binary({"what-if", path, "--set", "workers=2"}).out,
              Not(HasSubstr("need about")));
  EXPECT_THAT(run_binary({"what-if", path, "--set", "workers=40"}).out,
              HasSubstr("; they do not fit\n"));
}

TEST_F(WhatIf, RefusesSecondValueOfSetting) {
  const std::string path = saved_run();
  expect_refused({"what-if", path, "--set", "workers=4"},
                 {{{"--set", "num-workers=8"}, "--set num-workers=8: contradicts --set workers=4"},
                  {{"--set", "decode.speed=2", "--set", "decode.speed=3"},
                   "--set decode.speed=3: contradicts --set decode.speed=2"}});
}

TEST_F(WhatIf, VerifiesByARun) {
  const Ended ended = run_binary({"what-if", saved_run(), "--set", "workers=4", "--verify"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Measured 400 samples/s, predicted 400 (off by +0.0 %)"));
}

TEST_F(WhatIf, KeepsHowFarRealRunsWereOff) {
  const Words words = {"what-if",   "--cost", "decode=2ms:sleep", "--compute", "4ms",
                       "--workers", "1",      "--batch",          "2",         "--steps",
                       "30",        "--set",  "workers=2",        "--verify"};
  const Ended first = run_binary(words);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, Not(HasSubstr("the last prediction")));
  EXPECT_THAT(run_binary(words).out, HasSubstr("he last prediction that was run was off by"));
}

TEST_F(WhatIf, TakesDeclaredCostsWithoutAResult) {
  const Ended ended = run_binary({"what-if", "--cost", "decode=10ms", "--compute", "10ms",
                                  "--workers", "2", "--batch", "4", "--cores", "8", "--steps",
                                  "100", "--set", "workers=4", "--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json answer = json::parse(ended.out);
  EXPECT_TRUE(answer.at("measured").is_null());
  EXPECT_NEAR(answer.at("gain").get<double>(), 2, 1e-6);
}

// Costs that the host measured stay. The device decodes and augments.
TEST_F(WhatIf, DecodesOnDeviceWithRatesOfDevice) {
  const std::string data = folder_.path("data"), result = folder_.path("host.json");
  ASSERT_EQ(run_binary({"data", "make", data, "--count", "64"}).exit_code, 0);
  const Ended run =
      run_binary({"run", "--data", data, "--device", "sim", "--compute", "5ms", "--batch", "8",
                  "--workers", "1", "--steps", "60", "--json", result});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Words words = {"what-if", result, "--set", "decode=hw", "--set", "gpu.decode-rate=20000/s"};
  Words with_both = words;
  with_both.insert(with_both.end(), {"--set", "gpu.augment-rate=200000/s", "--json", "-"});
  const Ended ended = run_binary(with_both);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json answer = json::parse(ended.out);
  EXPECT_GT(answer.at("predicted").at("samples_per_s").get<double>(),
            answer.at("fitted").at("samples_per_s").get<double>());
  EXPECT_EQ(answer.at("why_not_run"),
            "--verify: gpu.decode-rate cannot be set here, the GPU has its own rate; leave it out");
  const Ended without = run_binary(words);
  EXPECT_EQ(without.exit_code, 64);
  EXPECT_THAT(without.err, HasSubstr("the time of gpu-augment is unknown"));
  EXPECT_THAT(without.err,
              HasSubstr("run 'loaderscope probe' there, or give --set gpu.augment-rate=1000000/s"));
}

// Puts what probe would have measured of a GPU into a saved result.
void add_rates_of_gpu(const TestFolder& folder, const std::string& name) {
  json result = json::parse(folder.read(name));
  const std::pair<const char*, double> rates[] = {{"gpu_decode_image_s", 10e-6},
                                                  {"gpu_decode_pixels_per_s", 1.87e9},
                                                  {"gpu_augment_sample_s", 10e-6}};
  for (const auto& [rate, value] : rates) {
    const std::string metric = std::string("probed.") + rate;
    result["probed"][rate] = value;
    result["metrics"].push_back(
        {{"name", metric}, {"unit", "1"}, {"help", "for a test"}, {"joined", "mean"}});
  }
  std::ofstream(folder.path(name)) << result;
}

// An image of 110 kB is taken to have 187,000 pixels, which take 110 us. Four workers need 10 ms
// for a batch of 4, as the training does.
TEST_F(WhatIf, DecodesOnGpuWithProbedRates) {
  const std::string result = saved_run();
  add_rates_of_gpu(folder_, "r.json");
  const Words words = {"what-if", result, "--set", "decode=hw"};
  const Ended ended = run_binary(words);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("200 -> 400 samples/s (x2.00)"));
  EXPECT_THAT(ended.out,
              HasSubstr("It takes 480.0 us of GPU time a step (4.8 %) and frees 2.0 of 8 cores"));
  EXPECT_THAT(ended.out, HasSubstr("It pays with 3 workers or fewer; with 4 the CPU keeps up"));
  EXPECT_THAT(ended.out, HasSubstr("It uses 9,090 images/s of 0.19 MP, by probe of this GPU"));
  Words as_json = words;
  as_json.insert(as_json.end(), {"--json", "-"});
  const json answer = json::parse(run_binary(as_json).out);
  EXPECT_EQ(answer.at("gpu").at("pays_up_to_workers"), 3);
  EXPECT_NEAR(answer.at("gpu").at("step_s").get<double>(), 480e-6, 1e-9);
  EXPECT_NEAR(answer.at("gpu").at("freed_cores").get<double>(), 2, 0.01);
}

TEST_F(WhatIf, RefusesGpuWithoutRates) {
  const Ended ended = run_binary({"what-if", saved_run(), "--set", "decode=hw"});
  EXPECT_EQ(ended.exit_code, 64);
  EXPECT_THAT(ended.err, HasSubstr("the time of gpu-decode"));
  EXPECT_THAT(ended.err,
              HasSubstr("run 'loaderscope probe' there, or give --set gpu.decode-rate=22000/s"));
}

// One worker reads a batch of 4 in 20 ms. From GPU memory a batch takes 4 ms, those of the compute.
TEST_F(WhatIf, SaysWhenResidentDataPays) {
  const std::string result = folder_.path("reads.json");
  const Ended run = run_binary({"run", "--engine", "model", "--cost", "read=5ms:sleep", "--compute",
                                "4ms", "--workers", "1", "--batch", "4", "--cores", "8",
                                "--samples", "400", "--steps", "90", "--json", result});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Words words = {"what-if", result,
                       "--set",   "decode=hw",
                       "--set",   "resident=stored",
                       "--set",   "gpu.decode-rate=20000/s",
                       "--set",   "gpu.augment-rate=200000/s"};
  const Ended shown = run_binary(words);
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  // 2 s to load; an epoch takes 2 s without, and 0.4 s with it.
  EXPECT_THAT(shown.out,
              HasSubstr("It pays after 2 epochs (2 s to load, 1.6 s saved per epoch)\n"));
  Words saved = words;
  saved.insert(saved.end(), {"--json", "-"});
  const json answer = json::parse(run_binary(saved).out);
  EXPECT_EQ(answer.at("resident").at("pays_after_epochs"), 2);
  EXPECT_NEAR(answer.at("resident").at("load_s").get<double>(), 2, 1e-6);
  EXPECT_NEAR(answer.at("resident").at("saved_per_epoch_s").get<double>(), 1.6, 1e-3);
  const Ended without = run_binary({"what-if", result, "--set", "workers=2", "--json", "-"});
  EXPECT_FALSE(json::parse(without.out).contains("resident"));
}

TEST_F(WhatIf, SaysThatResidentDataNeverPays) {
  const std::string result = folder_.path("compute.json");
  const Ended run = run_binary({"run", "--engine", "model", "--cost", "read=1ms:sleep", "--compute",
                                "40ms", "--workers", "4", "--batch", "4", "--cores", "8",
                                "--samples", "400", "--steps", "90", "--json", result});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Ended shown = run_binary(
      {"what-if", result, "--set", "resident=decoded", "--set", "gpu.augment-rate=200000/s"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("It never pays ("));
}

TEST_F(WhatIf, VerifiesDeclaredDecodingOnSimulatedGpu) {
  const std::string result = folder_.path("declared.json");
  const Ended run =
      run_binary({"run", "--device", "sim", "--cost", "decode=4ms:sleep", "--compute", "5ms",
                  "--batch", "4", "--workers", "2", "--steps", "40", "--json", result});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Ended ended =
      run_binary({"what-if", result, "--set", "decode=hw", "--set", "gpu.decode-rate=2000/s",
                  "--set", "gpu.augment-rate=100000/s", "--verify", "--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json answer = json::parse(ended.out);
  EXPECT_FALSE(answer.contains("why_not_run"));
  EXPECT_GT(answer.at("verified").at("samples_per_s").get<double>(),
            answer.at("fitted").at("samples_per_s").get<double>());
}

TEST_F(WhatIf, RefusesInOneSentence) {
  const std::string result = saved_run();
  expect_refused({"what-if"},
                 {
                     {{result, "--set", "worker=4"}, "did you mean 'workers'?"},
                     {{result, "--set", "workers"}, "expected KEY=VALUE"},
                     {{result, "--set", "engine=native"}, "a what-if keeps engine as it is"},
                     {{result, "--set", "prefetch-depth=4"}, "prefetch-depth"},
                     {{result, "--workers", "4"}, "give what changes with --set"},
                     {{"--data", "/tmp", "--set", "workers=4"}, "real data must be measured first"},
                     {{"--set", "workers=4"}, "nothing takes any time"},
                     {{folder_.path("none.json"), "--set", "workers=4"}, "none.json", 1},
                 });
}

}  // namespace
}  // namespace loaderscope::testing_cli
