// A profile by the real py-spy, against what the program itself measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "cli/torch_python.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// "" where there is none.
std::string py_spy() {
  const std::filesystem::path python = traces_python();
  return python.empty() ? "" : (python.parent_path() / "py-spy").string();
}

class PySpy : public TorchTest {
 protected:
  void SetUp() override {
    TorchTest::SetUp();
    if (!IsSkipped() && py_spy().empty())
      GTEST_SKIP() << "no py-spy: scripts/python-env traces brings it";
  }
  Ended record(const std::string& format, const std::string& file, bool idle = true) {
    Words words = {"record", "--format", format, "--output", file, "--duration", "20"};
    if (idle) words.push_back("--idle");
    const Words program = {"--", torch_python(), LOADERSCOPE_SOURCE_DIR "/tests/torch/sampled.py",
                           "3"};
    words.insert(words.end(), program.begin(), program.end());
    return run_program(py_spy(), words);
  }

  TestFolder folder_;
};

TEST_F(PySpy, MatchesWaitShareThatTheProgramMeasured) {
  for (const auto& [format, flags] : std::vector<std::pair<std::string, Words>>{
           {"speedscope", {}}, {"raw", {"--sample-rate", "100/s"}}}) {
    SCOPED_TRACE(format);
    const std::string file = folder_.path(format);
    const Ended recorded = record(format, file);
    if (recorded.exit_code != 0 || !std::filesystem::exists(file))
      GTEST_SKIP() << "py-spy may not trace here: " << recorded.err;
    const std::string said = recorded.out.substr(recorded.out.find('{'));
    const double waited = json::parse(said.substr(0, said.find('\n'))).at("waited");
    Words words = {"diagnose", file, "--json", "-"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ended ended = run_binary(words);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    const json result = json::parse(ended.out);
    EXPECT_THAT(result.at("verdict").at("sentence").get<std::string>(),
                StartsWith("Training busy"));
    const json& account = result.at("account");
    const double opaque = account.at("stall_s").at("opaque"), compute = account.at("compute_s");
    EXPECT_NEAR(opaque / (opaque + compute), waited, 0.15);
  }
}

TEST_F(PySpy, RejectsProfileWithoutIdleThreads) {
  const std::string file = folder_.path("busy.json");
  const Ended recorded = record("speedscope", file, false);
  if (recorded.exit_code != 0 || !std::filesystem::exists(file))
    GTEST_SKIP() << "py-spy may not trace here: " << recorded.err;
  const Ended ended = run_binary({"diagnose", file});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("cannot answer"));
  EXPECT_THAT(ended.err, HasSubstr("--idle"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
