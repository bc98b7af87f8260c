// scripts/gpu-check: what it makes of answers, by a pretend machine whose programs give them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/run_script.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::uintmax_t kMaxBytes = 16 << 20;  // limit of the report and its log

class GpuCheck : public ::testing::Test {
 protected:
  GpuCheck() : path_("PATH", folder_.path("driver") + ":" + std::getenv("PATH")) {}

  void SetUp() override {
    std::filesystem::create_directory(folder_.path("driver"));
    for (const char* program : {"loaderscope", "loaderscope_gpu_tests", "loaderscope_nvjpeg_check",
                                "python3", "driver/nvidia-smi"}) {
      std::filesystem::copy(LOADERSCOPE_SOURCE_DIR "/tests/tools/pretend_gpu_machine.py",
                            folder_.path(program));
    }
    folder_.write("libloaderscope_cupti_check.so", "");
    folder_.write("libnvjpeg.so.13", "");
  }

  Words words(const Words& more = {}) const {
    Words all = {folder_.path(""), "--python", folder_.path("python3"), "--output",
                 folder_.path(report_ + ".json")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Ended check(const std::string& wrong = "", const Words& more = {}) {
    const Environment pretend("PRETEND", wrong);
    return run_program(script_path("gpu-check"), words(more));
  }
  Ended check_line(const std::string& line, const std::string& wrong, const Words& more = {}) {
    Words only = {"--only", line};
    only.insert(only.end(), more.begin(), more.end());
    return check(wrong, only);
  }

  json report() const { return json::parse(folder_.read(report_ + ".json")); }
  std::string log() const { return folder_.read(report_ + ".log"); }
  json line(const std::string& name) const {
    const json all = report();
    for (const json& one : all.at("lines")) {
      if (one.at("name") == name) return one;
    }
    ADD_FAILURE() << "no line " << name;
    return {{"state", ""}, {"reason", ""}};
  }
  std::string state(const std::string& name) const { return line(name).at("state"); }
  std::string reason(const std::string& name) const { return line(name).at("reason"); }
  // Returns "line: check" for each check in that state.
  std::vector<std::string> checks(const std::string& state) const {
    std::vector<std::string> names;
    const json all = report();
    for (const json& one : all.at("lines")) {
      for (const json& check : one.at("checks")) {
        if (check.at("state") == state)
          names.push_back(one.at("name").get<std::string>() + ": " +
                          check.at("name").get<std::string>());
      }
    }
    return names;
  }
  void expect_kept_as_the_schema_says() const {
    const Ended checked =
        run_program("/usr/bin/env", {"python3", "-W", "ignore", "-m", "jsonschema", "-i",
                                     folder_.path(report_ + ".json"),
                                     LOADERSCOPE_SOURCE_DIR "/reports/gpu-check.schema.json"});
    if (checked.err.find("No module named") == std::string::npos) {
      EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
    }
    EXPECT_LT(std::filesystem::file_size(folder_.path(report_ + ".json")) +
                  std::filesystem::file_size(folder_.path(report_ + ".log")),
              kMaxBytes);
  }

  TestFolder folder_;
  const Environment path_;
  std::string report_ = "report";
};

TEST_F(GpuCheck, ProvesAllLinesOnSoundMachine) {
  const Ended ended = check();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(checks("failed"), IsEmpty());
  EXPECT_THAT(checks("not reached"), IsEmpty());
  const json all = report();
  EXPECT_EQ(all.at("proved"), all.at("lines").size());
  EXPECT_EQ(all.at("commit"), "abc123-dirty");
  EXPECT_EQ(all.at("device"), "Pretend H100");
  EXPECT_EQ(all.at("driver"), "580.1");
  std::vector<std::string> names;
  for (const json& one : all.at("lines")) names.push_back(one.at("name"));
  EXPECT_THAT(names,
              ElementsAre("machine", "tests", "data", "link", "loaded link", "busy", "model",
                          "images", "loader", "sweep", "training", "tools", "jpeg", "worker-tests",
                          "engines", "worker-native", "worker-account", "worker-kernel",
                          "worker-peers", "worker-ladder", "ranks", "worker-hurt"));
  for (const std::string& name : names) EXPECT_THAT(ended.out, HasSubstr("\n" + name + " "));
  EXPECT_EQ(line("images").at("checks").size(), 5 * 2 * 2 * 2U);
  EXPECT_THAT(log(), HasSubstr("=== ranks: "));
  EXPECT_THAT(log(), HasSubstr("--sync-ranks"));
  expect_kept_as_the_schema_says();
}

TEST_F(GpuCheck, ReportsMissingGpuInOneSentence) {
  const Ended ended = check("no GPU");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err, "gpu-check: nothing can be checked here: no CUDA driver; install one.\n");
}

TEST_F(GpuCheck, ReportsMissingProgramInOneSentence) {
  std::filesystem::remove(folder_.path("loaderscope"));
  const Ended ended = check();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, StartsWith("gpu-check: nothing can be checked here: "));
  EXPECT_EQ(ended.err.find('\n'), ended.err.size() - 1) << ended.err;
}

// Words of a command that each line gives.
struct LineCommand {
  const char* line;
  const char* command;
};

constexpr LineCommand kCommands[] = {
    {"tests", "--gtest_filter"},
    {"data", "data make"},
    {"link", "probe link"},
    {"loaded link", "probe"},
    {"busy", "--launches 300"},
    {"model", "--engine model"},
    {"images", "--transfer u8"},
    {"loader", "--loader"},
    {"sweep", "sweep"},
    {"training", "resnet50.py"},
    {"tools", "--compile"},
    {"jpeg", "nvjpeg_check"},
    {"ranks", "--sync-ranks"},
    {"worker-tests", "--gtest_filter"},
    {"engines", "--decode hw"},
    {"worker-native", "--decode hw"},
    {"worker-account", "gemm:10ms"},
    {"worker-kernel", "--augment-on gpu"},
    {"worker-peers", "decode_jpegs.py"},
    {"worker-ladder", "--inject"},
    {"worker-hurt", "--decode hw"},
};

TEST_F(GpuCheck, ReportsFailureOfEachLineWithItsOutput) {
  for (const LineCommand& one : kCommands) {
    SCOPED_TRACE(one.line);
    EXPECT_EQ(check_line(one.line, std::string("fails at ") + one.command).exit_code, 1);
    EXPECT_EQ(state(one.line), "failed");
    EXPECT_THAT(reason(one.line), HasSubstr("the device was lost"));
    EXPECT_THAT(log(), HasSubstr("the device was lost; look at dmesg"));
    expect_kept_as_the_schema_says();
  }
}

TEST_F(GpuCheck, ContinuesAfterFailure) {
  EXPECT_EQ(check("fails at probe link").exit_code, 1);
  EXPECT_EQ(report().at("failed"), 2);
  EXPECT_EQ(state("images"), "not reached");  // images needs the rate of link
  EXPECT_EQ(report().at("not_reached"), 1);
  EXPECT_EQ(report().at("proved"), 19);
}

TEST_F(GpuCheck, SkipsLinesThatNeedMissingImages) {
  EXPECT_EQ(check("fails at data make").exit_code, 1);
  EXPECT_EQ(report().at("failed"), 1);
  for (const char* name : {"loaded link", "images", "loader", "sweep", "training", "tools", "jpeg",
                           "engines", "worker-native", "worker-account", "worker-kernel",
                           "worker-peers", "worker-ladder", "worker-hurt"}) {
    EXPECT_EQ(state(name), "not reached") << name;
    EXPECT_THAT(reason(name), HasSubstr("there are no images to load")) << name;
  }
}

TEST_F(GpuCheck, EndsHangOfEachLineAndReportsItsPlace) {
  std::vector<std::unique_ptr<RunningBinary>> all;  // all at once: each takes all of its time
  for (const LineCommand& one : kCommands) {
    const Environment pretend("PRETEND", std::string("hangs at ") + one.command);
    report_ = one.line;
    all.push_back(std::make_unique<RunningBinary>(words({"--only", one.line, "--seconds", "12"}),
                                                  "", script_path("gpu-check")));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Ended ended = all[i]->wait();
    report_ = kCommands[i].line;
    SCOPED_TRACE(report_);
    EXPECT_EQ(ended.exit_code, 1) << ended.out << ended.err;
    EXPECT_EQ(state(report_), "failed");
    EXPECT_THAT(reason(report_), HasSubstr("took too long"));
    EXPECT_THAT(reason(report_), HasSubstr("it stood in "));
    EXPECT_THAT(log(), HasSubstr("before it hung"));
  }
}

TEST_F(GpuCheck, FailsEachLineWhoseAnswerIsInvalid) {
  for (const LineCommand& one : kCommands) {
    const std::string name = one.line;
    if (name == "tests" || name == "data" || name == "training" || name == "tools" ||
        name == "worker-tests")
      continue;  // these lines need no JSON
    SCOPED_TRACE(one.line);
    EXPECT_EQ(check_line(one.line, std::string("prints no JSON at ") + one.command).exit_code, 1);
    EXPECT_EQ(state(one.line), "failed");
    EXPECT_THAT(reason(one.line), AnyOf(HasSubstr("no JSON"), HasSubstr("was not refused")));
  }
}

TEST_F(GpuCheck, StopsAfterHangThatLosesTheGpu) {
  EXPECT_EQ(check("hangs and loses the GPU at probe link", {"--seconds", "6"}).exit_code, 1);
  EXPECT_EQ(state("link"), "failed");
  EXPECT_EQ(state("tests"), "proved");
  EXPECT_EQ(state("ranks"), "not reached");
  EXPECT_EQ(reason("ranks"), "the GPU does not answer since the line 'link'.");
  expect_kept_as_the_schema_says();
}

TEST_F(GpuCheck, ReportsLinesThatTheTimeDidNotReach) {
  EXPECT_EQ(check("hangs at data make", {"--seconds", "4"}).exit_code, 1);
  EXPECT_EQ(state("data"), "failed");
  EXPECT_EQ(state("ranks"), "not reached");
  EXPECT_EQ(reason("ranks"), "no time was left.");
}

TEST_F(GpuCheck, KeepsFindingsAfterSignal) {
  const Environment pretend("PRETEND", "hangs at probe link");
  RunningBinary running(words(), "", script_path("gpu-check"));
  running.wait_until_it_catches(SIGTERM);
  const auto is_at_link = [&] {
    return std::filesystem::exists(folder_.path("report.log")) &&
           log().find("=== link") != std::string::npos;
  };
  while (!running.has_ended() && !is_at_link())
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  running.send(SIGTERM);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 3) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("stopped by SIGTERM"));
  EXPECT_THAT(ended.out, HasSubstr("\nline "));
  EXPECT_EQ(state("tests"), "proved");
  EXPECT_EQ(state("link"), "not reached");
  EXPECT_THAT(reason("ranks"), HasSubstr("gpu-check was stopped"));
}

TEST_F(GpuCheck, KeepsBeginAndEndOfMuchOutput) {
  check_line("tests", "much output");
  EXPECT_THAT(log(), HasSubstr("first words"));
  EXPECT_THAT(log(), HasSubstr("last words"));
  EXPECT_THAT(log(), HasSubstr("bytes are left out"));
  expect_kept_as_the_schema_says();
}

// Missing programs and libraries.

TEST_F(GpuCheck, SkipsLinesThatNeedMissingTorch) {
  EXPECT_EQ(check("no torch").exit_code, 3);
  EXPECT_THAT(checks("failed"), IsEmpty());
  EXPECT_THAT(checks("not reached"), ElementsAre("machine: python", "loader: ran", "training: ran",
                                                 "tools: ran", "worker-peers: ran"));
  for (const char* name : {"machine", "loader", "training", "tools", "worker-peers"})
    EXPECT_THAT(reason(name), HasSubstr("no torch")) << name;
}

TEST_F(GpuCheck, SkipsLinesThatNeedMissingPython) {
  std::filesystem::remove(folder_.path("python3"));
  EXPECT_EQ(check().exit_code, 3);
  EXPECT_THAT(checks("failed"), IsEmpty());
  EXPECT_THAT(reason("training"), HasSubstr("no torch"));
}

TEST_F(GpuCheck, ProvesTheRestWithoutNvidiaSmi) {
  std::filesystem::remove(folder_.path("driver/nvidia-smi"));
  EXPECT_EQ(check().exit_code, 3);
  EXPECT_THAT(checks("not reached"), ElementsAre("machine: nvidia-smi"));
}

TEST_F(GpuCheck, SkipsJpegLineWithoutNvjpegCheck) {
  std::filesystem::remove(folder_.path("loaderscope_nvjpeg_check"));
  EXPECT_EQ(check_line("jpeg", "").exit_code, 3);
  EXPECT_THAT(reason("jpeg"), HasSubstr("there is no loaderscope_nvjpeg_check"));
}

TEST_F(GpuCheck, SkipsMissingBackEndOfNvjpeg) {
  EXPECT_EQ(check_line("jpeg", "no JPEG engine").exit_code, 3);
  EXPECT_EQ(reason("jpeg"), "hardware: nvjpegCreateEx gives 9.");
}

TEST_F(GpuCheck, FailsLinesOfMissingPrograms) {
  std::filesystem::remove(folder_.path("loaderscope_gpu_tests"));
  std::filesystem::remove(folder_.path("libloaderscope_cupti_check.so"));
  EXPECT_EQ(check("").exit_code, 1);
  EXPECT_THAT(reason("tests"), HasSubstr("loaderscope_gpu_tests cannot be started"));
  EXPECT_THAT(reason("busy"), HasSubstr("there is no libloaderscope_cupti_check.so"));
  EXPECT_THAT(checks("failed"),
              ElementsAre("tests: ran", "busy: ran", "training: busy", "worker-tests: ran"));
}

// Work that the GPU does for the loader.

TEST_F(GpuCheck, RunsAllLinesOfWorker) {
  EXPECT_EQ(check_line("worker", "").exit_code, 0);
  std::vector<std::string> names;
  const json all = report();
  for (const json& one : all.at("lines")) names.push_back(one.at("name"));
  EXPECT_THAT(names, ElementsAre("machine", "data", "worker-tests", "engines", "worker-native",
                                 "worker-account", "worker-kernel", "worker-peers", "worker-ladder",
                                 "worker-hurt"));
  EXPECT_THAT(checks("proved"),
              ::testing::IsSupersetOf(
                  {"engines: hw, 1920x1080", "worker-native: 2 cores", "worker-peers: ours",
                   "worker-ladder: 4: engines, deep, model", "worker-hurt: afterwards"}));
}

TEST_F(GpuCheck, SkipsRunsThatNeedMissingEngines) {
  EXPECT_EQ(check_line("engines", "no JPEG engine").exit_code, 3);
  EXPECT_EQ(reason("engines"), "hw, 256x256: --decode hw: Pretend T4 has no JPEG engines.");
  EXPECT_THAT(checks("not reached"), ::testing::SizeIs(4));
  EXPECT_EQ(check_line("worker-ladder", "no JPEG engine").exit_code, 3);
  EXPECT_THAT(checks("not reached"),
              ElementsAre("worker-ladder: decoder", "worker-ladder: 3: engines",
                          "worker-ladder: 4: engines, deep"));
}

TEST_F(GpuCheck, ComparesPeerWithEngines) {
  EXPECT_EQ(check_line("worker-peers", "fast peer", {"--only", "engines"}).exit_code, 1);
  EXPECT_THAT(reason("worker-peers"), HasSubstr("ours: gpu-decode has 0.42 of torchvision's rate"));
  EXPECT_EQ(check_line("worker-peers", "").exit_code, 3);
  EXPECT_THAT(reason("worker-peers"), HasSubstr("the line 'engines' gave no rate"));
  EXPECT_EQ(check_line("worker-peers", "no CUDA in torch").exit_code, 3);
  EXPECT_EQ(reason("worker-peers"), "ran: PyTorch 2.11 finds no GPU.");
}

// Wrong results.

TEST_F(GpuCheck, ReportsReasonOfFailedOrSkippedTest) {
  EXPECT_EQ(check_line("tests", "a test fails").exit_code, 1);
  EXPECT_THAT(checks("failed"), ElementsAre("tests: GpuTest.Computes"));
  EXPECT_THAT(reason("tests"), HasSubstr("Expected: it does"));
  EXPECT_EQ(check_line("tests", "a test is skipped").exit_code, 3);
  EXPECT_THAT(reason("tests"), HasSubstr("skipped: x_test.cpp:7: Skipped no CUPTI"));
  EXPECT_EQ(line("tests").at("checks").back().at("figures").at("tick_ns"), 32);
}

struct Unsound {
  const char* wrong;
  const char* line;
  const char* reason;  // holds
};

class GpuCheckFails : public GpuCheck, public ::testing::WithParamInterface<Unsound> {};

TEST_P(GpuCheckFails, ReportsReasonWithItsFigures) {
  const Unsound& unsound = GetParam();
  Words more = {"--only", unsound.line, "--only", "link"};
  EXPECT_EQ(check(unsound.wrong, more).exit_code, 1);
  EXPECT_EQ(state(unsound.line), "failed");
  EXPECT_THAT(reason(unsound.line), HasSubstr(unsound.reason));
}

INSTANTIATE_TEST_SUITE_P(
    EachOf, GpuCheckFails,
    ::testing::Values(
        Unsound{"slow link", "link", "pinned: at worst 0.960 of the bare loop"},
        Unsound{"fallback", "link", "registered: too little may be locked"},
        Unsound{"other schema", "link", "not loaderscope.probe-link/1"},
        Unsound{"busy apart", "busy", "our account 70.00 %, CUPTI 65.00 %"},
        Unsound{"clamped", "busy", "2.00 % of the window was moved"},
        Unsound{"clocks apart", "busy", "at worst +300.0 us"},
        Unsound{"slow products", "busy", "steps of 20 ms took 21.00 ms"},
        Unsound{"off the model", "model", "decode is +10.00 % off the model"},
        Unsound{"slow copies", "images", "copies have 0.51 of the probe's rate"},
        Unsound{"fallback", "images", "cannot be page-locked"},
        Unsound{"simulated", "images", "it was simulated"},
        Unsound{"simulated", "loader", "it was simulated"},
        Unsound{"shared memory", "images", "write-combined, processes, async, f32: "},
        Unsound{"half a sweep", "sweep", "1 of 2 cases"},
        Unsound{"costly", "training", "a step takes +5.00 % with us"},
        Unsound{"busy apart", "training", "CUPTI without us 13.000 ms"},
        Unsound{"no GPU times", "training", "the GPU's own times are not in every step"},
        Unsound{"profiler is blind", "tools", "the script's profiler recorded nothing"},
        Unsound{"engines refuse", "engines", "engines decoded 90.0 % of the images"},
        Unsound{"nvJPEG is not found", "engines", "/libnvjpeg.so.13: no libnvjpeg."},
        Unsound{"simulated", "worker-native", "it was simulated"},
        Unsound{"costly submission", "worker-native", "decode and augment take 200.0 us"},
        Unsound{"resident data is read", "worker-native", "workers still read samples"},
        Unsound{"simulated", "worker-account", "it was simulated"},
        Unsound{"simulated", "worker-kernel", "it was simulated"},
        Unsound{"a rung is missed", "worker-ladder", "3600 images/s, target 4500 (-20.0 %"},
        Unsound{"too much is accepted", "worker-hurt", "it was not refused"},
        Unsound{"samples are lost", "worker-hurt", "400 of 500 samples were delivered"},
        Unsound{"not refused", "ranks", "it was not refused"}),
    [](const auto& unsound) {
      std::string name = std::string(unsound.param.line) + "_" + unsound.param.wrong;
      for (char& letter : name) letter = std::isalnum(letter) != 0 ? letter : '_';
      return name;
    });

}  // namespace
}  // namespace loaderscope::testing_cli
