// Traces of other people's runs, as a user gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kRecorded = LOADERSCOPE_SOURCE_DIR "/../shared/traces/h100_2gpu_1s.sqlite.gz";

class Diagnose : public ::testing::Test {
 protected:
  void SetUp() override {
    const Ended made = run_program("/usr/bin/env", {"python3", tool("made_nsys.py"), sqlite_});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    if (run_binary({"diagnose", sqlite_}).err.find("built without SQLite") != std::string::npos)
      GTEST_SKIP() << "built without SQLite";
  }
  static std::string tool(const std::string& name) {
    return LOADERSCOPE_SOURCE_DIR "/tests/tools/" + name;
  }

  TestFolder folder_;
  std::string sqlite_ = folder_.path("made.sqlite");
};

TEST_F(Diagnose, SaysWhatTheGpuWaitedForAndWhereToLook) {
  const Ended ended = run_binary({"diagnose", sqlite_});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("GPU busy 70.0 % of the time (±0.0): it waits mostly for the "
                                    "DataLoader (20.0 %), in 30 of 30 steps\nFix: "));
  EXPECT_THAT(ended.out, HasSubstr("at 0.005000 s, step 0"));
  EXPECT_THAT(ended.out, Not(HasSubstr("hunter2")));
}

TEST_F(Diagnose, SavesResultInTheFormOfRun) {
  const std::string saved = folder_.path("d.json"), page = folder_.path("d.html");
  ASSERT_EQ(run_binary({"diagnose", sqlite_, "--json", saved, "--html", page}).exit_code, 0);
  const std::string text = folder_.read("d.json");
  const json result = json::parse(text);
  EXPECT_EQ(result.at("engine"), "import");
  expect_sums_up(result);
  for (const char* untold : {"/throughput/samples_per_s/mean", "/throughput/samples_per_s/ci95",
                             "/throughput/read_bytes_per_s", "/throughput/delivered_bytes_per_s",
                             "/window/samples", "/first_batch/wall_s", "/ranks/0/samples_per_s",
                             "/account/why", "/account/order_s", "/machine/memory_bytes"})
    EXPECT_TRUE(result.at(json::json_pointer(untold)).is_null()) << untold;
  for (const json& finding : result.at("findings")) EXPECT_TRUE(finding.at("command").is_null());
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  EXPECT_THAT(folder_.read("d.html"), Not(HasSubstr("2026</script>")));
  const Ended again = run_binary({"report", saved});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, StartsWith("GPU busy 70.0 %"));
  EXPECT_THAT(again.out, HasSubstr("loader-wait"));
  EXPECT_EQ(run_binary({"diagnose", sqlite_, "--require", "device.busy >= 0.85"}).exit_code, 2);
  EXPECT_THAT(run_binary({"diagnose", saved}).err, HasSubstr("loaderscope report"));
  for (const Words& words : {Words{"what-if", saved, "--set", "workers=8"},
                             Words{"tune", "--from", saved, "--budget", "5s"}}) {
    const Ended refused = run_binary(words);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("the result is of a trace"));
  }
  const std::string rate = "throughput.samples_per_s.mean >= 1/s";
  EXPECT_EQ(run_binary({"diagnose", sqlite_, "--require", rate}).exit_code, 3);
  EXPECT_EQ(run_binary({"diagnose", sqlite_, "--batch-size", "8", "--require", rate}).exit_code, 0);
}

TEST_F(Diagnose, RejectsNonTracesInOneSentence) {
  const std::string text = folder_.write("a.txt", "hello");
  for (const auto& [words, said] : std::vector<std::pair<Words, std::string>>{
           {{"diagnose"}, "the trace is missing"},
           {{"diagnose", folder_.path("none")}, "cannot be read"},
           {{"diagnose", folder_.path("")}, "a folder"},
           {{"diagnose", text}, "is no JSON"},
           {{"diagnose", folder_.write("r.nsys-rep", "x")}, "nsys export --type sqlite"},
           {{"diagnose", folder_.write("d.sqlite", std::string(100, '\0'))},
            "d.sqlite: is no SQLite file, or its beginning is damaged"},
           {{"diagnose", sqlite_, "--batch-size", "0"}, "--batch-size 0: expected"},
           {{"run", "--nsys", "x", "--device", "null"}, "--nsys: records a program"}}) {
    const Ended ended = run_binary(words);
    EXPECT_THAT(ended.err, HasSubstr(said));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_TRUE(ended.exit_code == 1 || ended.exit_code == 64) << ended.exit_code;
  }
}

// Two H100 for a second; the union is SQLite's own.
TEST_F(Diagnose, MatchesKernelTimeOfQuery) {
  if (!std::filesystem::exists(kRecorded)) GTEST_SKIP() << "no " << kRecorded;
  const std::string file = folder_.path("h100.sqlite");
  const Ended query = run_program("/usr/bin/env", {"python3", "-c", R"(
import gzip, shutil, sqlite3, sys
with gzip.open(sys.argv[1]) as packed, open(sys.argv[2], 'wb') as out: shutil.copyfileobj(packed, out)
print(sqlite3.connect(sys.argv[2]).execute('''
  WITH o AS (SELECT deviceId, start s, end e, max(end) OVER (PARTITION BY deviceId ORDER BY start
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) p FROM CUPTI_ACTIVITY_KIND_KERNEL)
  SELECT sum(max(0, e - max(s, coalesce(p, s)))) / 2e9 FROM o''').fetchone()[0]))",
                                                   kRecorded, file});
  ASSERT_EQ(query.exit_code, 0) << query.err;
  const Ended ended = run_binary({"diagnose", file, "--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json result = json::parse(ended.out);
  const double kernels = std::stod(query.out);
  EXPECT_NEAR(seconds_at(result.at("gpu"), "kernels_s"), kernels, 0.001 * kernels);
  EXPECT_EQ(result.at("ranks").size(), 2U);
  for (const char* secret : {"MODAL_TASK", "NV_LIBCUBLAS"})
    EXPECT_THAT(ended.out, Not(HasSubstr(secret)));
  // 921 of 968 ms are copies, and 42 ms compute: to overlap them would gain next to nothing.
  const json& first = result.at("findings").at(0);
  EXPECT_EQ(first.at("id"), "link-full");
  EXPECT_THAT(first.at("evidence"), HasSubstr("25.5 GB in 920.8 ms of 968.5 ms, 27.7 GB/s"));
  EXPECT_THAT(first.at("evidence"), HasSubstr("to overlap them would hide 4.3 % at most"));
  EXPECT_THAT(first.at("advice"), StartsWith("copy fewer bytes"));
}

// nsys 2025.6 and newer guarantee no order of rows.
TEST_F(Diagnose, GivesSameResultForAnyOrderOfRows) {
  std::vector<std::string> files = {sqlite_, folder_.path("every.sqlite")};
  ASSERT_EQ(
      run_program("/usr/bin/env", {"python3", tool("made_nsys.py"), files.back(), "every-table"})
          .exit_code,
      0);
  if (std::filesystem::exists(kRecorded)) {
    files.push_back(folder_.path("h100.sqlite"));
    ASSERT_EQ(run_program("/bin/sh", {"-c", "gunzip -c \"$0\" > \"$1\"", kRecorded, files.back()})
                  .exit_code,
              0);
  }
  for (const std::string& file : files) {
    const Ended before = run_binary({"diagnose", file, "--json", "-"});
    ASSERT_EQ(before.exit_code, 0) << before.err;
    for (const char* seed : {"1", "2", "3"}) {
      const Ended shuffled =
          run_program("/usr/bin/env", {"python3", tool("shuffle_sqlite.py"), file, seed});
      ASSERT_EQ(shuffled.exit_code, 0) << shuffled.err;
      const Ended after = run_binary({"diagnose", file, "--json", "-"});
      ASSERT_EQ(after.exit_code, 0) << after.err;
      EXPECT_EQ(json::diff(json::parse(before.out), json::parse(after.out)), json::array())
          << file << ", seed " << seed;
    }
  }
}

constexpr const char* kNsysThatExports = R"(#!/usr/bin/env bash
echo "$*" >> "$NSYS_LOG"
case $NSYS_DOES in
  fail) echo "importing"; echo "Unknown report version 99" >&2; exit 3 ;;
  nothing) exit 0 ;;
esac
for word; do [[ $word == --output=* ]] && cp "$NSYS_RECORDED" "${word#--output=}"; done
exit 0
)";

class NsysReport : public Diagnose {
 protected:
  void SetUp() override {
    Diagnose::SetUp();
    if (IsSkipped()) return;
    std::filesystem::create_directory(folder_.path("tmp"));
    std::filesystem::create_directory(folder_.path("bin"));
  }
  Ended diagnose_report(const char* nsys_does) const {
    const Environment path("PATH", folder_.path("bin") + ":/usr/bin:/bin");
    const Environment log("NSYS_LOG", folder_.path("log")), recorded("NSYS_RECORDED", sqlite_),
        does("NSYS_DOES", nsys_does), temporary("TMPDIR", folder_.path("tmp"));
    return run_binary({"diagnose", report_});
  }
  void add_nsys() const { write_program(folder_, "bin/nsys", kNsysThatExports); }

  std::string report_ = folder_.write("run.nsys-rep", "a report");
};

TEST_F(NsysReport, ReadsReportByTemporaryExport) {
  add_nsys();
  const Ended ended = diagnose_report("export");
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("GPU busy 70.0 %"));
  EXPECT_THAT(ended.err, HasSubstr("nsys exports " + report_));
  EXPECT_THAT(folder_.read("log"), StartsWith("export --type=sqlite --force-overwrite=true"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path("tmp")));
}

TEST_F(NsysReport, PrintsLastMessageOfFailedNsys) {
  add_nsys();
  const Ended ended = diagnose_report("fail");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr(report_ + ": nsys export ended with exit code 3 (Unknown report "
                                             "version 99)"));
  EXPECT_THAT(ended.err, HasSubstr("a newer one"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path("tmp")));
}

TEST_F(NsysReport, ReportsNsysThatWritesNothing) {
  add_nsys();
  const Ended ended = diagnose_report("nothing");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr(report_ + ": nsys export wrote no SQLite file"));
}

TEST_F(NsysReport, NamesReportInErrorOfItsExport) {
  add_nsys();
  folder_.write("made.sqlite", "SQLite format 3, damaged");
  const Ended ended = diagnose_report("export");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("loaderscope: " + report_ + ": "));
  EXPECT_THAT(ended.err, HasSubstr("is no SQLite file, or its beginning is damaged"));
  EXPECT_THAT(ended.err, Not(HasSubstr("loaderscope-nsys-")));
}

TEST_F(NsysReport, SaysThatNsysIsMissing) {
  const Ended ended = diagnose_report("export");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no nsys is on the PATH"));
  EXPECT_THAT(ended.err, HasSubstr("nsys export --type sqlite --output"));
}

using TorchTrace = TorchTest;

TEST_F(TorchTrace, MatchesWaitThatTheProfilerSums) {
  const TestFolder folder;
  const std::string file = folder.path("t.json.gz");
  const Ended made =
      run_program(torch_python(), {LOADERSCOPE_SOURCE_DIR "/tests/torch/profiled.py", file});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Ended ended = run_binary({"diagnose", file, "--json", "-"});
  if (ended.err.find("built without zlib") != std::string::npos) GTEST_SKIP() << ended.err;
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json result = json::parse(ended.out);
  const double waited = json::parse(made.out.substr(made.out.find('{'))).at("waited_s");
  EXPECT_NEAR(seconds_at(result.at("loader"), "waits_s"), waited, 0.02 * waited);
  EXPECT_NEAR(seconds_at(result.at("account").at("stall_s"), "opaque"), waited, 0.02 * waited);
  EXPECT_EQ(result.at("window").at("steps"), 24);
}

constexpr const char* kNsysThatCopies = R"(#!/usr/bin/env bash
echo "$*" >> "$NSYS_LOG"
if [[ $1 == export ]]; then
  for word; do [[ $word == --output=* ]] && cp "$NSYS_RECORDED" "${word#--output=}"; done
  exit 0
fi
shift
while [[ $1 == --* ]]; do
  [[ $1 == --output=* ]] && touch "${1#--output=}.nsys-rep"
  shift
done
exec "$@"
)";

TEST_F(TorchTrace, RecordsRunWithNsys) {
  const TestFolder folder;
  const std::string recorded = folder.path("recorded.sqlite");
  const Ended made = run_program(
      "/usr/bin/env", {"python3", LOADERSCOPE_SOURCE_DIR "/tests/tools/made_nsys.py", recorded});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  write_program(folder, "nsys", kNsysThatCopies);
  const Environment path("PATH", folder.path("") + ":" + std::getenv("PATH"));
  const Environment log("NSYS_LOG", folder.path("log")), file("NSYS_RECORDED", recorded);
  const Ended ended = run_binary({"run", "--nsys", folder.path("out.nsys-rep"), "--steps", "20",
                                  "--", torch_python(), torch_job(), "plain_forever", "2"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(folder.read("log"), StartsWith("profile --trace=cuda,nvtx,osrt"));
  EXPECT_THAT(folder.read("log"), HasSubstr("\nexport --type=sqlite"));
  EXPECT_THAT(ended.out,
              HasSubstr("\nby nsys (" + folder.path("out.sqlite") + "):\nGPU busy 70.0 %"));
  EXPECT_THAT(ended.out, HasSubstr("training"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
