// scripts/gpu-check: what it makes of answers, by a pretend loaderscope that gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/run_script.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
constexpr const char* kPretendTests =
    "#!/bin/sh\n"
    "echo \"[==========] 12 tests from 3 test suites ran. (5 ms total)\"\n"
    "echo \"[  SKIPPED ] ${GPU_SKIPPED-2} tests, listed below:\"\n";

class GpuCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy(LOADERSCOPE_SOURCE_DIR "/tests/tools/pretend_loaderscope.py",
                          folder_.path("loaderscope"));
    write_program(folder_, "loaderscope_gpu_tests", kPretendTests);
    folder_.write("libloaderscope_cupti_check.so", "");
  }

  Ended check(const std::string& wrong = "", const Words& more = {}) {
    const Environment pretend("PRETEND", wrong);
    Words words = {folder_.path(""), "--output", folder_.path("report.json")};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(script_path("gpu-check"), words);
  }
  json report() const { return json::parse(folder_.read("report.json")); }
  std::vector<std::string> failed() const {
    std::vector<std::string> names;
    const json all = report();
    for (const json& check : all.at("checks")) {
      if (!check.at("passed"))
        names.push_back(check.at("part").get<std::string>() + ": " +
                        check.at("name").get<std::string>());
    }
    return names;
  }
  std::string message_of(const std::string& part, const std::string& name) const {
    const json all = report();
    for (const json& check : all.at("checks")) {
      if (check.at("part") == part && check.at("name") == name) return check.at("message");
    }
    return "no such check";
  }

  TestFolder folder_;
};

TEST_F(GpuCheck, ASoundMachinePasses) {
  const Ended ended = check();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(failed(), IsEmpty());
  const json all = report();
  EXPECT_EQ(all.at("schema"), "loaderscope.gpu-check/1");
  EXPECT_EQ(all.at("passed"), true);
  EXPECT_EQ(all.at("commit"), "abc123-dirty");
  for (const char* key : {"device", "driver", "date"}) EXPECT_TRUE(all.at(key).is_string()) << key;
  std::set<std::string> parts;
  for (const json& one : all.at("checks")) parts.insert(one.at("part"));
  EXPECT_THAT(parts,
              ElementsAre("busy", "data", "images", "link", "loaded link", "model", "tests"));
}

TEST_F(GpuCheck, WithoutAGpuSaysSoInOneSentence) {
  const Ended ended = check("no GPU");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err, "gpu-check: nothing can be checked here: no CUDA driver; install one.\n");
}

TEST_F(GpuCheck, WithoutTheProgramSaysSoInOneSentence) {
  std::filesystem::remove(folder_.path("loaderscope"));
  const Ended ended = check();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, StartsWith("gpu-check: nothing can be checked here: "));
  EXPECT_EQ(ended.err.find('\n'), ended.err.size() - 1) << ended.err;
}

TEST_F(GpuCheck, ASlowLinkFailsWithItsFigures) {
  EXPECT_EQ(check("slow link").exit_code, 1);
  EXPECT_THAT(failed(), ElementsAre("link: pinned"));
  EXPECT_THAT(message_of("link", "pinned"), StartsWith("at worst 0.960 of the bare loop"));
  EXPECT_EQ(report().at("passed"), false);
}

TEST_F(GpuCheck, MissingGpuTestsAreAFailureAndTheRestGoesOn) {
  std::filesystem::remove(folder_.path("loaderscope_gpu_tests"));
  EXPECT_EQ(check().exit_code, 1);
  EXPECT_THAT(failed(), ElementsAre("tests: ran"));
  EXPECT_THAT(message_of("tests", "ran"), HasSubstr("loaderscope_gpu_tests cannot be started"));
}

TEST_F(GpuCheck, GpuTestsThatAreAllSkippedAreAFailure) {
  const Environment all("GPU_SKIPPED", "12");
  EXPECT_EQ(check().exit_code, 1);
  EXPECT_THAT(failed(), ElementsAre("tests: loaderscope_gpu_tests"));
}

TEST_F(GpuCheck, AProbeThatCrashesIsAFailureAndTheRestGoesOn) {
  EXPECT_EQ(check("probe crashes").exit_code, 1);
  EXPECT_THAT(failed(), ElementsAre("link: ran", "loaded link: ran"));
  EXPECT_THAT(message_of("link", "ran"), HasSubstr("exit code -11"));
}

TEST_F(GpuCheck, AnUnknownSchemaIsAFailure) {
  EXPECT_EQ(check("other schema").exit_code, 1);
  EXPECT_THAT(message_of("link", "ran"), HasSubstr("not loaderscope.probe/1"));
}

TEST_F(GpuCheck, RunsThatFailAreRecordedWithTheirMessage) {
  EXPECT_EQ(check("run fails").exit_code, 1);
  EXPECT_THAT(message_of("model", "decode"), HasSubstr("the device was lost"));
  EXPECT_THAT(message_of("busy", "ran"), HasSubstr("the device was lost"));
  EXPECT_THAT(message_of("images", "pageable"), HasSubstr("the device was lost"));
  EXPECT_THAT(message_of("link", "pinned"), HasSubstr("0.980"));
}

TEST_F(GpuCheck, ACauseFarFromTheModelFails) {
  EXPECT_EQ(check("off the model").exit_code, 1);
  EXPECT_THAT(message_of("model", "decode"), StartsWith("decode is +10.00 % off the model"));
  EXPECT_EQ(failed().size(), 6U);
}

TEST_F(GpuCheck, BusyFarFromTheKernelsFails) {
  EXPECT_EQ(check("busy apart").exit_code, 1);
  EXPECT_THAT(failed(), ElementsAre("busy: busy"));
  EXPECT_THAT(message_of("busy", "busy"), StartsWith("our account 70.00 %, CUPTI 68.00 %"));
}

TEST_F(GpuCheck, WithoutTheCuptiLibraryBusyIsAFailure) {
  std::filesystem::remove(folder_.path("libloaderscope_cupti_check.so"));
  EXPECT_EQ(check().exit_code, 1);
  EXPECT_THAT(failed(), ElementsAre("busy: ran"));
}

TEST_F(GpuCheck, WhatTakesTooLongIsEndedAndRecorded) {
  write_program(folder_, "loaderscope_gpu_tests", "#!/bin/sh\nsleep 600\n");
  EXPECT_EQ(check("", {"--seconds", "1"}).exit_code, 1);
  EXPECT_THAT(message_of("tests", "ran"), HasSubstr("took too long"));
  EXPECT_THAT(message_of("link", "ran"), HasSubstr("no time was left"));
}

TEST_F(GpuCheck, NoJsonIsAFailureOfThatPart) {
  EXPECT_EQ(check("no JSON").exit_code, 1);
  EXPECT_THAT(message_of("link", "ran"), HasSubstr("printed no JSON"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
