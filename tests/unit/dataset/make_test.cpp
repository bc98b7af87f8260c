#include "dataset/make.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "dataset/info.h"
#include "dataset/manifest.h"
#include "loaderscope/errors.h"
#include "unit/dataset/contents.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::dataset {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

MakeOptions small(const std::string& path) {
  MakeOptions options;
  options.path = path;
  options.count = 24;
  options.size = {96, 64, 0};
  options.classes = 3;
  options.progressive_share = 0.25;
  options.seed = 5;
  options.threads = 1;
  return options;
}

TEST(Make, GivesTheSameBytesWhateverTheThreads) {
  const source::TempFolder folder;
  MakeOptions options = small(folder / "one");
  make_dataset(options, {});
  options.path = folder / "four";
  options.threads = 4;
  make_dataset(options, {});
  const auto files = contents_below(folder / "one");
  EXPECT_EQ(files.size(), 25U);  // and the note
  EXPECT_EQ(files, contents_below(folder / "four"));
}

TEST(Make, GivesOtherBytesForAnotherSeed) {
  const source::TempFolder folder;
  MakeOptions options = small(folder / "a");
  make_dataset(options, {});
  options.path = folder / "b";
  options.seed = 6;
  make_dataset(options, {});
  EXPECT_NE(file_content(folder / "a/class_000/img_0000000.jpg"),
            file_content(folder / "b/class_000/img_0000000.jpg"));
}

TEST(Make, MakesAgainWhatWasRemoved) {
  const source::TempFolder folder;
  const MakeOptions options = small(folder / "set");
  make_dataset(options, {});
  const auto files = contents_below(folder / "set");
  std::filesystem::remove(folder / "set/class_000/img_0000000.jpg");
  std::filesystem::remove_all(folder / "set/class_001");
  const MakeResult again = make_dataset(options, {});
  EXPECT_EQ(again.made, 9);
  EXPECT_EQ(again.found, 15);
  EXPECT_EQ(contents_below(folder / "set"), files);
  EXPECT_EQ(make_dataset(options, {}).made, 0);
}

// The comparison of values calls itself for each level: deep nesting would end the process.
TEST(Make, RefusesAManifestThatIsNestedDeep) {
  const source::TempFolder folder;
  const std::string deep(100'000, '[');
  for (const std::string& text :
       {"{\"schema\": " + deep + std::string(100'000, ']') + "}", "{\"a\": " + deep, deep}) {
    put(folder / "set/.loaderscope-dataset.json", text);
    EXPECT_THAT([&] { make_dataset(small(folder / "set"), {}); },
                ThrowsMessage<RunError>(HasSubstr("is damaged")));
  }
}

TEST(Make, RefusesAManifestThatIsNoFile) {
  const source::TempFolder folder;
  std::filesystem::create_directories(folder / "set");
  ASSERT_EQ(::mkfifo((folder / "set/.loaderscope-dataset.json").c_str(), 0600), 0);
  EXPECT_THAT([&] { make_dataset(small(folder / "set"), {}); },
              ThrowsMessage<RunError>(HasSubstr("is a pipe")));
}

TEST(Make, ResumesWhereItWasStopped) {
  const source::TempFolder folder;
  MakeOptions options = small(folder / "whole");
  make_dataset(options, {});
  options.path = folder / "parts";
  const std::atomic<int> stop{2};
  const MakeResult none = make_dataset(options, {&stop, nullptr});
  EXPECT_EQ(none.made, 0);
  EXPECT_FALSE(none.complete);
  // A killed run leaves some whole images, and one partial image with a hidden name.
  const auto whole = contents_below(folder / "whole");
  put(folder / "parts/class_000/img_0000001.jpg", whole.at("class_000/img_0000001.jpg"));
  put(folder / "parts/class_000/.img_0000002.jpg.part", "half");
  const MakeResult rest = make_dataset(options, {});
  EXPECT_TRUE(rest.complete);
  EXPECT_EQ(rest.found, 1);
  EXPECT_EQ(rest.made, 23);
  EXPECT_EQ(contents_below(folder / "parts"), whole);
}

TEST(Make, MakesNothingTheSecondTime) {
  const source::TempFolder folder;
  const MakeOptions options = small(folder / "set");
  make_dataset(options, {});
  const MakeResult again = make_dataset(options, {});
  EXPECT_TRUE(again.complete);
  EXPECT_EQ(again.made, 0);
  EXPECT_THAT(describe(options.path, options.count, again),
              HasSubstr("holds these 24 images already"));
}

TEST(Make, RefusesAFolderOfSomethingElse) {
  const source::TempFolder folder;
  MakeOptions options = small(folder / "set");
  put(folder / "set/thesis.txt", "mine");
  EXPECT_THAT([&] { make_dataset(options, {}); },
              ThrowsMessage<RunError>(HasSubstr("is not empty and holds no data set")));
  options.path = folder / "other";
  make_dataset(options, {});
  options.seed = 6;
  EXPECT_THAT([&] { make_dataset(options, {}); },
              ThrowsMessage<RunError>(HasSubstr("(seed is 5, not 6)")));
  options.path = folder / "set/thesis.txt";
  EXPECT_THAT([&] { make_dataset(options, {}); },
              ThrowsMessage<RunError>(HasSubstr("give a folder, not a file")));
}

TEST(Make, RefusesWhatCannotBe) {
  MakeOptions options = small("/nowhere/at/all");
  options.classes = 25;
  EXPECT_THROW(make_dataset(options, {}), UsageError);
  options.classes = 1;
  options.bytes_per_pixel = 7;
  EXPECT_THAT(
      [&] { make_dataset(options, {}); },
      ThrowsMessage<UsageError>(HasSubstr("--bytes-per-pixel 7: JPEG --subsampling 420 reaches")));
}

TEST(Make, RefusesWhatDoesNotFit) {
  const source::TempFolder folder;
  MakeOptions options = small(folder / "huge");
  options.size = {10'000, 10'000, 0};
  options.count = 10'000'000'000;
  EXPECT_THAT([&] { make_dataset(options, {}); }, ThrowsMessage<RunError>(HasSubstr("are free")));
}

TEST(Make, FollowsItsOptions) {
  const source::TempFolder folder;
  for (const Subsampling subsampling :
       {Subsampling::s420, Subsampling::s422, Subsampling::s444, Subsampling::grey}) {
    const std::string name(kSubsamplingNames[static_cast<std::size_t>(subsampling)]);
    MakeOptions options = small(folder / name);
    options.subsampling = subsampling;
    make_dataset(options, {});
    const DatasetInfo info = inspect_dataset(options.path, {});
    EXPECT_EQ(info.images, 24);
    EXPECT_EQ(info.damaged, 0);
    EXPECT_EQ(info.subsamplings.at(name), 24);
    EXPECT_EQ(info.progressive, 6);
    EXPECT_EQ(info.classes.size(), 3U);
    EXPECT_EQ(info.classes.at("class_001"), 8);
    EXPECT_EQ(info.widths.least, 96);
    EXPECT_EQ(info.heights.most, 64);
  }
}

TEST(Make, SpreadsSizes) {
  const source::TempFolder folder;
  MakeOptions options = small(folder / "set");
  options.size.sigma = 0.3;
  make_dataset(options, {});
  const DatasetInfo info = inspect_dataset(options.path, {});
  EXPECT_LT(info.widths.least, 80);
  EXPECT_GT(info.widths.most, 110);
}

TEST(Make, FollowsBytesPerPixel) {
  const source::TempFolder folder;
  for (const double wanted : {0.15, 0.393, 0.6}) {
    MakeOptions options = small(folder / std::to_string(wanted));
    options.count = 60;
    options.size = {240, 180, 0};
    options.bytes_per_pixel = wanted;
    const MakeResult result = make_dataset(options, {});
    const double found = static_cast<double>(result.bytes) / (60 * 240 * 180);
    EXPECT_NEAR(found / wanted, 1, 0.05) << wanted;
  }
}

TEST(Make, WritesAllFormats) {
  const source::TempFolder folder;
  for (const FormatRow& row : format_table()) {
    if (row.row.reason_not_available()) continue;
    MakeOptions options = small(folder / std::string(row.row.name));
    options.count = 3;
    options.progressive_share = 0;
    options.format = parse_format(row.row.name);
    EXPECT_EQ(make_dataset(options, {}).made, 3);
    const DatasetInfo info = inspect_dataset(options.path, {});
    EXPECT_EQ(info.formats.at(std::string(row.row.name)), 3);
    EXPECT_EQ(info.widths.least, 96);
    EXPECT_EQ(info.heights.least, 64);
  }
}

TEST(Make, ShowsProgress) {
  const source::TempFolder folder;
  MakeProgress last;
  make_dataset(small(folder / "set"), {nullptr, [&](const MakeProgress& now) { last = now; }});
  EXPECT_EQ(last.done, 24);
  EXPECT_EQ(last.total, 24);
  EXPECT_GT(last.bytes, 24 * 500);
}

}  // namespace
}  // namespace loaderscope::dataset
