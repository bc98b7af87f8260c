// The index's bytes, and its cache: hits, misses, and files that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "source/index.h"
#include "source/index_cache.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

namespace fs = std::filesystem;

std::optional<Index> parsed(std::span<const std::byte> bytes) {
  auto copy = std::make_unique<std::byte[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  return Index::parse(std::move(copy), bytes.size());
}

TEST(Index, HoldsEveryNameWhateverItShares) {
  std::vector<std::string> names = {"",  "a",  std::string(300, 'a'), std::string(299, 'a') + "b",
                                    "a", "ab", std::string("\0x", 2)};
  for (int i = 0; i < 100; ++i) names.push_back("image_" + std::to_string(i * 977) + ".jpg");
  IndexBuilder builder;
  for (int i = 0; i < 300; ++i) {
    builder.add_folder({0, "folder" + std::to_string(i), i, {}});
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    builder.add(static_cast<std::uint32_t>(i * 7 % 300), names[i]);
  }
  const auto index = parsed(builder.finish("who").bytes());
  ASSERT_TRUE(index);
  EXPECT_EQ(index->identity(), "who");
  std::string name;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto sample = static_cast<std::int64_t>(i);
    EXPECT_EQ(index->file(sample, name), static_cast<std::int64_t>(i * 7 % 300));
    EXPECT_EQ(name, names[i]);
    EXPECT_EQ(index->label(sample), static_cast<int>(i * 7 % 300));
  }
}

TEST(Index, StoresCountedNamesInTwelveBytesEach) {
  IndexBuilder builder;
  char name[32];
  for (int i = 0; i < 300'000; ++i) {
    if (i % 1300 == 0) builder.add_folder({0, "n" + std::to_string(i), i / 1300, {}});
    std::snprintf(name, sizeof name, "n%08d_%05d.JPEG", i / 1300, i % 1300);
    builder.add(static_cast<std::uint32_t>(i / 1300), name);
  }
  EXPECT_LT(builder.finish("").bytes().size(), 300'000 * 12U);
}

TEST(Index, DetectsAnyDamage) {
  IndexBuilder builder;
  builder.add_folder({0, "f", 0, {}});
  for (int i = 0; i < 40; ++i) builder.add(0, std::to_string(i));
  const Index index = builder.finish("id");
  std::vector<std::byte> bytes(index.bytes().begin(), index.bytes().end());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::byte was = bytes[i];
    bytes[i] ^= std::byte{1};
    EXPECT_FALSE(parsed(bytes)) << "byte " << i;
    bytes[i] = was;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parsed(std::span(bytes).first(size)));
  }
  EXPECT_TRUE(parsed(bytes));
}

struct Cached : testing::Test {
  TempFolder data, cache;
  SourceOptions options;

  Cached() {
    for (const char* name : {"a/1.jpg", "a/deep/2.jpg", "b/3.jpg"}) data.write(name);
    data.age();
    options.paths = {data.path()};
    options.cache_folder = cache / "below/it";
  }
  bool hit() { return open_files(options)->from_cache; }
  std::string only_file() const {
    std::string found;
    for (const auto& entry : fs::directory_iterator(cache / "below/it")) {
      EXPECT_EQ(found, "");
      found = entry.path().string();
    }
    return found;
  }
};

TEST_F(Cached, FindsEqualIndexTheSecondTime) {
  EXPECT_FALSE(hit());
  const auto files = open_files(options);
  EXPECT_TRUE(files->from_cache);
  EXPECT_THAT(sample_paths(*files, data.path()),
              testing::ElementsAre("a/1.jpg", "a/deep/2.jpg", "b/3.jpg"));
  EXPECT_THAT(sample_labels(*files), testing::ElementsAre(0, 0, 1));
  EXPECT_EQ(fs::status(only_file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Cached, NoticesEveryChangeOfFolder) {
  hit();
  data.write("a/deep/4.jpg");
  EXPECT_EQ(open_files(options)->size(), 4);
  EXPECT_FALSE(hit()) << "a folder that has just changed may change again unseen";
  data.age();
  EXPECT_FALSE(hit());
  EXPECT_TRUE(hit());
  fs::remove(data / "b/3.jpg");
  data.age(1800);
  EXPECT_EQ(open_files(options)->size(), 3);
  fs::rename(data / "a", data / "c");
  data.age(900);
  EXPECT_FALSE(hit());
  EXPECT_TRUE(hit());
}

TEST_F(Cached, NoticesReplacedFolder) {
  hit();
  EXPECT_TRUE(hit());
  fs::rename(data / "b", data / "old");
  fs::create_directories(data / "b");
  data.write("b/9.jpg");
  fs::remove_all(data / "old");
  data.age();
  EXPECT_FALSE(hit());
}

TEST_F(Cached, RebuildsDamagedAndForeignFiles) {
  hit();
  const std::string file = only_file();
  fs::resize_file(file, fs::file_size(file) - 1);
  EXPECT_FALSE(hit());
  EXPECT_TRUE(hit());
  std::ofstream(file)
      << "something else that is long enough to be read as a header of an index, or nearly";
  EXPECT_FALSE(hit());
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(hit());
}

TEST_F(Cached, WorksWithoutWritableCache) {
  options.cache_folder = "/proc/nowhere";
  EXPECT_FALSE(hit());
  EXPECT_EQ(open_files(options)->size(), 3);
}

TEST_F(Cached, CachesManifestUntilItChanges) {
  options.paths = {};
  options.index_file = data.write("list.csv", "path,label\na/1.jpg,5\nb/3.jpg,6\na/9.jpg,6\n");
  data.age();
  EXPECT_FALSE(hit());
  const auto files = open_files(options);
  EXPECT_TRUE(files->from_cache);
  EXPECT_THAT(sample_labels(*files), testing::ElementsAre(5, 6, 6));
  data.write("list.csv", "path,label\na/1.jpg,5\n");
  EXPECT_EQ(open_files(options)->size(), 1);
}

}  // namespace
}  // namespace loaderscope::source
