#include "dataset/synthetic_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dataset/drift.h"
#include "loaderscope/errors.h"
#include "unit/dataset/contents.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::dataset {
namespace {

// Photographs of several kinds, two of them damaged, and what is none.
class Twin : public testing::Test {
 protected:
  void SetUp() override {
    MakeOptions options;
    options.classes = 1;
    options.count = 30;
    options.size = {96, 64, 0.3};
    options.quality = 92;
    add("warm", options);
    options.count = 20;
    options.size = {64, 96, 0.2};
    options.quality = 60;
    options.subsampling = Subsampling::s444;
    options.progressive_share = 0.5;
    options.seed = 5;
    add("cool", options);
    const std::string whole = file_content(folder_ / "set/warm/img_0000003.jpg");
    put(folder_ / "set/cool/cut.jpg", whole.substr(0, whole.size() / 2));
    put(folder_ / "set/cool/empty.jpg", "");
    put(folder_ / "set/cool/secret-name.png", "nothing that is an image");
  }
  void add(const std::string& name, MakeOptions options) {
    options.path = folder_ / "made" + name;
    make_dataset(options, {});
    std::filesystem::create_directories(folder_ / "set");
    std::filesystem::rename(options.path + "/class_000", folder_ / "set/" + name);
  }
  TwinOptions options() const { return {folder_ / "twin", folder_ / "set", std::nullopt, 0, 0}; }

  source::TempFolder folder_;
};

TEST_F(Twin, MatchesOriginalForLoader) {
  const TwinResult result = make_twin(options(), {});
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.count, 53);
  const Drift drift =
      drift_between(inspect_dataset(folder_ / "set", {}), inspect_dataset(folder_ / "twin", {}));
  EXPECT_EQ(drift.b.images, 50);
  EXPECT_EQ(drift.b.damaged, 3);
  EXPECT_EQ(drift.b.progressive, drift.a.progressive);
  EXPECT_EQ(drift.b.subsamplings, drift.a.subsamplings);
  EXPECT_EQ(drift.b.pixels, drift.a.pixels);
  EXPECT_NEAR(std::log(static_cast<double>(drift.b.bytes) / static_cast<double>(drift.a.bytes)), 0,
              0.05);
  for (const Difference& one : drift.differences)
    EXPECT_TRUE(!one.is_real() || one.what.starts_with("class")) << one.what << " " << one.share;
}

TEST_F(Twin, HoldsNothingOfTheOther) {
  make_twin(options(), {});
  const auto twin = contents_below(folder_ / "twin");
  for (const auto& [name, content] : contents_below(folder_ / "set")) {
    if (content.size() < 40) continue;
    for (const auto& [path, bytes] : twin)
      EXPECT_EQ(bytes.find(content.substr(content.size() / 2, 16)), std::string::npos) << path;
  }
  for (const auto& [path, bytes] : twin) {
    EXPECT_THAT(path, testing::AnyOf(testing::StartsWith("class_00"), ".loaderscope-dataset.json"));
    EXPECT_EQ(bytes.find("secret"), std::string::npos);
  }
}

TEST_F(Twin, RepeatsItselfAndCopiesGivenNumber) {
  make_twin(options(), {});
  const auto first = contents_below(folder_ / "twin");
  EXPECT_LE(make_twin(options(), {}).made, 1) << "what is empty is made again";
  EXPECT_EQ(contents_below(folder_ / "twin"), first);
  TwinOptions some = options();
  some.path = folder_ / "some";
  some.count = 10;
  EXPECT_EQ(make_twin(some, {}).count, 10);
  some.count = 11;
  EXPECT_THROW(make_twin(some, {}), RunError) << "another twin is there";
  some.path = folder_ / "more";
  some.count = 1000;
  EXPECT_EQ(make_twin(some, {}).count, 53);
  some.like = folder_ / "nowhere";
  EXPECT_THROW(make_twin(some, {}), RunError);
}

}  // namespace
}  // namespace loaderscope::dataset
