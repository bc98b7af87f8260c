// Files that other people's libraries wrote, from the outside: by workers that are threads and
// processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "source/registry.h"
#include "unit/source/fixtures.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using source::fixture;
using ::testing::HasSubstr;

bool is_built(std::string_view source) { return !source_row(source).row.reason_not_available(); }

Ended run(const std::string& data, Words more) {
  Words words = {"run", "--data",   data, "--batch-size", "2",   "--epochs",
                 "2",   "--warmup", "0",  "--device",     "null"};
  words.insert(words.end(), more.begin(), more.end());
  return run_binary(words);
}

void expect_all_samples(const std::string& data) {
  for (const char* executor : {"threads", "processes"}) {
    const Ended ended = run(data, {"--executor", executor, "--shuffle", "--json", "-"});
    ASSERT_EQ(ended.exit_code, 0) << data << ": " << ended.err;
    const json result = json::parse(ended.out, nullptr, false);
    EXPECT_EQ(result.at("ranks").at(0).at("samples"), 2 * source::kFixtureSamples) << data;
    EXPECT_EQ(result.at("errors").at("skipped_samples"), 0) << data;
  }
}

TEST(FormatsCli, DeliversAllSamplesFromThreadsAndProcesses) {
  expect_all_samples("mds:" + fixture("mds"));
  expect_all_samples("litdata:" + fixture("litdata"));
  expect_all_samples(fixture("images.tfrecord"));
  expect_all_samples(fixture("parquet/gzip.parquet"));
  if (is_built("arrow")) expect_all_samples("arrow:" + fixture("arrow/saved/train"));
  if (is_built("arrow")) expect_all_samples(fixture("arrow/grown_stream.arrow"));
  if (is_built("lmdb")) expect_all_samples(fixture("images.lmdb"));
  if (is_built("video")) expect_all_samples(fixture("videos/left/0.mp4") + "?every=3");
  if (is_built("hdf5")) expect_all_samples(fixture("hdf5/images.h5"));
}

TEST(FormatsCli, ReportsUnreadableDataInOneSentence) {
  const std::vector<Refused> cases = {
      {{"mds:" + fixture("mds") + "?column=class"}, "choose one with ?column=NAME", 1},
      {{"mds:" + fixture("mds") + "?colum=x"}, "did you mean 'column'"},
      {{"mds:" + fixture("mds_br")}, "is not read here", 1},
      {{"litdata:" + fixture("mds")}, "is no index.json as its library writes it", 1},
      {{fixture("parquet/few.parquet")}, "choose one with ?column=NAME", 1},
      {{"parquet:" + fixture("mds/index.json")}, "is no Parquet file", 1},
      {{"tfrecord:" + fixture("mds/index.json")}, "is no TFRecord file", 1},
  };
  if (is_built("arrow")) {
    EXPECT_THAT(run("arrow:" + fixture("arrow/saved"), {}).err,
                HasSubstr("holds the splits train"));
  }
  for (const Refused& refused : cases) {
    const Ended ended = run(refused.words.front(), {});
    EXPECT_EQ(ended.exit_code, refused.exit_code) << refused.words.front();
    EXPECT_THAT(ended.err, HasSubstr(refused.message));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

}  // namespace
}  // namespace loaderscope::testing_cli
