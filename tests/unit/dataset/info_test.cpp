#include "dataset/info.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/writers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "dataset/image_facts.h"
#include "dataset/make.h"
#include "loaderscope/errors.h"
#include "report/kinds.h"
#include "source/file_source.h"
#include "unit/dataset/contents.h"
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
  return content_of(options.path + "/class_000/img_0000000.jpg");
}

std::span<const std::byte> bytes_of(const std::string& text) {
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

TEST(Info, AHeaderThatAsksForMoreThanDecodersAllowIsDamaged) {
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
  EXPECT_THAT(message, HasSubstr("Too many open files; raise the limit"));
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
  write_table(text, result_of(info, ""), {});
  EXPECT_THAT(text.str(), HasSubstr(": 3 images, "));
  EXPECT_THAT(text.str(), HasSubstr("subsampling  420 (100.0 %)"));
  EXPECT_THAT(text.str(), HasSubstr("damaged      4 (headers and ends looked at"));
  write_json(json, result_of(info, "1.0"));
  const auto parsed = nlohmann::json::parse(json.str());
  EXPECT_EQ(parsed["schema"], "loaderscope.dataset-info/1");
  EXPECT_EQ(parsed["width"]["p50"], 64);
  EXPECT_EQ(parsed["damaged"]["count"], 4);
  EXPECT_EQ(parsed["damaged"]["first"][0]["path"], "cat/cut.jpg");
}

TEST(Info, PrintsAnEmptyFolder) {
  const source::TempFolder folder;
  std::filesystem::create_directories(folder / "set");
  const DatasetInfo info = inspect_dataset(folder / "set", {});
  std::ostringstream text, json;
  write_table(text, result_of(info, ""), {});
  write_json(json, result_of(info, "1.0"));
  EXPECT_THAT(text.str(), HasSubstr(": 0 images"));
  EXPECT_TRUE(nlohmann::json::accept(json.str()));
}

TEST(ImageFacts, SurviveEveryCutAndEveryChangedByte) {
  const source::TempFolder folder;
  const std::string good = one_jpeg(folder, false);
  const std::size_t header = std::min<std::size_t>(good.size(), 700);
  for (std::size_t i = 0; i < header; ++i) {
    image_facts(bytes_of(good.substr(0, i)));
    std::string changed = good;
    for (const int value : {0x00, 0xff, 0xc0, 0xda}) {
      changed[i] = static_cast<char>(value);
      image_facts(bytes_of(changed));
    }
  }
  const ImageFacts facts = image_facts(bytes_of(good));
  EXPECT_EQ(facts.width, 64);
  EXPECT_EQ(facts.height, 48);
  EXPECT_EQ(facts.subsampling, "420");
}

}  // namespace
}  // namespace loaderscope::dataset
