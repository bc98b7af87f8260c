// Images of a batch through nvJPEG: pixels, refusals, chunks, memory and times.
#include "device/cuda/jpeg_batch_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "device/cuda/jpeg_refusal.h"
#include "loaderscope/errors.h"
#include "unit/decode/check_decoder.h"
#include "unit/device/jpeg_decoder_fixture.h"

namespace loaderscope::cuda {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Way = JpegOutcome::Way;

class JpegBatchDecoderTest : public JpegDecoderFixture {};

TEST_F(JpegBatchDecoderTest, DecodesWholeImagesOfAllSubsamplings) {
  make_decoder(8);
  for (const auto& [horizontal, vertical] : {std::pair{1, 1}, {2, 1}, {2, 2}, {1, 2}})
    add({image(3, {.horizontal = horizontal, .vertical = vertical})});
  add({image(4, {.horizontal = 1, .vertical = 1}, 96, 80, 1)});
  ASSERT_TRUE(decode());
  expect_all_pixels();
  EXPECT_EQ(count(Way::engines), 5U);
  EXPECT_EQ(nvjpeg_->calls("set_region"), 1);  // the first image, before any batch
  end_decoder();
}

TEST_F(JpegBatchDecoderTest, DecodesRegions) {
  make_decoder(40);
  std::mt19937 random(5);
  for (unsigned i = 0; i < 40; ++i) add(image(i % 4), made::random_region(random, 96, 80));
  ASSERT_TRUE(decode());
  expect_all_pixels();
  EXPECT_EQ(count(Way::engines), 40U);
  end_decoder();
}

TEST_F(JpegBatchDecoderTest, LeavesRefusedImagesToHost) {
  make_decoder(8);
  add({image(1), image(2, {.progressive = true}),
       image(3, {.horizontal = 1, .vertical = 1, .stored_as = JCS_CMYK}, 96, 80, 4),
       image(4, {.horizontal = 4, .vertical = 1}), image(5, {.arithmetic = true}),
       image(6, {.horizontal = 1, .vertical = 1, .scan_per_colour = true}), image(7, {}, 15, 64),
       image(8)});
  ASSERT_TRUE(decode());
  std::vector<std::string_view> reasons;
  for (const JpegOutcome& outcome : outcomes_) reasons.push_back(outcome.reason);
  EXPECT_THAT(reasons, ElementsAre("", "progressive", "cmyk", "subsampling", "coding", "other",
                                   "small", ""));
  EXPECT_EQ(count(Way::engines), 2U);
  EXPECT_EQ(count(Way::cpu), 6U);
  EXPECT_THAT(batches(), ElementsAre(2U));
  for (std::size_t i : {0U, 1U, 3U, 4U, 5U, 6U, 7U}) expect_pixels(i);
  EXPECT_TRUE(std::none_of(outcomes_.begin(), outcomes_.end(),
                           [](const JpegOutcome& outcome) { return outcome.error.has_value(); }));
  end_decoder();
}

TEST_F(JpegBatchDecoderTest, LeavesWholeBatchToHost) {
  make_decoder(4);
  for (unsigned seed = 0; seed < 4; ++seed) add({image(seed, {.progressive = true})});
  ASSERT_TRUE(decode());
  expect_all_pixels();
  EXPECT_EQ(count(Way::cpu), 4U);
  EXPECT_THAT(batches(), ElementsAre());
  end_decoder();
}

TEST_F(JpegBatchDecoderTest, ReportsImagesWithoutPixels) {
  make_decoder(8);
  const made::ByteVector good = image(1);
  made::ByteVector truncated = good, no_jpeg(200, std::byte{7}), damaged = good;
  truncated.resize(truncated.size() / 2);
  std::fill(damaged.begin() + 2, damaged.begin() + 40, std::byte{0});
  for (const made::ByteVector& stored : {good, truncated, no_jpeg, damaged, good})
    add(stored, {0, 0, 96, 80});
  ASSERT_TRUE(decode());
  for (std::size_t i : {1U, 2U, 3U}) {
    EXPECT_EQ(outcomes_[i].way, Way::cpu) << i;
    EXPECT_EQ(outcomes_[i].reason, "damaged") << i;
    ASSERT_TRUE(outcomes_[i].error.has_value()) << i;
  }
  EXPECT_EQ(outcomes_[1].error->kind, SampleError::Kind::truncated);
  EXPECT_EQ(outcomes_[2].error->kind, SampleError::Kind::unsupported);
  EXPECT_THAT(batches(), ElementsAre(2U));
  expect_pixels(0);
  expect_pixels(4);
  end_decoder();
}

TEST_F(JpegBatchDecoderTest, SendsMultiplesOfEnginesTimesCores) {
  nvjpeg_->engines = 3;
  nvjpeg_->cores = 2;
  make_decoder(200);
  EXPECT_EQ(decoder_->facts().chunk, 66U);
  add(images(200));
  ASSERT_TRUE(decode());
  EXPECT_THAT(batches(), ElementsAre(66U, 66U, 66U, 2U));
  expect_all_pixels();
  end_decoder();
}

TEST(JpegChunkSize, PicksMultipleOfEnginesNearestTo64) {
  EXPECT_EQ(choose_chunk(256, 7, 1), 63U);
  EXPECT_EQ(choose_chunk(256, 5, 2), 60U);
  EXPECT_EQ(choose_chunk(256, 1, 1), 64U);
  EXPECT_EQ(choose_chunk(256, 50, 2), 100U);
  EXPECT_EQ(choose_chunk(32, 7, 1), 28U);
  EXPECT_EQ(choose_chunk(5, 7, 1), 5U);
  EXPECT_EQ(choose_chunk(32, 0, 0), 32U);
  EXPECT_EQ(choose_chunk(100, 0, 0), 100U);
  EXPECT_EQ(choose_chunk(150, 0, 0), 75U);
  EXPECT_EQ(choose_chunk(256, 0, 0), 64U);
}

// The pretended nvJPEG fails the test if a state is used while it decodes.
TEST_F(JpegBatchDecoderTest, KeepsTwoChunksInFlight) {
  nvjpeg_->image_takes = kMillisecond;
  make_decoder(126);
  const Nanos before = runtime_.now();
  for (int round = 0; round < 3; ++round) {
    stored_.clear();
    tasks_.clear();
    add(images(126));
    ASSERT_TRUE(decode());
    expect_all_pixels();
  }
  EXPECT_THAT(batches(), Each(63U));
  const std::vector<PretendRuntime::Work> work = runtime_.work("jpeg");
  int touching = 0;
  for (std::size_t i = 1; i < work.size(); ++i) {
    if (work[i - 1].begin > before && work[i].begin == work[i - 1].end) ++touching;
  }
  EXPECT_GE(touching, 3);  // the second chunk of each batch was there before the first ended
  end_decoder();
}

TEST_F(JpegBatchDecoderTest, CallsNoAllocatorAfterItWasMade) {
  make_decoder(64);
  const auto allocations = [&] {
    return runtime_.calls("allocate") + runtime_.calls("allocate_host") +
           runtime_.calls("make_event") + runtime_.calls("make_stream") +
           runtime_.calls("register_host");
  };
  const int before = allocations();
  for (int round = 0; round < 3; ++round) {
    add(images(20));
    add({image(1, {.progressive = true})});
    ASSERT_TRUE(decode());
  }
  EXPECT_EQ(allocations(), before);
  EXPECT_GT(decoder_->facts().arena_peak, std::size_t{2} * 63 * 3 * 96 * 80 - 1);
  EXPECT_GT(decoder_->facts().pinned_arena_peak, 0U);
  EXPECT_EQ(decoder_->facts().shortages, 0);
  end_decoder();
}

TEST_F(JpegBatchDecoderTest, RecordsEventsAroundTheWork) {
  nvjpeg_->image_takes = kMillisecond;
  make_decoder(70);
  add(images(70));
  ASSERT_TRUE(decode());
  double ms = 0;
  ASSERT_TRUE(runtime_.elapsed(begin_, end_, ms).ok());
  EXPECT_NEAR(ms, 10, 0.2);  // 9 rounds of 7 images, and 1 more
  end_decoder();
}

TEST_F(JpegBatchDecoderTest, RecordsEventsOfEmptyBatch) {
  make_decoder(4);
  ASSERT_TRUE(decode());
  double ms = -1;
  ASSERT_TRUE(runtime_.elapsed(begin_, end_, ms).ok());
  EXPECT_GE(ms, 0);
  end_decoder();
}

TEST_F(JpegBatchDecoderTest, RejectsGpuWithoutEngines) {
  nvjpeg_->engines = 0;
  try {
    make_decoder(4);
    FAIL() << "a GPU without engines is taken";
  } catch (const RunError& error) {
    EXPECT_EQ(error.sentence(), "GPU 0 has no JPEG engines");
    EXPECT_EQ(error.hint(), "give --decode gpu or cpu");
  }
  end_decoder();
}

TEST_F(JpegBatchDecoderTest, DecodesMoreImagesWithCuda) {
  nvjpeg_->engines = 0;
  JpegDecoderOptions cuda = options(8);
  cuda.backend = nvjpeg::Backend::gpu_hybrid;
  make_decoder(cuda);
  EXPECT_FALSE(decoder_->takes_regions());
  add({image(1), image(2, {.progressive = true}), image(3, {.horizontal = 4, .vertical = 1}),
       image(4, {.arithmetic = true})});
  add(image(5), {8, 8, 20, 10});
  ASSERT_TRUE(decode());
  expect_all_pixels();
  EXPECT_EQ(count(Way::cuda), 3U);
  EXPECT_EQ(outcomes_[3].reason, "coding");
  EXPECT_EQ(outcomes_[4].reason, "region");
  EXPECT_EQ(nvjpeg_->calls("ask_support"), 0);
  end_decoder();
}

TEST_F(JpegBatchDecoderTest, LeavesRegionsToHostIfEnginesRefuseThem) {
  nvjpeg_->has_regions = false;
  make_decoder(8);
  EXPECT_FALSE(decoder_->takes_regions());
  add(image(1), {8, 8, 20, 10});
  add({image(2)});
  ASSERT_TRUE(decode());
  expect_all_pixels();
  EXPECT_EQ(outcomes_[0].reason, "region");
  EXPECT_EQ(outcomes_[1].way, Way::engines);
  end_decoder();
}

TEST_F(JpegBatchDecoderTest, ReportsArenaThatIsTooSmall) {
  JpegDecoderOptions small = options(64);
  small.arena_bytes = std::size_t{1} << 20;
  try {
    make_decoder(small);
    FAIL() << "an arena is taken that is too small";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("NVJPEG_STATUS_ALLOCATOR_FAILURE"));
  }
  EXPECT_EQ(nvjpeg_->owned(), 0);
}

TEST_F(JpegBatchDecoderTest, SuggestsArenaForTwoChunks) {
  JpegDecoderOptions suggested = options(64);
  suggested.arena_bytes = suggested_arena_bytes(64, 96, 80);
  make_decoder(suggested);
  EXPECT_EQ(decoder_->facts().arena_bytes,
            (std::size_t{256} << 20) + std::size_t{2} * 64 * 3 * 7680);
  EXPECT_LE(decoder_->facts().arena_peak, decoder_->facts().arena_bytes);
  end_decoder();
}

TEST(JpegRefusal, NamesReasonsOfHeader) {
  using nvjpeg::Backend, nvjpeg::Encoding, nvjpeg::Subsampling;
  JpegFacts facts{100, 100, 3, Encoding::baseline, Subsampling::s420};
  EXPECT_EQ(find_refusal(facts, Backend::hardware), "");
  facts.width = 20'000;
  EXPECT_EQ(find_refusal(facts, Backend::hardware), "large");
  EXPECT_EQ(find_refusal(facts, Backend::gpu_hybrid), "");
  facts.encoding = Encoding::extended;
  EXPECT_EQ(find_refusal(facts, Backend::hardware), "coding");
  facts = {100, 100, 3, Encoding::progressive, Subsampling::s410};
  EXPECT_EQ(find_refusal(facts, Backend::hardware), "progressive");
  EXPECT_EQ(find_refusal(facts, Backend::gpu_hybrid), "");
}

}  // namespace
}  // namespace loaderscope::cuda
