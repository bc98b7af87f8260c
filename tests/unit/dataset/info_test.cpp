#include "dataset/info.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/writers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>

#include "dataset/drift.h"
#include "dataset/image_facts.h"
#include "dataset/make.h"
#include "loaderscope/errors.h"
#include "report/kinds.h"
#include "source/file_source.h"
#include "source/registry.h"
#include "unit/dataset/contents.h"
#include "unit/source/container_bytes.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::dataset {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string one_jpeg(const source::TempFolder& folder, bool progressive) {
  MakeOptions options;
  options.path = folder / (progressive ? "progressive" : "baseline");
  options.count = 1;
  options.classes = 1;
  options.size = {64, 48, 0};
  options.progressive_share = progressive ? 1 : 0;
  make_dataset(options, {});
  return file_content(options.path + "/class_000/img_0000000.jpg");
}

std::span<const std::byte> text_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A folder with three good images, four damaged ones and two other files.
void fill(const source::TempFolder& folder) {
  const std::string good = one_jpeg(folder, false), progressive = one_jpeg(folder, true);
  put(folder / "set/cat/1.jpg", good);
  put(folder / "set/cat/2.JPEG", progressive);
  put(folder / "set/dog/1.jpg", good + "and what a camera puts behind");
  put(folder / "set/cat/cut.jpg", good.substr(0, good.size() - 20));
  put(folder / "set/cat/empty.jpg", "");
  put(folder / "set/dog/text.png", "this is no image");
  put(folder / "set/dog/short.jpg", good.substr(0, 30));
  put(folder / "set/README", "hello");
  put(folder / "set/dog/labels.csv", "1,2");
  put(folder / "set/.hidden/1.jpg", good);
}

TEST(Info, CountsWhatIsThere) {
  const source::TempFolder folder;
  fill(folder);
  for (const int threads : {1, 4}) {
    InfoContext context;
    context.threads = threads;
    const DatasetInfo info = inspect_dataset(folder / "set", context);
    EXPECT_EQ(info.images, 3);
    EXPECT_EQ(info.damaged, 4);
    EXPECT_EQ(info.other_files, 2);
    EXPECT_EQ(info.progressive, 1);
    EXPECT_EQ(info.pixels, 3 * 64 * 48);
    EXPECT_EQ(info.classes.at("cat"), 2);
    EXPECT_EQ(info.classes.at("dog"), 1);
    ASSERT_EQ(info.first_damaged.size(), 4U);
    EXPECT_EQ(info.first_damaged[0].path, "cat/cut.jpg");
    EXPECT_THAT(info.first_damaged[0].cause, HasSubstr("cut off"));
    EXPECT_THAT(info.first_damaged[1].cause, HasSubstr("empty"));
    EXPECT_THAT(info.first_damaged[2].cause, HasSubstr("within its header"));
    EXPECT_THAT(info.first_damaged[3].cause, HasSubstr("no image"));
  }
}

TEST(Info, TreatsHeaderBeyondDecoderLimitsAsDamaged) {
  const source::TempFolder folder;
  std::string jpeg = one_jpeg(folder, false);
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xfd\xe8\xfd\xe8");  // 65000 x 65000
  put(folder / "set/bomb.jpg", jpeg);
  const DatasetInfo info = inspect_dataset(folder / "set", {});
  EXPECT_EQ(info.images, 0);
  ASSERT_EQ(info.first_damaged.size(), 1U);
  EXPECT_THAT(info.first_damaged[0].cause, HasSubstr("65000 x 65000"));
}

TEST(Info, FindsImagesWithoutFolders) {
  const source::TempFolder folder;
  put(folder / "set/1.jpg", one_jpeg(folder, false));
  ASSERT_EQ(::symlink((folder / "baseline/class_000/img_0000000.jpg").c_str(),
                      (folder / "set/2.jpg").c_str()),
            0);
  ASSERT_EQ(::symlink("/nowhere", (folder / "set/3.jpg").c_str()), 0);
  const DatasetInfo info = inspect_dataset(folder / "set", {});
  EXPECT_EQ(info.images, 2);
  EXPECT_TRUE(info.classes.empty());
  EXPECT_EQ(info.damaged, 1);
}

TEST(Info, FollowsClassesThatAreLinksButNotCircles) {
  const source::TempFolder folder;
  one_jpeg(folder, false);
  std::filesystem::create_directories(folder / "set/real");
  ASSERT_EQ(::symlink((folder / "baseline/class_000").c_str(), (folder / "set/cat").c_str()), 0);
  ASSERT_EQ(::symlink("..", (folder / "set/real/up").c_str()), 0);
  EXPECT_EQ(inspect_dataset(folder / "set", {}).images, 1);
}

// A run and a look at the same data speak of the same images.
TEST(Info, CountsWhatARunFinds) {
  const source::TempFolder folder;
  const std::string image = folder / "baseline/class_000/img_0000000.jpg";
  one_jpeg(folder, false);
  std::filesystem::create_directories(folder / "set/cat/deep");
  std::filesystem::create_directories(folder / "set/dog");
  ASSERT_EQ(::symlink(image.c_str(), (folder / "set/dog/1.jpg").c_str()), 0);
  ASSERT_EQ(
      ::symlink((folder / "baseline/class_000").c_str(), (folder / "set/cat/deep/far").c_str()), 0);
  ASSERT_EQ(::symlink("../dog", (folder / "set/cat/dog").c_str()), 0);
  ASSERT_EQ(::symlink("..", (folder / "set/cat/up").c_str()), 0);
  SourceOptions options;
  options.paths = {folder / "set"};
  options.use_index_cache = false;
  EXPECT_EQ(open_files(options)->size(), 3);
  EXPECT_EQ(inspect_dataset(folder / "set", {}).images, 3);
}

TEST(Info, BlamesNoFileWhereNoDescriptorIsLeft) {
  const source::TempFolder folder;
  put(folder / "set/1.jpg", one_jpeg(folder, false));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::string message;
  try {
    inspect_dataset(folder / "set", {});
  } catch (const RunError& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT(message, HasSubstr("(Too many open files); raise the limit"));
}

TEST(Info, NeedsAFolder) {
  EXPECT_THAT([] { inspect_dataset("/nowhere/at/all", {}); },
              ThrowsMessage<RunError>(HasSubstr("/nowhere/at/all: cannot be listed")));
}

TEST(Info, StopsAtTheSignal) {
  const source::TempFolder folder;
  fill(folder);
  const std::atomic<int> stop{2};
  InfoContext context;
  context.stop_signal = &stop;
  EXPECT_TRUE(inspect_dataset(folder / "set", context).interrupted);
}

class RefusingDecoder : public Decoder {
 public:
  ImageHeader open(std::span<const std::byte>) override {
    throw SampleError(SampleError::Kind::damaged, "its pixels are wrong");
  }
  Pixels decode(const Region&) override { return {}; }
};

// The same three good images and a cut one, in shards.
std::string filled_shards(const source::TempFolder& folder) {
  const std::string good = one_jpeg(folder, false), progressive = one_jpeg(folder, true);
  put(folder / "shards/0.tar", source::TarBytes()
                                   .add("a.jpg", good)
                                   .add("a.cls", "1")
                                   .add("b.jpg", good.substr(0, good.size() - 20))
                                   .finish());
  put(folder / "shards/1.tar",
      source::TarBytes().add("c.jpg", progressive).add("d.jpg", good).finish());
  return folder / "shards";
}

TEST(Info, LooksIntoShards) {
  const source::TempFolder folder;
  const std::string shards = filled_shards(folder);
  for (const char* words : {"", "?stream=1"}) {
    const DatasetInfo info = inspect_dataset("tar:" + shards + words, {});
    EXPECT_EQ(info.format, "tar");
    EXPECT_EQ(info.images, 3) << words;
    EXPECT_EQ(info.progressive, 1);
    EXPECT_EQ(info.objects, 2);
    EXPECT_EQ(info.shuffle.has_value(), *words != '\0');
    EXPECT_EQ(info.stored, std::ssize(file_content(shards + "/0.tar")) +
                               std::ssize(file_content(shards + "/1.tar")));
    EXPECT_EQ(info.qualities.least, 94);
    EXPECT_EQ(info.aspects.most, 1333);
    ASSERT_EQ(info.first_damaged.size(), 1U);
    EXPECT_THAT(info.first_damaged[0].path, HasSubstr("0.tar"));
    EXPECT_THAT(info.first_damaged[0].cause, HasSubstr("cut off"));
  }
  EXPECT_THROW(inspect_dataset("tar:" + shards + "?length=2", {}), UsageError);
  EXPECT_THROW(inspect_dataset("synthetic:", {}), UsageError);
}

// A sample is a part of its record; a header describes each frame of a video.
TEST(Info, LooksIntoWhatOtherLibrariesWrote) {
  const std::string fixtures = LOADERSCOPE_SOURCE_DIR "/tests/unit/source/fixtures/";
  for (const std::string& data :
       {"mds:" + fixtures + "mds", "mds:" + fixtures + "mds_zstd",
        "litdata:" + fixtures + "litdata", "tfrecord:" + fixtures + "images.tfrecord",
        "lmdb:" + fixtures + "images.lmdb"}) {
    const std::size_t colon = data.find(':');
    const SourceRow& row = source_row(data.substr(0, colon));
    if (row.row.reason_not_available()) continue;
    const DatasetInfo info = inspect_dataset(data, {});
    EXPECT_EQ(info.images, 7) << data;
    EXPECT_EQ(info.damaged, 0) << data;
  }
  if (source_row("video").row.reason_not_available()) return;
  const DatasetInfo frames = inspect_dataset("video:" + fixtures + "videos", {});
  EXPECT_GT(frames.images, 7);
  EXPECT_EQ(frames.damaged, 0);
}

TEST(Info, LooksIntoArrays) {
  const source::TempFolder folder;
  put(folder / "a.npy", source::npy_bytes("<f4", "(3, 2)", std::string(24, 'x')));
  const std::string path = folder / "a.npy";
  const DatasetInfo info = inspect_dataset(path, {});
  EXPECT_EQ(info.samples, 3);
  EXPECT_EQ(info.images, 0);
  EXPECT_EQ(info.layout, "(2) of <f4");
  std::ostringstream text;
  write_table(text, make_result(info, ""), {});
  EXPECT_THAT(text.str(), HasSubstr("a.npy: 3 samples, 152 B in 1 file (npy)"));
  InfoContext context;
  context.make_decoder = [] { return std::make_unique<RefusingDecoder>(); };
  EXPECT_EQ(inspect_dataset(path, context).samples, 3) << "arrays are read, not decoded";
  EXPECT_EQ(inspect_dataset(path + "?length=2", {}).layout, "2 x (2) of <f4");
}

// In order, through a buffer of some, and wholly shuffled.
TEST(Shuffle, DiffersMoreFromUniformWhenItMixesLess) {
  std::mt19937 random(1);
  std::vector<std::int64_t> order(2000);
  std::iota(order.begin(), order.end(), 0);
  const auto in_order = shuffle_quality({order});
  ASSERT_TRUE(in_order);
  EXPECT_NEAR(in_order->distance, 1, 0.01);
  EXPECT_NEAR(in_order->apart, 1, 1e-9);
  for (std::size_t i = 0; i + 100 < order.size(); ++i)  // a buffer of 100
    std::swap(order[i], order[i + random() % 100]);
  const auto buffered = shuffle_quality({order});
  EXPECT_GT(buffered->distance, 0.5);
  EXPECT_GT(buffered->apart, 20);
  std::shuffle(order.begin(), order.end(), random);
  const auto uniform = shuffle_quality({order, order});
  EXPECT_LT(uniform->distance, uniform->chance_limit);
  EXPECT_NEAR(uniform->apart, uniform->uniform_apart, 60);
  EXPECT_EQ(uniform->streams, 2);
  EXPECT_FALSE(shuffle_quality({}));
  EXPECT_FALSE(shuffle_quality({{7}}));
}

// Four workers with a quarter of the data each, in its order and shuffled.
TEST(Shuffle, MeasuresRanksAndEpochs) {
  std::mt19937 random(2);
  std::vector<SampleOrder> orders(4, SampleOrder(1000));
  for (std::size_t worker = 0; worker < orders.size(); ++worker)
    std::iota(orders[worker].begin(), orders[worker].end(),
              static_cast<std::int64_t>(1000 * worker));
  const auto in_order = shuffle_quality(orders, orders.front());
  EXPECT_GT(in_order->rank->distance, 0.9);
  EXPECT_NEAR(in_order->epochs->distance, 1, 0.01);  // the same order again
  for (SampleOrder& order : orders) std::shuffle(order.begin(), order.end(), random);
  SampleOrder again = orders.front();
  const auto same = shuffle_quality(orders, again);
  EXPECT_LT(same->distance, same->chance_limit);
  EXPECT_LT(same->rank->distance, 0.1);
  EXPECT_NEAR(same->epochs->distance, 1, 0.01);
  std::shuffle(again.begin(), again.end(), random);
  const auto other = shuffle_quality(orders, again);
  EXPECT_LT(other->epochs->distance, other->epochs->chance_limit);
  EXPECT_FALSE(shuffle_quality({orders.front()})->rank);
  EXPECT_FALSE(shuffle_quality({orders.front()})->epochs);
}

DatasetInfo made_set(const source::TempFolder& folder, const MakeOptions& wish) {
  MakeOptions options = wish;
  options.path = folder / ("made" + std::to_string(wish.seed));
  options.count = 60;
  options.classes = 1;
  make_dataset(options, {});
  return inspect_dataset(options.path, {});
}

TEST(Drift, SaysWhatDiffersBeyondChance) {
  const source::TempFolder folder;
  MakeOptions plain;
  plain.size = {64, 48, 0.2};
  plain.quality = 90;
  MakeOptions alike = plain, other = plain;
  alike.seed = 1;
  other.seed = 2;
  other.quality = 60;
  other.progressive_share = 1;
  const DatasetInfo info = made_set(folder, plain);
  const auto real = [&](const MakeOptions& options) {
    std::vector<std::string> names;
    for (const Difference& one : drift_between(info, made_set(folder, options)).differences) {
      if (one.is_real()) names.push_back(one.what);
    }
    return names;
  };
  EXPECT_THAT(real(alike), testing::IsEmpty());
  EXPECT_THAT(real(other), testing::UnorderedElementsAre("quality", "progressive", "stored size"));
}

TEST(Drift, DerivesSharesAndDistancesFromCounts) {
  DatasetInfo a, b;
  a.images = b.images = 1000;
  for (int i = 0; i < 1000; ++i) {
    a.widths.add(i < 500 ? 100 : 200);
    b.widths.add(i < 800 ? 100 : 200);
  }
  a.formats["jpeg"] = 1000;
  b.formats["jpeg"] = 990;
  b.formats["png"] = 10;
  const Drift drift = drift_between(a, b);
  ASSERT_GE(drift.differences.size(), 2U);
  EXPECT_EQ(drift.differences[0].what, "width");
  EXPECT_DOUBLE_EQ(drift.differences[0].share, 0.3);
  EXPECT_TRUE(drift.differences[0].is_real());
  EXPECT_EQ(drift.differences[1].what, "format jpeg");
  EXPECT_NEAR(drift.differences[1].share, 0.01, 1e-12);
  EXPECT_EQ(drift.differences[1].a, "100.0 %");
  std::ostringstream text, json;
  write_table(text, make_result(drift, ""), {});
  EXPECT_THAT(text.str(),
              testing::StartsWith("They differ in width (median 100 against median 100, 30 %)"));
  write_json(json, make_result(drift, "1.0"));
  EXPECT_EQ(nlohmann::json::parse(json.str())["differences"][0]["what"], "width");
  EXPECT_THAT(drift_between({}, {}).differences, testing::IsEmpty());
}

TEST(Info, ChecksWithTheDecoderThatIsHandedIn) {
  const source::TempFolder folder;
  put(folder / "set/1.jpg", one_jpeg(folder, false));
  InfoContext context;
  context.make_decoder = [] { return std::make_unique<RefusingDecoder>(); };
  const DatasetInfo info = inspect_dataset(folder / "set", context);
  EXPECT_EQ(info.images, 0);
  ASSERT_EQ(info.first_damaged.size(), 1U);
  EXPECT_EQ(info.first_damaged[0].cause, "its pixels are wrong");
}

TEST(Info, PrintsTextAndJson) {
  const source::TempFolder folder;
  fill(folder);
  const DatasetInfo info = inspect_dataset(folder / "set", {});
  std::ostringstream text, json;
  write_table(text, make_result(info, ""), {});
  EXPECT_THAT(text.str(), HasSubstr(": 3 images, "));
  EXPECT_THAT(text.str(), HasSubstr("subsampling  420 (100.0 %)"));
  EXPECT_THAT(text.str(), HasSubstr("GPU decodes  66.7 % by the JPEG engines of NVIDIA, "
                                    "not: progressive (33.3 %)"));
  EXPECT_THAT(text.str(), HasSubstr("damaged      4 (headers and ends looked at"));
  write_json(json, make_result(info, "1.0"));
  const auto parsed = nlohmann::json::parse(json.str());
  EXPECT_EQ(parsed["schema"], "loaderscope.dataset-info/1");
  EXPECT_EQ(parsed["width"]["p50"], 64);
  EXPECT_EQ(parsed["engine_refusals"]["progressive"], 1);
  EXPECT_EQ(parsed["damaged"]["count"], 4);
  EXPECT_EQ(parsed["damaged"]["first"][0]["path"], "cat/cut.jpg");
}

TEST(Info, PrintsAnEmptyFolder) {
  const source::TempFolder folder;
  std::filesystem::create_directories(folder / "set");
  const DatasetInfo info = inspect_dataset(folder / "set", {});
  std::ostringstream text, json;
  write_table(text, make_result(info, ""), {});
  write_json(json, make_result(info, "1.0"));
  EXPECT_THAT(text.str(), HasSubstr(": 0 images"));
  EXPECT_TRUE(nlohmann::json::accept(json.str()));
}

TEST(ImageFacts, SurvivesEveryCutAndEveryChangedByte) {
  const source::TempFolder folder;
  const std::string good = one_jpeg(folder, false);
  const std::size_t header = std::min<std::size_t>(good.size(), 700);
  for (std::size_t i = 0; i < header; ++i) {
    image_facts(text_bytes(good.substr(0, i)));
    std::string changed = good;
    for (const int value : {0x00, 0xff, 0xc0, 0xda}) {
      changed[i] = static_cast<char>(value);
      image_facts(text_bytes(changed));
    }
  }
  const ImageFacts facts = image_facts(text_bytes(good));
  EXPECT_EQ(facts.width, 64);
  EXPECT_EQ(facts.height, 48);
  EXPECT_EQ(facts.subsampling, "420");
}

}  // namespace
}  // namespace loaderscope::dataset
