// Data as people have it: text, Arrow, Parquet, rows of a table.
#include <gmock/gmock.h>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class TorchData : public TorchJobs {
 protected:
  TorchData() : TorchJobs("data_kinds.py") {}

  static bool has(const char* package) {
    return run_program(torch_python(), {"-c", std::string("import ") + package}).exit_code == 0;
  }
};

TEST_F(TorchData, MeasuresTokenisedAndPaddedText) {
  const json result = measured("text", 2);
  expect_all_measured(result);
  EXPECT_EQ(result.at("stages").at("collate").at("count"), 55);
  EXPECT_EQ(result.at("stages").at("opaque").at("count"), 440);
}

TEST_F(TorchData, CountsTokenizersAsAugmenting) {
  if (!has("tokenizers")) GTEST_SKIP() << "this Python has no tokenizers";
  const json result = measured("tokenizers", 2);
  expect_all_measured(result);
  EXPECT_EQ(result.at("stages").at("augment").at("count"), 440);
}

// A row group holds 100 labels of 8 bytes, and texts; it is read once for each sample.
TEST_F(TorchData, CountsBytesOfParquetRowGroups) {
  if (!has("pyarrow")) GTEST_SKIP() << "this Python has no pyarrow";
  const json result = measured("parquet", 1);
  expect_all_measured(result);
  const json& read = result.at("stages").at("read");
  EXPECT_GE(read.at("count").get<int>(), 54);
  EXPECT_GT(read.at("bytes").get<double>(), 54 * 100 * 8.0);
}

// Arrow classes are written in C.
TEST_F(TorchData, MeasuresFilesAndTablesOfArrow) {
  if (!has("pyarrow")) GTEST_SKIP() << "this Python has no pyarrow";
  const json files = measured("arrow_files", 2);
  expect_all_measured(files);
  EXPECT_EQ(files.at("stages").at("read").at("count"), 45 * 8);
  EXPECT_EQ(files.at("stages").at("read").at("bytes"), 45 * 8 * 1000);
  const json tables = measured("arrow", 1);
  expect_all_measured(tables);
  EXPECT_EQ(tables.at("stages").at("decode").at("count"), 95 * 32);
}

TEST_F(TorchData, PredictsInBatchesOfWebdataset) {
  if (!has("webdataset")) GTEST_SKIP() << "this Python has no webdataset";
  const json result = measured("web_batches", 1);
  expect_all_measured(result);
  EXPECT_EQ(result.at("config").at("batch_size"), 8);
  EXPECT_EQ(result.at("data").at("shards"), 4);
  expect_gain_of_two();
}

class TorchTables : public TorchData, public ::testing::WithParamInterface<int> {};

TEST_P(TorchTables, RequestsNoWorkersForRowsInMemory) {
  const json result = measured("table", GetParam());
  expect_all_measured(result);
  for (const json& finding : result.at("findings"))
    EXPECT_NE(finding.at("id"), "too-few-workers") << finding;
  EXPECT_THAT(result.at("notes").dump(), HasSubstr("they are not distinguished"));
}

INSTANTIATE_TEST_SUITE_P(Workers, TorchTables, ::testing::Values(0, 2, 8));

}  // namespace
}  // namespace loaderscope::testing_cli
