// Shards as streams, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "unit/dataset/contents.h"
#include "unit/source/container_bytes.h"
#include "unit/source/packed_bytes.h"

namespace loaderscope::testing_cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

// Three shards of six, one and five images.
class StreamCli : public testing::Test {
 protected:
  void SetUp() override {
    const Ended made = run_binary({"data", "make", folder_.path("photos"), "--size", "40x30",
                                   "--classes", "1", "--count", "12"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    std::vector<std::string> images;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path("photos")))
      if (entry.path().extension() == ".jpg") images.push_back(entry.path().string());
    ASSERT_EQ(images.size(), 12U);
    std::size_t next = 0;
    for (const int count : {6, 1, 5}) {
      source::TarBytes shard;
      for (int i = 0; i < count; ++i)
        shard.add(std::to_string(i) + ".jpg", dataset::file_content(images[next++]));
      dataset::put(folder_.path("tar/" + std::to_string(count) + ".tar"), shard.finish());
    }
  }
  Ended run(const std::string& words, const Words& more) const {
    Words all = {"run",      "--data",   "tar:" + folder_.path("tar") + words,
                 "--size",   "16",       "--batch-size",
                 "2",        "--warmup", "0",
                 "--device", "null"};
    all.insert(all.end(), more.begin(), more.end());
    return run_binary(all);
  }
  json result(const std::string& words, Words more) const {
    more.insert(more.end(), {"--epochs", "2", "--json", "-"});
    const Ended ended = run(words, more);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return json::parse(ended.out, nullptr, false);
  }

  TestFolder folder_;
};

TEST_F(StreamCli, GivesAsManySamplesAndBytesAsTheIndex) {
  const auto facts = [](const json& result) {
    const json& rank = result.at("ranks").at(0);
    return std::pair(rank.at("samples"), rank.at("read_bytes"));
  };
  const auto indexed = facts(result("", {"--num-workers", "1"}));
  EXPECT_EQ(indexed.first, 24);
  for (const char* executor : {"threads", "processes"}) {
    EXPECT_EQ(facts(result("?stream=1&shuffle=4", {"--num-workers", "2", "--executor", executor})),
              indexed);
  }
}

TEST_F(StreamCli, UnpacksCompressedShardsAndSaysWhatThatTook) {
  for (const source::Packing& packing : source::packings()) {
    const std::string folder = folder_.path(std::string(packing.row));
    std::uintmax_t packed = 0;
    for (const auto& shard : fs::directory_iterator(folder_.path("tar"))) {
      const std::string path =
          folder + "/" + shard.path().stem().string() + std::string(packing.ending);
      dataset::put(path, packing.pack(dataset::file_content(shard.path().string())));
      packed += fs::file_size(path);
    }
    const Words words = {"run",
                         "--data",
                         "tar:" + folder + "?stream=1",
                         "--size",
                         "16",
                         "--batch-size",
                         "2",
                         "--num-workers",
                         "2",
                         "--warmup",
                         "0",
                         "--device",
                         "null",
                         "--epochs",
                         "1",
                         "--json",
                         "-"};
    const Ended ended = run_binary(words);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    const json result = json::parse(ended.out);
    EXPECT_EQ(result.at("ranks").at(0).at("samples"), 12);
    EXPECT_LE(result.at("ranks").at(0).at("read_bytes"), packed);
    EXPECT_GT(result.at("ranks").at(0).at("read_bytes"), packed / 2);
    EXPECT_THAT(ended.out, HasSubstr("\"read.decompress\""));
    EXPECT_THAT(ended.out, HasSubstr("source.unpacked_per_byte"));
    const Ended indexed = run_binary({"run", "--data", "tar:" + folder, "--device", "null"});
    EXPECT_EQ(indexed.exit_code, 1);
    EXPECT_THAT(indexed.err, HasSubstr("read it as a stream, tar:PATH?stream=1, or unpack it"));
  }
  EXPECT_THAT(run_binary({"list", "compression"}).out, HasSubstr("gzip"));
}

TEST_F(StreamCli, SaysWhoHasNothingToReadAndWhichRanksAreUnequal) {
  const Ended crowded = run("?stream=1", {"--num-workers", "4", "--epochs", "1", "--verbose"});
  EXPECT_EQ(crowded.exit_code, 0) << crowded.err;
  EXPECT_THAT(crowded.out, HasSubstr("of 4 workers 3 read, the others have nothing to read"));
  const Ended unequal =
      run("?stream=1", {"--num-workers", "1", "--ranks", "3", "--epochs", "1", "--verbose"});
  EXPECT_EQ(unequal.exit_code, 0) << unequal.err;
  EXPECT_THAT(unequal.out, HasSubstr("the ranks' streams are unequal"));
}

TEST_F(StreamCli, RefusesWithOneSentence) {
  const auto refused = [&](const std::string& words, const Words& more, int code,
                           const char* message) {
    const Ended ended = run(words, more);
    EXPECT_EQ(ended.exit_code, code) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(message));
  };
  refused("?stream=1", {"--task", "sample"}, 64, "whole batches of their own shards");
  refused("?stream=1", {"--shuffle"}, 64, "shuffle=1000");
  refused("?stream=1", {"--ranks", "4"}, 1, "3 shards for 4 ranks");
  refused("?shuffle=10", {}, 64, "stream=1");
  refused("?stream=1&shuffel=10", {}, 64, "did you mean 'shuffle'?");
}

}  // namespace
}  // namespace loaderscope::testing_cli
