// Training programs with wrong data and with correct data, measured from inside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/run_binary.h"
#include "cli/torch_python.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class TorchWrongData : public TorchTest {
 protected:
  json measured(const std::string& job, bool as_table = false) {
    std::vector<std::string> words = {"run", "--warmup", "2"};
    if (!as_table) words.insert(words.end(), {"--json", "-"});
    const std::string jobs = LOADERSCOPE_SOURCE_DIR "/tests/torch/data_jobs.py";
    words.insert(words.end(), {"--", torch_python(), jobs, job});
    ended_ = run_binary(words);
    if (as_table || ended_.exit_code != 0) return {};
    return json::parse(ended_.out);
  }

  Ended ended_;
};

std::set<std::string> wrong_data(const json& result) {
  std::set<std::string> ids;
  for (const json& finding : result.at("findings")) {
    if (finding.at("wrong_data").get<bool>()) ids.insert(finding.at("id"));
  }
  return ids;
}

struct DataCase {
  const char* job;
  std::set<std::string> findings;
  const char* said = "";  // somewhere in the result
};

void PrintTo(const DataCase& data, std::ostream* out) { *out << data.job; }

class TorchWrongDataJobs : public TorchWrongData, public ::testing::WithParamInterface<DataCase> {};

TEST_P(TorchWrongDataJobs, FindsWrongDataOfJob) {
  const json result = measured(GetParam().job);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(wrong_data(result), GetParam().findings) << result.at("findings").dump(1);
  EXPECT_THAT(result.at("findings").dump(), HasSubstr(GetParam().said));
}

const DataCase kDataCases[] = {
    {"forgets_set_epoch", {"same-order-every-epoch"}, "2 epochs"},
    {"sets_epoch", {}},
    {"copied_stream", {"workers-see-same-data"}, "as many samples as 2 times the data set"},
    {"split_stream", {}},
    {"equal_numpy_seeds",
     {"workers-share-random-numbers", "epochs-repeat-random-numbers"},
     "numpy"},
    {"equal_own_generators", {"workers-share-random-numbers"}, "dataset.own"},
    {"stale_workers", {"workers-have-stale-state"}, "dataset.difficulty"},
    {"good", {}},
    {"validation", {}},
};

INSTANTIATE_TEST_SUITE_P(Jobs, TorchWrongDataJobs, ::testing::ValuesIn(kDataCases),
                         [](const auto& test) { return std::string(test.param.job); });

TEST_F(TorchWrongData, PrintsWrongDataFirst) {
  measured("forgets_set_epoch", true);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  const auto at = ended_.out.find("Wrong data: same-order-every-epoch: ");
  EXPECT_EQ(at, 0U) << ended_.out;
}

TEST_F(TorchWrongData, ReportsPaddingAndNamesOfUser) {
  const json result = measured("pads");
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  // One of eight samples has 90 elements, the others 10: 160 of 720.
  EXPECT_NEAR(result.at("collate").at("padding_share").get<double>(), 1 - 160.0 / 720, 1e-9);
  const std::string details = result.at("details").dump();
  EXPECT_THAT(details, HasSubstr("Sentences.__getitem__ (data_jobs.py:"));
  EXPECT_THAT(details, HasSubstr("padded (data_jobs.py:"));
}

TEST_F(TorchWrongData, MeasuresWorkersFromOutside) {
  const json result = measured("shares_lock");
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_GE(result.at("workers").at("threads").get<int>(), 2);
  EXPECT_GT(result.at("memory").at("worker_private_bytes").get<double>(), 1e6);
  if (!result.contains("gil")) GTEST_SKIP() << result.at("notes").dump();
  // The share is 0.001 without a second thread. On crowded cores a waiting thread also waits for a
  // core.
  EXPECT_GT(result.at("gil").at("worker_wait_share").get<double>(), 0.02);
}

}  // namespace
}  // namespace loaderscope::testing_cli
