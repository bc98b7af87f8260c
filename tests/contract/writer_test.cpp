// Checks the contract of every writer: the source of the same name reads back the samples and their
// classes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "dataset/make.h"
#include "dataset/pack.h"
#include "dataset/sample_classes.h"
#include "loaderscope/decode.h"
#include "source/items.h"
#include "source/registry.h"
#include "source/shard_bytes.h"
#include "source/store.h"
#include "source/tfrecord.h"
#include "unit/dataset/contents.h"
#include "unit/source/fixtures.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::dataset {
namespace {

constexpr std::int64_t kImages = 60, kClasses = 3;

std::unique_ptr<Source> opened(std::string_view row, const std::string& data) {
  return open_source(row, {data}, source::without_cache({}), {});
}

std::vector<std::string> read_samples(const Source& source) {
  std::vector<std::string> all;
  const auto reader = source.make_reader();
  for (std::int64_t i = 0; i < source.size(); ++i) all.push_back(source::read_sample(*reader, i));
  return all;
}

std::vector<std::string> list_files(const std::string& folder, std::string_view ending) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.front() != '.' && name.ends_with(ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<int> labels_of_files(const std::string& folder) {
  std::vector<int> labels;
  const auto source = opened("files", folder);
  for (std::int64_t i = 0; i < source->size(); ++i)
    labels.push_back(source_row("files").label(*source, i));
  return labels;
}

std::vector<int> labels_of_tar(const std::string& folder) {
  std::vector<int> labels;
  for (const std::string& text : read_samples(*opened("tar", folder + "?member=cls")))
    labels.push_back(std::stoi(text));
  return labels;
}

// The labels after each image, in 8 bytes each.
std::vector<int> labels_of_mds(const std::string& folder) {
  std::vector<int> labels;
  for (const source::ItemShard& shard :
       source::parse_mds_index(file_content(folder + "/index.json")).shards) {
    const std::string bytes = file_content(folder + "/" + shard.file);
    const auto file = source::find_store(folder).open(folder + "/" + shard.file);
    const auto offsets = source::read_item_offsets(*file, shard.items, std::ssize(bytes));
    for (std::size_t i = 1; i < offsets.size(); ++i) labels.push_back(bytes[offsets[i] - 8]);
  }
  return labels;
}

// The labels in the last payload byte of each record, before its checksum.
std::vector<int> labels_of_tfrecord(const std::string& folder) {
  std::vector<int> labels;
  for (const std::string& path : list_files(folder, ".tfrecord")) {
    const std::string bytes = file_content(path);
    const auto file = source::find_store(folder).open(path);
    source::RecordWalk walk(*file);
    while (const auto record = walk.next())
      labels.push_back(bytes[static_cast<std::size_t>(record->begin + record->size) - 5]);
  }
  return labels;
}

std::vector<int> labels_of_npy(const std::string& folder) {
  std::vector<int> labels;
  for (const std::string& row : read_samples(*opened("npy", folder + "/labels?length=1")))
    labels.push_back(row[0]);
  return labels;
}

// The labels from the source that reads the images.
template <const char* row>
std::vector<int> labels_of_source(const std::string& folder) {
  const DataText data = parse_data(std::string(row) + ":" + folder, "");
  const auto numbers = class_numbers(data, opened(row, folder)->size(), nullptr);
  return {numbers.begin(), numbers.end()};
}
constexpr char kParquet[] = "parquet", kLmdb[] = "lmdb";

// The labels in a second HDF5 data set, 8 bytes each.
std::vector<int> labels_of_hdf5(const std::string& folder) {
  std::vector<int> labels;
  for (const std::string& row : read_samples(*opened("hdf5", folder + "?dataset=labels&length=1")))
    labels.push_back(row[0]);
  return labels;
}

struct Written {
  std::string_view row;
  std::vector<int> (*labels)(const std::string& folder);
};
constexpr Written kWritten[] = {{"tar", labels_of_tar},
                                {"files", labels_of_files},
                                {"mds", labels_of_mds},
                                {"tfrecord", labels_of_tfrecord},
                                {"parquet", labels_of_source<kParquet>},
                                {"npy", labels_of_npy},
                                {"lmdb", labels_of_source<kLmdb>},
                                {"hdf5", labels_of_hdf5}};

std::string decode_pixels(const std::string& image) {
  const auto decoder = make_any_decoder({});
  const ImageHeader header = decoder->open(std::as_bytes(std::span(image)));
  const Pixels pixels = decoder->decode({0, 0, header.width, header.height});
  std::string all;
  for (int y = 0; y < header.height; ++y)
    all.append(
        reinterpret_cast<const char*>(pixels.data) + static_cast<std::size_t>(y) * pixels.stride,
        static_cast<std::size_t>(header.width) * 3);
  return all;
}

// Images of three classes, and what packing them is asked for.
class WriterContract : public testing::Test {
 protected:
  WriterContract() {
    MakeOptions making;
    making.path = folder_ / "photos";
    making.count = kImages;
    making.size = {320, 240, 0};
    making.classes = kClasses;
    make_dataset(making, {});
    options_.from = making.path;
    options_.in_order = true;
    options_.shard_size = Bytes{1} << 20;
    const auto photos = opened("files", making.path);
    images_ = read_samples(*photos);
    labels_ = labels_of_files(making.path);
  }

  PackResult packed(const WriterRow& row, const std::string& to) {
    options_.writer = &row;
    options_.to = folder_ / to;
    return pack_dataset(options_, {});
  }
  std::vector<std::string> expected_samples(const WriterRow& row) const {
    std::vector<std::string> expected = images_;
    if (row.takes_pixels)
      std::transform(images_.begin(), images_.end(), expected.begin(), decode_pixels);
    return expected;
  }

  source::TempFolder folder_;
  PackOptions options_;
  std::vector<std::string> images_;
  std::vector<int> labels_;
};

TEST_F(WriterContract, ReadsBackSamplesAndClasses) {
  std::size_t rows = 0;
  for (const WriterRow& row : writer_table()) {
    if (row.open == nullptr || row.row.reason_not_available()) continue;
    const std::string name(row.row.name);
    const auto written = std::find_if(std::begin(kWritten), std::end(kWritten),
                                      [&](const Written& one) { return one.row == name; });
    ASSERT_NE(written, std::end(kWritten)) << name << " is not held to the contract";
    const PackResult result = packed(row, name);
    EXPECT_TRUE(result.complete);
    EXPECT_GT(result.plan.shards, 1);
    EXPECT_THAT(describe(options_, result), testing::HasSubstr("'" + name + ":" + options_.to));
    EXPECT_TRUE(read_samples(*opened(name, options_.to)) == expected_samples(row)) << name;
    EXPECT_EQ(written->labels(options_.to), labels_) << name;
    ++rows;
  }
  EXPECT_GE(rows, 4U);
}

TEST_F(WriterContract, WritesEqualBytesWithAnyThreadsAndAfterRestart) {
  for (const WriterRow& row : writer_table()) {
    if (row.open == nullptr || row.row.reason_not_available()) continue;
    const std::string name(row.row.name);
    options_.threads = 4;
    const PackResult whole = packed(row, name);
    const auto all = contents_below(options_.to);
    std::filesystem::remove(row.stored_path({options_.to, whole.plan, nullptr, {}}, 1));
    options_.threads = 1;
    const PackResult again = packed(row, name);
    EXPECT_TRUE(again.complete);
    EXPECT_EQ(again.found, whole.plan.shards - 1) << name;
    EXPECT_EQ(contents_below(options_.to), all) << name;
  }
}

TEST_F(WriterContract, WritesCompressedShardsThatSourcesRead) {
  for (const WriterRow& row : writer_table()) {
    for (const CompressionRow& compression : compression_table()) {
      if (row.packed_ending == nullptr || compression.make_packer == nullptr) continue;
      options_.compression = &compression;
      const std::string to = fmt::format("{}-{}", row.row.name, compression.row.name);
      if ((compression.*row.packed_ending).empty()) {
        EXPECT_THROW(packed(row, to), UsageError);
        continue;
      }
      ASSERT_TRUE(packed(row, to).complete);
      const auto source = opened(row.row.name, options_.to + std::string(row.packed_words));
      if (source->streams() == nullptr) {
        EXPECT_TRUE(read_samples(*source) == images_) << to;
        continue;
      }
      SubstageListener listener;
      const auto stream = source->streams()->make_stream({}, listener);
      stream->begin_epoch(0);
      std::vector<std::string> all;
      while (const auto bytes = stream->next())
        all.emplace_back(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      EXPECT_TRUE(all == images_) << to;
    }
  }
}

// Packs each written format again, as tar.
TEST_F(WriterContract, PacksFromPackedDataSet) {
  const WriterRow& tar = writer_table().front();
  for (const WriterRow& row : writer_table()) {
    if (row.open == nullptr || row.row.reason_not_available() || row.takes_pixels) continue;
    const std::string name(row.row.name);
    options_.from = folder_ / "photos";
    packed(row, name);
    options_.from = name + ":" + options_.to;
    EXPECT_TRUE(packed(tar, "tar-of-" + name).complete);
    EXPECT_TRUE(read_samples(*opened("tar", options_.to)) == images_) << name;
    if (source_row(name).knows_classes) {
      EXPECT_EQ(labels_of_tar(options_.to), labels_);
    }
  }
}

TEST_F(WriterContract, RejectsSeveralSizesForArray) {
  const WriterRow& npy = find_row("npy", writer_table());
  put(options_.from + "/class_001/raw.lsraw", std::string("LSRAW1\0\0\1\0\0\0\1\0\0\0abc", 19));
  EXPECT_THAT(
      [&] { packed(npy, "npy"); },
      testing::ThrowsMessage<RunError>(testing::HasSubstr("has 1x1 pixels and others 320x240")));
}

TEST_F(WriterContract, StoresSeveralFormatsAsBytes) {
  put(options_.from + "/class_001/raw.lsraw", std::string("LSRAW1\0\0\1\0\0\0\1\0\0\0abc", 19));
  packed(find_row("mds", writer_table()), "mds");
  EXPECT_THAT(file_content(options_.to + "/index.json"),
              testing::AllOf(testing::HasSubstr("\"bytes\""),
                             testing::Not(testing::HasSubstr("\"jpeg\""))));
  EXPECT_EQ(opened("mds", options_.to)->size(), kImages + 1);
}

TEST(Target, ParsesNamesLikeData) {
  EXPECT_EQ(parse_target("a/b").writer, nullptr);
  EXPECT_EQ(parse_target("mds:a/b").folder, "a/b");
  EXPECT_EQ(parse_target("mds:a/b").writer->row.name, "mds");
  EXPECT_EQ(parse_target("a:b").folder, "a:b");
  EXPECT_EQ(parse_target("./mds:b").folder, "./mds:b");
  EXPECT_THROW(parse_target("litdata:b"), ValueError);  // is only read
}

}  // namespace
}  // namespace loaderscope::dataset
