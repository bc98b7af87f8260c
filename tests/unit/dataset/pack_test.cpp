#include "dataset/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <set>
#include <string>

#include "dataset/make.h"
#include "dataset/re_encoder.h"
#include "dataset/writer.h"
#include "loaderscope/errors.h"
#include "source/tar.h"
#include "unit/dataset/contents.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::dataset {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t kImages = 60;

// 60 images of three classes, and what packing them is asked for.
class Pack : public testing::Test {
 protected:
  Pack() {
    MakeOptions making;
    making.path = folder_ / "photos";
    making.count = kImages;
    making.size = {320, 240, 0};
    making.classes = 3;
    make_dataset(making, {});
    options_.from = making.path;
    options_.to = folder_ / "shards";
    options_.shard_size = Bytes{1} << 20;
  }

  std::vector<std::string> packed_samples(const std::string& shards) const {
    SourceOptions opening;
    opening.paths = {shards};
    opening.use_index_cache = false;
    const auto source = open_tar(opening, {});
    const auto reader = source->make_reader();
    std::vector<std::string> all;
    for (std::int64_t sample = 0; sample < source->size(); ++sample) {
      const auto bytes = reader->read(sample);
      all.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return all;
  }

  std::multiset<std::string> images() const {
    std::multiset<std::string> all;
    for (const auto& [path, content] : contents_below(options_.from)) {
      if (path.ends_with(".jpg")) all.insert(content);
    }
    return all;
  }

  source::TempFolder folder_;
  PackOptions options_;
};

TEST_F(Pack, PutsEachSampleIntoOneShardUnchanged) {
  const PackResult result = pack_dataset(options_, {});
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.samples, kImages);
  EXPECT_GT(result.plan.shards, 1);
  const auto packed = packed_samples(options_.to);
  EXPECT_EQ(std::multiset<std::string>(packed.begin(), packed.end()), images());
  EXPECT_THAT(describe(options_, result), HasSubstr("loaderscope run --data 'tar:"));
}

TEST_F(Pack, GivesTheSameBytesWhateverTheThreads) {
  options_.threads = 1;
  pack_dataset(options_, {});
  const auto one = contents_below(options_.to);
  options_.threads = 4;
  options_.to = folder_ / "four";
  pack_dataset(options_, {});
  EXPECT_EQ(contents_below(options_.to), one);
}

TEST_F(Pack, ShufflesUnlessInOrder) {
  options_.in_order = true;
  pack_dataset(options_, {});
  const auto sorted = packed_samples(options_.to);
  std::vector<std::string> in_order;
  for (const auto& [path, content] : contents_below(options_.from)) {
    if (path.ends_with(".jpg")) in_order.push_back(content);
  }
  EXPECT_EQ(sorted, in_order);
  options_.in_order = false;
  options_.to = folder_ / "shuffled";
  pack_dataset(options_, {});
  EXPECT_NE(packed_samples(options_.to), in_order);
}

TEST_F(Pack, ResumesWhereItStopped) {
  pack_dataset(options_, {});
  const auto all = contents_below(options_.to);
  std::filesystem::remove(options_.to + "/shard-000001.tar");
  put(options_.to + "/.shard-000001.tar.part", "cut");
  const PackResult again = pack_dataset(options_, {});
  EXPECT_TRUE(again.complete);
  EXPECT_EQ(again.found, again.plan.shards - 1);
  EXPECT_EQ(contents_below(options_.to), all);
  EXPECT_THAT(describe(options_, pack_dataset(options_, {})), HasSubstr("already"));
}

TEST_F(Pack, RefusesToMixWithAnotherDataSet) {
  pack_dataset(options_, {});
  options_.encode = parse_encoding("webp:80");
  EXPECT_THAT([&] { pack_dataset(options_, {}); },
              ThrowsMessage<RunError>(HasSubstr("holds another data set (")));
  options_.to = options_.from;
  EXPECT_THROW(pack_dataset(options_, {}), RunError);
}

TEST_F(Pack, ReportsErrorOfSmallerEncodedImages) {
  options_.encode = parse_encoding("jpeg:80");
  options_.max_side = 160;
  const PackResult result = pack_dataset(options_, {});
  EXPECT_EQ(result.samples, kImages);
  EXPECT_LT(result.bytes, result.stored / 2);
  EXPECT_EQ(result.error.images, 3);
  EXPECT_GT(result.error.decibels(), 25);
  EXPECT_LT(result.error.decibels(), 60);
  const auto decoder = make_any_decoder({});
  for (const std::string& sample : packed_samples(options_.to)) {
    const ImageHeader header = decoder->open(std::as_bytes(std::span(sample)));
    EXPECT_EQ(header.width, 160);
    EXPECT_EQ(header.height, 120);
  }
}

TEST_F(Pack, MatchesAugmentationOfLoader) {
  options_.in_order = true;
  options_.most = 4;
  options_.encode = parse_encoding("png");
  options_.augment = {"random-resized-crop", "flip"};
  options_.size = 96;
  options_.seed = 5;
  pack_dataset(options_, {});
  AugmentOptions as_a_loader = augment_options(options_);
  as_a_loader.operations = {"random-resized-crop", "flip"};
  const auto augmenter = make_augmenter(as_a_loader);
  const auto decoder = make_any_decoder({}), decoder_of_packed = make_any_decoder({});
  std::vector<std::string> as_they_lie;
  for (const auto& [path, content] : contents_below(options_.from))
    if (path.ends_with(".jpg")) as_they_lie.push_back(content);
  const std::vector<std::string> packed = packed_samples(options_.to);
  ASSERT_EQ(packed.size(), 4u);
  for (std::int64_t sample = 0; sample < 4; ++sample) {
    const std::string& stored = as_they_lie[static_cast<std::size_t>(sample)];
    const ImageHeader header = decoder->open(std::as_bytes(std::span(stored)));
    std::vector<std::byte> made(96 * 96 * 3);
    const AugmentRecipe recipe = augmenter->choose(0, sample, header);
    augmenter->apply(decoder->decode(recipe.region), recipe, made.data());
    const std::string& image = packed[static_cast<std::size_t>(sample)];
    const ImageHeader square = decoder_of_packed->open(std::as_bytes(std::span(image)));
    ASSERT_EQ(square.width, 96);
    ASSERT_EQ(square.height, 96);
    const Pixels pixels = decoder_of_packed->decode({0, 0, 96, 96});
    for (std::size_t y = 0; y < 96; ++y)
      ASSERT_EQ(std::memcmp(pixels.data + y * pixels.stride, made.data() + y * 96 * 3, 96 * 3), 0);
  }
}

TEST_F(Pack, RefusesAugmentationThatMakesNoSense) {
  const auto refusal = [&] { pack_dataset(options_, {}); };
  options_.augment = {"random-resized-crop"};
  EXPECT_THAT(refusal,
              ThrowsMessage<UsageError>(HasSubstr("--augment: expected --encode with it")));
  options_.encode = parse_encoding("jpeg:90");
  options_.max_side = 100;
  EXPECT_THAT(refusal, ThrowsMessage<UsageError>(HasSubstr("--augment: expected no --max-side")));
  options_.max_side = 0;
  options_.augment = {"flip"};
  EXPECT_THAT(refusal, ThrowsMessage<UsageError>(HasSubstr("the first operation must be")));
  options_.augment = {"random-resized-crop", "normalise"};
  EXPECT_THAT(refusal, ThrowsMessage<UsageError>(HasSubstr("--augment: ")));
  options_.augment = {};
  options_.size = 100;
  EXPECT_THAT(refusal, ThrowsMessage<UsageError>(HasSubstr("--size: expected --augment with it")));
}

TEST_F(Pack, KeepsPixelsWithRestartMarkers) {
  options_.in_order = true;
  options_.restart_rows = true;
  put(options_.from + "/class_000/raw.lsraw", std::string("LSRAW1\0\0\1\0\0\0\1\0\0\0abc", 19));
  const PackResult result = pack_dataset(options_, {});
  EXPECT_EQ(result.samples, kImages + 1);
  EXPECT_EQ(result.as_they_were, 1);
  EXPECT_THAT(describe(options_, result), HasSubstr("1 sample got no restart markers"));
  const std::string before = file_content(options_.from + "/class_000/img_0000000.jpg");
  const std::string after = packed_samples(options_.to).front();
  EXPECT_NE(before, after);
  const auto pixels = [](const std::string& stored) {
    const auto decoder = make_any_decoder({});
    decoder->open(std::as_bytes(std::span(stored)));
    const Pixels decoded = decoder->decode({0, 0, 320, 240});
    return std::vector<std::uint8_t>(decoded.data, decoded.data + decoded.stride * 240);
  };
  EXPECT_EQ(pixels(before), pixels(after));
  options_.encode = parse_encoding("png");
  EXPECT_THAT([&] { pack_dataset(options_, {}); },
              ThrowsMessage<UsageError>(HasSubstr("--restart-rows: expected --encode jpeg")));
}

TEST_F(Pack, PacksOnlyGivenNumber) {
  options_.most = 7;
  EXPECT_EQ(pack_dataset(options_, {}).samples, 7);
  EXPECT_EQ(packed_samples(options_.to).size(), 7U);
}

TEST_F(Pack, KeepsPixelsWithLosslessEncoding) {
  options_.encode = parse_encoding("png");
  const PackResult result = pack_dataset(options_, {});
  EXPECT_EQ(result.error.squares, 0);
  EXPECT_EQ(result.error.images, 3);
}

TEST_F(Pack, NamesImagesThatItCannotDecode) {
  put(options_.from + "/class_001/broken.jpg", "no image");
  options_.encode = parse_encoding("jpeg:90");
  const PackResult result = pack_dataset(options_, {});
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.samples, kImages);
  EXPECT_EQ(result.skipped.samples, 1);
  EXPECT_THAT(describe(options_, result), HasSubstr("1 sample left out:\n"));
  EXPECT_THAT(describe(options_, result), HasSubstr("class_001/broken.jpg: "));
}

TEST_F(Pack, WritesClassesAsMembers) {
  pack_dataset(options_, {});
  std::map<std::string, int> labels;
  for (const auto& [path, content] : contents_below(options_.to)) {
    for (std::size_t at = 0; at + 512 <= content.size(); at += 512) {
      const std::string name = content.c_str() + at;
      if (content.compare(at + 257, 5, "ustar") == 0 && name.ends_with(".cls"))
        ++labels[content.substr(at + 512, 1)];
    }
  }
  EXPECT_EQ(labels, (std::map<std::string, int>{{"0", 20}, {"1", 20}, {"2", 20}}));
}

TEST_F(Pack, RefusesWhatMakesNoSense) {
  options_.max_side = 100;
  EXPECT_THAT([&] { pack_dataset(options_, {}); },
              ThrowsMessage<UsageError>(HasSubstr("--max-side: expected --encode with it")));
  options_.max_side = 0;
  options_.shard_size = 5;
  EXPECT_THROW(pack_dataset(options_, {}), UsageError);
  EXPECT_THROW(parse_encoding("jpeg:101"), ValueError);
  EXPECT_THROW(parse_encoding("png:9"), ValueError);
  EXPECT_THROW(parse_encoding("gif"), ValueError);
}

TEST(Shrink, GivesMeanOfCoveredPixels) {
  std::vector<std::uint8_t> data(6 * 4 * 3);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i / 3 % 6 * 10);
  RgbImage small;
  shrink({data.data(), 18, {0, 0, 6, 4}}, 3, small);
  ASSERT_EQ(small.width, 3);
  ASSERT_EQ(small.height, 2);
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 3; ++x) EXPECT_EQ(small.row(y)[x * 3], x * 20 + 5);
  }
  shrink({data.data(), 18, {0, 0, 6, 4}}, 4, small);  // 4 x 3: of one and a half pixels each
  EXPECT_EQ(small.width, 4);
  EXPECT_EQ(small.height, 3);
  EXPECT_EQ(small.row(0)[0], 3);
}

TEST(TarWriter, RefusesNamesThatDoNotFit) {
  const source::TempFolder folder;
  {
    const auto writer = open_tar_writer({folder.path(), {1, 1, 0}}, 0);
    EXPECT_THROW(writer->add({0, std::string(101, 'a'), {}, 0}), RunError);
  }
  EXPECT_TRUE(contents_below(folder.path()).empty());
}

}  // namespace
}  // namespace loaderscope::dataset
