// Use that is careless or hostile: what is no file, streams that are closed, a terminal that goes
// away, machines that have too little.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/image_texts.h"
#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Words modelled(const std::string& command, const Words& more = {}) {
  Words words = {command,  "--engine",   "model",   "--compute", "12ms",
                 "--cost", "decode=1ms", "--cores", "8"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void expect_one_sentence(const Ended& ended, int exit_code, const std::string& text) {
  EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
  EXPECT_THAT(ended.err, StartsWith("loaderscope: "));
  EXPECT_THAT(ended.err, HasSubstr(text));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.printed;
}

// Arguments of a shell, which can close streams and set limits.
Words shell_words(const std::string& before, const Words& words, const std::string& after = "") {
  std::string line = before + " exec " + binary();
  for (const std::string& word : words) line += " '" + word + "'";
  return {"-c", line + " " + after};
}

// `count` images, all links to one.
std::string folder_of_images(const TestFolder& folder, int count) {
  fs::create_directory(folder.path("data"));
  folder.write("data/0.jpg", jpeg());
  for (int i = 1; i < count; ++i)
    fs::create_hard_link(folder.path("data/0.jpg"),
                         folder.path("data/" + std::to_string(i) + ".jpg"));
  return folder.path("data");
}

class NoFile : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string kind = GetParam(), path = folder_.path("x.json");
    if (kind == "a pipe") {
      ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    } else if (kind == "a folder") {
      fs::create_directory(path);
    } else if (kind == "a device") {
      fs::create_symlink("/dev/zero", path);
    } else {
      const int bound = ::socket(AF_UNIX, SOCK_STREAM, 0);
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      ASSERT_LT(path.size(), sizeof address.sun_path);
      path.copy(address.sun_path, path.size());
      ASSERT_EQ(::bind(bound, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
      ::close(bound);
    }
  }

  TestFolder folder_;
};

TEST_P(NoFile, RejectsNonFileAsInput) {
  const std::string path = folder_.path("x.json");
  for (const Words& words :
       {Words{"report", path}, Words{"what-if", path}, Words{"tune", "--from", path},
        modelled("sweep", {"-L", "workers=1,2", "--resume", path})})
    expect_one_sentence(run_binary(words), 1, std::string(GetParam()));
  expect_one_sentence(run_binary({"run", "--scenario", path}), 64, GetParam());
  expect_one_sentence(run_binary({"run", "--index", path}), 1, "is not a file");
}

TEST_P(NoFile, RejectsNonFileAsOutput) {
  const std::string path = folder_.path("x.json");
  expect_one_sentence(run_binary(modelled("run", {"--json", path})), 1, GetParam());
  EXPECT_TRUE(fs::exists(path));
}

INSTANTIATE_TEST_SUITE_P(Kinds, NoFile,
                         testing::Values("a pipe", "a folder", "a device", "a socket"),
                         [](const auto& test) { return std::string(test.param).substr(2); });

// A copy or a comparison of a JSON value calls itself for each level.
TEST(DeepJson, EndsInOneSentence) {
  const TestFolder folder;
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
  fs::create_directory(folder.path("mds"));
  folder.write("mds/index.json", R"({"shards": )" + deep + "}");
  const std::string list = folder.write("list.json", R"({"wids_version": )" + deep + "}");
  const std::string lines = folder.write("lines.jsonl", R"({"path": )" + deep + "}");
  const std::string limit = "is nested deeper than 64 levels of JSON";
  expect_one_sentence(run_binary({"data", "info", "tar:" + list}), 1, limit);
  expect_one_sentence(run_binary({"data", "info", "mds:" + folder.path("mds")}), 1, limit);
  expect_one_sentence(run_binary({"run", "--index", lines}), 1, limit);
  expect_one_sentence(run_binary({"report", list}), 1, "nested deeper than any result");
}

TEST(Replace, RefusesThisProgramItself) {
  const TestFolder folder;
  const std::string copy = folder.path("loaderscope");
  fs::copy_file(binary(), copy);
  const auto size = fs::file_size(copy);
  for (const Words& more : {Words{"--json", copy}, Words{"--json", copy, "--force"}}) {
    const Ended ended = run_program(copy, modelled("run", more));
    expect_one_sentence(ended, 1, "is this program itself");
  }
  EXPECT_EQ(fs::file_size(copy), size);
}

TEST(Replace, RefusesInputsOfTheResult) {
  const TestFolder folder;
  const std::string run = folder.path("r.json");
  ASSERT_EQ(run_binary(modelled("run", {"--json", run})).exit_code, 0);
  const std::string saved = folder.read("r.json");
  const std::string why = "is what the result would be made from";
  expect_one_sentence(run_binary({"report", run, "--format", "csv", "--output", run, "--force"}), 1,
                      why);
  expect_one_sentence(run_binary({"what-if", run, "--set", "workers=2", "--json", run}), 1, why);
  expect_one_sentence(run_binary({"tune", "--from", run, "--json", run}), 1, why);
  EXPECT_EQ(folder.read("r.json"), saved);
  const std::string scenario = folder.write("x.conf", "engine = model\ncost = decode=1ms\n");
  expect_one_sentence(run_binary({"run", "--scenario", scenario, "--json", scenario, "--force"}), 1,
                      why);
}

TEST(Replace, RequiresForceForOtherFiles) {
  const TestFolder folder;
  const std::string path = folder.write("train.py", "print('mine')\n");
  expect_one_sentence(run_binary(modelled("run", {"--json", path})), 1, "--force");
  EXPECT_EQ(folder.read("train.py"), "print('mine')\n");
  EXPECT_EQ(run_binary(modelled("run", {"--json", path, "--force"})).exit_code, 0);
  EXPECT_EQ(run_binary(modelled("run", {"--json", path})).exit_code, 0);  // now a result
}

TEST(Streams, ReplacesClosedStreamsByNullDevice) {
  RunningBinary running(shell_words("", {"run", "--cost", "decode=1h:sleep"}, "0<&- 2>&-"), "",
                        "/bin/sh");
  running.wait_until_it_catches(SIGINT);
  const std::string streams = "/proc/" + std::to_string(running.pid()) + "/fd/";
  for (const char* stream : {"0", "2"}) {  // the shell may be what catches it
    const auto is_null = [&] {
      std::error_code none;
      return fs::read_symlink(streams + stream, none) == "/dev/null";
    };
    while (!running.has_ended() && !is_null())
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(is_null()) << stream;
  }
  running.wait_until_it_catches(SIGINT);  // the program itself
  running.send(SIGINT);
  EXPECT_EQ(running.wait().exit_code, 130);
}

TEST(Streams, FailsWithoutStandardOutput) {
  const Ended ended = run_program("/bin/sh", shell_words("", modelled("run"), "1>&-"));
  expect_one_sentence(ended, 1, "standard output: cannot write the result");
}

TEST(HangUp, EndsSweepAndTuneWithWhatTheyHave) {
  for (const Words& command : {Words{"sweep", "-L", "workers=1,2"}, Words{"tune"}}) {
    const TestFolder folder;
    Words words = command;
    words.insert(words.end(), {"--cost", "decode=2ms:sleep", "--compute", "4ms", "--batch", "2",
                               "--budget", "1h", "--json", folder.path("s.json")});
    RunningBinary running(words);
    running.wait_until_it_catches(SIGHUP);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    ASSERT_FALSE(running.has_ended());
    running.send(SIGHUP);
    const Ended ended = running.wait();
    EXPECT_EQ(ended.exit_code, 129) << ended.err;
    EXPECT_EQ(json::parse(folder.read("s.json")).at("interrupted"), true);
  }
}

TEST(HangUp, IgnoresHangUpUnderNohup) {
  const TestFolder folder;
  RunningBinary running(shell_words("trap '' HUP;", {"run", "--cost", "decode=2ms:sleep", "--steps",
                                                     "100", "--batch", "2", "--workers", "1"}),
                        "", "/bin/sh");
  running.wait_until_it_catches(SIGINT);
  running.send(SIGHUP);
  EXPECT_EQ(running.wait().exit_code, 0);
}

// The run reads all data into the page cache before it starts.
TEST(Interrupt, EndsWarmingOfThePageCache) {
  const TestFolder folder;
  const std::string data = folder_of_images(folder, 30'000);
  RunningBinary running({"run", "--data", data, "--cache", "warm", "--duration", "1h"});
  running.wait_until_it_catches(SIGINT);
  running.send(SIGINT);
  EXPECT_EQ(running.wait().exit_code, 130);
}

// However many threads are still to be started.
TEST(Interrupt, EndsStartOfManyRanks) {
  RunningBinary running({"run", "--cost", "decode=1h:sleep", "--ranks", "100", "--workers", "2"});
  running.wait_until_it_catches(SIGTERM);
  running.send(SIGTERM);
  EXPECT_EQ(running.wait().exit_code, 143);
}

TEST(Shortage, ReportsFileDescriptorLimitInsteadOfDamagedSample) {
  const TestFolder folder;
  const std::string data = folder_of_images(folder, 4);
  const Words words = {"run", "--data",   data,   "--workers", "24", "--epochs", "1", "--size",
                       "16",  "--device", "null", "--batch",   "1",  "--warmup", "0"};
  for (const char* limit : {"ulimit -n 7;", "ulimit -n 12;", "ulimit -n 20;"}) {
    const Ended ended = run_program("/bin/sh", shell_words(limit, words));
    expect_one_sentence(ended, 1, "ulimit -n");
    EXPECT_THAT(ended.err, Not(HasSubstr("internal error")));
  }
}

// A result that holds what was measured until then.
json partial_result(const TestFolder& folder) {
  const json part = json::parse(folder.read("r.json"));
  EXPECT_EQ(part.at("interrupted"), true);
  EXPECT_THAT(part.at("notes").dump(), HasSubstr("broken off: "));
  EXPECT_GT(part.at("window").at("steps"), 0);
  return part;
}

TEST(BrokenOff, KeepsMeasurementsAndNamesFileAfterTimeOut) {
  const TestFolder folder;
  const std::string data = folder_of_images(folder, 64);
  const Ended ended =
      run_binary({"run", "--data", data, "--workers", "1", "--batch", "1", "--inject",
                  "read=+1h@p=0.03", "--size", "16", "--device", "null", "--warmup", "0",
                  "--timeout", "1s", "--json", folder.path("r.json")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, testing::ContainsRegex("worker 0 is at sample [0-9]+ \\(" + data +
                                                "/[0-9]+\\.jpg\\)"));
  partial_result(folder);
  EXPECT_EQ(run_binary({"report", folder.path("r.json")}).exit_code, 0);
}

TEST(BrokenOff, KeepsAllStepsWithoutTemporaryFile) {
  const TestFolder folder;
  const Ended ended = run_program(
      "/usr/bin/env", {"TMPDIR=" + folder.path("missing"), binary(), "run", "--engine", "model",
                       "--compute", "1ms", "--batch", "1", "--workers", "1", "--cost",
                       "decode=100us", "--steps", "400000", "--json", folder.path("r.json")});
  expect_one_sentence(ended, 1, "the temporary file for step rows");
  EXPECT_GT(partial_result(folder).at("window").at("steps"), 100'000);
}

TEST(Names, EscapesControlCharacters) {
  const TestFolder folder;
  const std::string name = folder.path("a\x1b[31m\nb.json");
  for (const Words& words :
       {Words{"report", name}, Words{"run", "--scenario", name}, Words{"run", "--data", name},
        Words{"data", "info", name}, modelled("run", {"--json", name + "/x"}),
        modelled("sweep", {"-L", "workers=1", "--resume", name})}) {
    const Ended ended = run_binary(words);
    EXPECT_NE(ended.exit_code, 0);
    EXPECT_EQ(ended.err.find('\x1b'), std::string::npos) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("a\\x1b[31m\\x0ab.json"));
  }
  ASSERT_EQ(run_binary(modelled("run", {"--json", folder.path("r.json")})).exit_code, 0);
  json result = json::parse(folder.read("r.json"));
  result["notes"] = {"a \x1b]0;title\x07 note\nof two lines"};
  result["metrics"].push_back(
      {{"name", "hostile.\x1b[5mname"}, {"unit", "1"}, {"help", "\x1b[2Jhelp"}});
  result["hostile"] = {{"\x1b[5mname", 1}};
  folder.write("hostile.json", result.dump());
  const Ended report = run_binary({"report", folder.path("hostile.json")});
  EXPECT_THAT(report.out, HasSubstr("a \\x1b]0;title\\x07 note\\x0aof two lines"));
  EXPECT_EQ(report.out.find('\x1b'), std::string::npos);
}

TEST(Cores, RejectsLessThanOneThousandth) {
  for (const char* cores : {"0", "0.000001", "0.0009"}) {
    const Ended ended = run_binary(modelled("run", {"--cores", cores}));
    expect_one_sentence(ended, 64, "expected at least 0.001");
  }
}

}  // namespace
}  // namespace loaderscope::testing_cli
