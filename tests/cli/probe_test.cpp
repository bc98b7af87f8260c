// loaderscope probe on this machine. The rates themselves are not asserted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(Probe, SavesQuickProfileAndLeavesNoOtherFiles) {
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
  for (const char* name : {"limits", "topology", "clock", "storage", "decode", "memory",
                           "processes", "gpu", "jpeg-engines", "augment-kernel", "gpu-share"})
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

TEST(Probe, ShowsSavedCeilingsInRunsOfTheSameMachine) {
  const TestFolder folder;
  const Environment cache("XDG_CACHE_HOME", folder.path("cache"));
  const Words plain = {"run",      "--cost", "decode=100us", "--workers", "1",
                       "--device", "null",   "--steps",      "30",        "--json"};
  const auto run = [&](const std::string& name, const Words& more) {
    Words words = plain;
    words.push_back(folder.path(name));
    words.insert(words.end(), more.begin(), more.end());
    return run_binary(words);
  };
  const Ended probed = run_binary({"probe", "--quick", "--save"});
  ASSERT_EQ(probed.exit_code, 0) << probed.err;
  EXPECT_THAT(probed.err, HasSubstr("saved as "));
  const std::filesystem::path kept =
      std::filesystem::directory_iterator(folder.path("cache/loaderscope/machine"))->path();

  const Ended with_profile = run("a.json", {});
  ASSERT_EQ(with_profile.exit_code, 0) << with_profile.err;
  EXPECT_THAT(with_profile.out, HasSubstr("\ncopying at "));
  EXPECT_THAT(with_profile.out, HasSubstr(" of what probe measured"));
  const json result = json::parse(folder.read("a.json"));
  EXPECT_GT(result["ceilings"]["copying"]["samples_per_s"], 0);
  EXPECT_GT(result["probed"]["copied_bytes_per_s"], 0);

  const Ended without = run("b.json", {"--machine", "none"});
  EXPECT_THAT(without.out, Not(HasSubstr("probe measured")));
  const Ended what_if =
      run_binary({"what-if", folder.path("a.json"), "--set", "workers=2", "--json", "-"});
  EXPECT_EQ(what_if.exit_code, 0) << what_if.err;
  // A sanitizer makes copies slow, so that twice the rate is more than the machine can copy. On a
  // busy machine the run may be too uneven for a gain.
  const json predicted = json::parse(what_if.out);
  if (!predicted["gain"].is_null()) {
    EXPECT_THAT(predicted["notes"].dump(),
                AnyOf(HasSubstr("measured: copying at "),
                      ContainsRegex("at most by one copy of each batch .*: fewer than the ")));
  }
  const Ended apart = run_binary({"compare", folder.path("a.json"), folder.path("a.json")});
  EXPECT_THAT(apart.out, HasSubstr("A has copying at "));

  const std::string text = folder.read("cache/loaderscope/machine/" + kept.filename().string());
  json alike = json::parse(text);
  alike["machine"]["host"] = "node7";
  const std::string fleet = folder.write("fleet.json", json::array({alike}).dump());
  const Ended with_fleet = run("f.json", {"--machine", fleet});
  EXPECT_EQ(with_fleet.exit_code, 0) << with_fleet.err;
  EXPECT_THAT(json::parse(folder.read("f.json"))["notes"].dump(),
              HasSubstr("the ceilings are those of node7, a machine like this one"));

  json other = json::parse(text);
  other["machine"]["cpu"] = "Another CPU";
  std::ofstream(kept) << other;
  const Ended stale = run("c.json", {});
  EXPECT_EQ(stale.exit_code, 0) << stale.err;
  EXPECT_THAT(json::parse(folder.read("c.json"))["notes"].dump(),
              HasSubstr("is of Another CPU, and this is "));
  EXPECT_THAT(stale.out, Not(HasSubstr("probe measured")));
  const Ended named = run("d.json", {"--machine", kept.string()});
  EXPECT_EQ(named.exit_code, 64);
  EXPECT_THAT(named.err, HasSubstr("is of Another CPU"));
  std::ofstream(kept) << "{";
  const Ended broken = run("e.json", {});
  EXPECT_EQ(broken.exit_code, 0) << broken.err;
  EXPECT_THAT(json::parse(folder.read("e.json"))["notes"].dump(), HasSubstr("cannot be read"));
}

// In a mount namespace of its own, which goes with it.
TEST(Probe, ProbesTheRestWithoutWritableDisk) {
  const TestFolder folder;
  std::filesystem::create_directory(folder.path("disk"));
  const auto on_disk = [&](const std::string& options) {
    return run_program("/usr/bin/env", {"unshare", "-m", "sh", "-c",
                                        "mount -t tmpfs -o " + options +
                                            " tmpfs \"$1\" || exit 99; "
                                            "exec \"$2\" probe --quick --path \"$1\"",
                                        "sh", folder.path("disk"), binary()});
  };
  const Ended ended = on_disk("ro,size=8g");
  if (ended.exit_code == 99 || ended.err.find("unshare") != std::string::npos)
    GTEST_SKIP() << "nothing can be mounted here: " << ended.err;
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, ContainsRegex("storage: --path .*a temporary file"));
  EXPECT_THAT(ended.out, HasSubstr("\nmemory copies: "));
  const Ended small = on_disk("size=1m");
  EXPECT_EQ(small.exit_code, 0) << small.err;
  EXPECT_THAT(small.out, ContainsRegex("storage: --path .*are[ \n]free[ \n]there"));
}

// Returns the bytes that block devices delivered to child processes which have ended.
std::int64_t read_of_devices() {
  rusage used{};
  EXPECT_EQ(::getrusage(RUSAGE_CHILDREN, &used), 0);
  constexpr std::int64_t kBlock = 512;
  return used.ru_inblock * kBlock;
}

// On storage that others share, too: who reads more than is said slows them. The first run brings
// the files of the program into the page cache. A machine that is short of memory drops them again.
TEST(Probe, ReadsNoMoreThanItSays) {
  const TestFolder folder;
  const std::string data = folder.path("data"), saved = folder.path("p.json");
  ASSERT_EQ(run_binary({"data", "make", data, "--count", "60"}).exit_code, 0);
  const Words words = {"probe", "--quick", "--data", data, "--json", saved};
  ASSERT_EQ(run_binary(words).exit_code, 0);
  const std::int64_t before = read_of_devices();
  const Ended ended = run_binary(words);
  const std::int64_t read = read_of_devices() - before;
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json result = json::parse(folder.read("p.json"));
  std::int64_t most = 0;
  for (const auto& [name, probe] : result["probes"].items())
    most += probe["most_read_bytes"].get<std::int64_t>();
  EXPECT_LE(read, most);
  EXPECT_GT(most, 0);
  const std::string lines = result["probes"]["storage"]["lines"].dump();
  const std::string said = lines.substr(lines.find("; read ") + 7);
  double megabytes = 0;
  ASSERT_EQ(std::sscanf(said.c_str(), "%lf MB of at most", &megabytes), 1) << lines;
  constexpr double kMega = 1e6, kWholePages = 1.1;  // samples have 72 KB
  constexpr double kFilesReadAgain = 16;            // MB of the program and its libraries
  EXPECT_LE(static_cast<double>(read), kMega * (kWholePages * megabytes + kFilesReadAgain));
}

TEST(Probe, ReportsFailureToSaveAfterTheAnswer) {
  const TestFolder folder;
  const Environment cache("XDG_CACHE_HOME", folder.write("file", ""));
  const Ended ended = run_binary({"probe", "--quick", "--save", "--path", "/proc"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("storage: --path /proc: 0 B are free there"));
  EXPECT_THAT(ended.out, HasSubstr("limits: "));
  EXPECT_THAT(ended.err, HasSubstr("--save: "));
}

TEST(Probe, RejectsInvalidWordsBeforeMeasuring) {
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
           Bad{{"--ranks", "8"}, 64, "--ranks: needs --demand"},
           Bad{{"--data", "a", "--path", "b"}, 64, "--data and --path exclude each other"},
           Bad{{"--read-at-most", "1KiB"}, 64, "--read-at-most 1KiB: expected 16MiB or more"},
           Bad{{"--against", run}, 1, "its schema is loaderscope.run/1"},
           Bad{{"--against", none}, 64, "--against: 0 profiles cannot say what is usual"},
           Bad{{"--against", folder.path("no.json")}, 1, "no.json: cannot be opened"},
           Bad{{"--path", folder.path("nowhere")}, 1, "is no folder"},
           Bad{{"--path", run}, 1, "is no folder"},
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
