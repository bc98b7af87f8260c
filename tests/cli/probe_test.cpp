// What this machine can do; how fast is not asserted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Probe, QuickHasTheShapeOfAProfileAndLeavesNothingBehind) {
  const TestFolder folder;
  std::filesystem::create_directory(folder.path("data"));
  folder.write("data/a", "x");
  const std::string saved = folder.path("p.json");
  const Ended ended = run_binary({"probe", "--quick", "--path", folder.path("data"), "--demand",
                                  "100/s:1MB", "--json", saved});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(" samples/s: "));
  const json result = json::parse(folder.read("p.json"));
  EXPECT_EQ(result["schema"], "loaderscope.probe/1");
  for (const char* name :
       {"limits", "topology", "clock", "storage", "decode", "memory", "processes", "gpu"})
    EXPECT_TRUE(result["probes"].contains(name)) << name;
  EXPECT_TRUE(result["probes"]["storage"]["why_not"].is_null()) << result["probes"]["storage"];
  EXPECT_GT(result["probes"]["storage"]["most_read_bytes"], 0);
  EXPECT_FALSE(result["probes"]["memory"]["figures"].empty());
  EXPECT_EQ(result["demand"]["lines"].size(), 4U);
  const auto left = std::filesystem::directory_iterator(folder.path("data"));
  EXPECT_EQ(std::distance(begin(left), end(left)), 1);

  const Ended again = run_binary({"report", saved});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, ended.out);
}

TEST(Probe, WordsThatCannotBeAreRefusedBeforeAnythingIsMeasured) {
  const TestFolder folder;
  const std::string run = folder.write("r.json", R"({"schema": "loaderscope.run/1"})");
  const std::string none = folder.write("n.json", "[]");
  struct Bad {
    Words words;
    int exit_code;
    std::string said;
  };
  for (const Bad& bad : {
           Bad{{"--demand", "1786/s"}, 64, "--demand 1786/s: expected RATE:BYTES"},
           Bad{{"--demand", "x:154MB"}, 64, "--demand x:154MB: "},
           Bad{{"--demand", "1/s:0"}, 64, "expected a batch of at least 1 byte"},
           Bad{{"--ranks", "8"}, 64, "--ranks: is of --demand"},
           Bad{{"--data", "a", "--path", "b"}, 64, "--data and --path: give one of the two"},
           Bad{{"--read-at-most", "1KiB"}, 64, "--read-at-most 1KiB: expected 16MiB or more"},
           Bad{{"--against", run}, 1, "its schema is loaderscope.run/1"},
           Bad{{"--against", none}, 64, "--against: 0 profiles cannot say what is usual"},
           Bad{{"--against", folder.path("no.json")}, 1, "no.json: cannot be opened"},
           Bad{{"--path", folder.path("nowhere")}, 1, "No such file or directory"},
           Bad{{"--path", run}, 1, "a temporary file cannot be written there"},
           Bad{{"--path", "/proc"}, 1, "--path /proc: "},
           Bad{{"--data", folder.path("nowhere")}, 1, "nowhere"},
       }) {
    Words words = {"probe", "--quick"};
    words.insert(words.end(), bad.words.begin(), bad.words.end());
    const Ended ended = run_binary(words);
    EXPECT_EQ(ended.exit_code, bad.exit_code) << bad.said << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(bad.said));
  }
}

}  // namespace
}  // namespace loaderscope::testing_cli
