// The reader that reads ahead, on the real ring and on one that misbehaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "pretend_kernel.h"
#include "source/readers.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

constexpr std::int64_t kSamples = 20;
constexpr int kDepth = 4;

std::string file_bytes(std::int64_t sample) {
  std::string bytes(static_cast<std::size_t>(1 + sample * 2711 % 30'000), '\0');
  std::iota(bytes.begin(), bytes.end(), static_cast<char>(sample));
  return bytes;
}

struct RingReader : testing::Test {
  TempFolder data;
  PretendKernel kernel;
  std::unique_ptr<FileSource> files;
  std::unique_ptr<SampleReader> reader;

  void open(FileAccess access = FileAccess::io_uring) {
    for (std::int64_t i = 0; i < kSamples; ++i)
      data.write(std::to_string(100 + i) + ".jpg", file_bytes(i));
    SourceOptions options = without_cache({data.path()});
    options.access = access;
    options.queue_depth = kDepth;
    options.kernel = &kernel;
    files = open_files(options);
    reader = files->make_reader();
  }
  std::string read(std::int64_t sample) {
    const auto bytes = reader->read(sample);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  void expect(const std::vector<std::int64_t>& samples) { reader->expect(samples); }
  void expect_all_read(const std::vector<std::int64_t>& samples) {
    for (const std::int64_t sample : samples) EXPECT_EQ(read(sample), file_bytes(sample)) << sample;
  }
};

std::vector<std::int64_t> from_to(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(last - first));
  std::iota(samples.begin(), samples.end(), first);
  return samples;
}

TEST_F(RingReader, KeepsTheQueueFullAndOpensEachFileOnce) {
  kernel.faults.emplace();
  open();
  for (const std::int64_t first : {0, 10}) {
    const auto samples = from_to(first, first + 10);
    expect(samples);
    expect_all_read(samples);
  }
  EXPECT_EQ(kernel.history.opened.size(), static_cast<std::size_t>(kSamples));
  EXPECT_EQ(kernel.history.most_under_way, kDepth);
}

TEST_F(RingReader, OpensAheadInTheOrderExpected) {
  kernel.faults.emplace();
  open();
  expect({7, 3, 5, 1});
  read(7);
  EXPECT_THAT(kernel.history.opened, testing::ElementsAre(data / "107.jpg", data / "103.jpg",
                                                          data / "105.jpg", data / "101.jpg"));
}

TEST_F(RingReader, ReadsRepeatedHintsOnce) {
  kernel.faults.emplace();
  open();
  expect(from_to(0, 8));
  expect_all_read(from_to(0, 3));
  const std::size_t opened = kernel.history.opened.size();
  EXPECT_GT(opened, 3U);
  expect(from_to(3, 12));
  expect_all_read(from_to(3, 12));
  EXPECT_EQ(kernel.history.opened.size(), 12U);
}

// The budget for reading ahead holds with any depth of the queue.
TEST_F(RingReader, ReadsFewLargeSamplesAhead) {
  kernel.faults.emplace();
  open();
  const std::string large(static_cast<std::size_t>(kMaxReadAhead) / 2, 'x');
  for (const auto& name : {"105.jpg", "106.jpg", "107.jpg", "108.jpg", "109.jpg"})
    data.write(name, large);
  expect(from_to(4, 10));
  EXPECT_EQ(read(4), file_bytes(4));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(read(5 + i), large);
  EXPECT_EQ(kernel.history.opened.size(), 6U);
  kernel.history.most_under_way = 0;
  expect(from_to(4, 10));
  for (std::int64_t i = 4; i < 10; ++i) read(i);
  EXPECT_LE(kernel.history.most_under_way, 2);
}

TEST_F(RingReader, ReadsWithoutHints) {
  open();
  expect_all_read({3, 1, 2, 2, 19, 0});
}

TEST_F(RingReader, SurvivesWrongHints) {
  for (const bool pretend : {false, true}) {
    if (pretend) kernel.faults.emplace();
    open();
    expect({1, 2, 3, 4, 5, 6});
    expect_all_read({9, 1, 8, 3, 3, 7, 6, 2, 10});
    expect({4, 4, 4});
    expect_all_read({4, 4, 5});
    expect({11, 12, 13, 14});
    expect({15});
    expect_all_read({16, 15, 12});
    expect(from_to(0, kSamples));
    read(0);  // the others are under way when the reader ends
    reader.reset();
  }
}

TEST_F(RingReader, FailsOnlyForBadSample) {
  for (const bool pretend : {false, true}) {
    if (pretend) kernel.faults.emplace();
    open();
    data.write("102.jpg", "");
    std::filesystem::remove(data / "103.jpg");
    expect(from_to(0, 6));
    expect_all_read({0, 1});
    EXPECT_THROW(read(2), SampleError);
    EXPECT_THROW(read(3), SampleError);
    expect_all_read({4, 4, 5});  // once as the replacement, once as itself
    reader.reset();
  }
}

TEST_F(RingReader, HandlesShortInterruptedAndLateAnswers) {
  for (const FileAccess access : {FileAccess::io_uring, FileAccess::io_uring_direct}) {
    kernel.direct = DirectReads{512, ""};
    kernel.faults = {.most_bytes = 1024, .newest_first = true, .interrupts = true};
    open(access);
    expect(from_to(0, kSamples));
    expect_all_read(from_to(0, kSamples));
    reader.reset();
  }
}

// The kernel owns the buffers as long as calls are in flight.
TEST_F(RingReader, FinishesAllCallsWithoutDescriptors) {
  kernel.faults = {.no_descriptor_for = ".jpg"};
  open();
  expect(from_to(0, 6));
  EXPECT_THROW(read(0), RunError);
  EXPECT_GT(kernel.history.under_way, 1);
  reader.reset();
  EXPECT_EQ(kernel.history.under_way, 0);
}

TEST_F(RingReader, IgnoresFailedOpenOfUnwantedSample) {
  kernel.faults = {.no_descriptor_for = "104.jpg"};
  open();
  expect(from_to(0, 8));
  expect_all_read({0, 1});  // the answer to the open of 4 comes after these
  EXPECT_EQ(kernel.history.opened.back(), data / "104.jpg");
  expect({7, 8, 9});
  expect_all_read({7, 8, 9});
}

TEST_F(RingReader, ReadsRefusingFileThroughPageCache) {
  kernel.direct = DirectReads{512, ""};
  kernel.faults = {.refuses_direct = true};
  open(FileAccess::io_uring_direct);
  if (!change_flags(Fd(::open((data / "100.jpg").c_str(), O_RDONLY)), O_DIRECT, 0))
    GTEST_SKIP() << "no O_DIRECT here";
  expect(from_to(0, 6));
  expect_all_read(from_to(0, 6));
  EXPECT_THAT(files->notes(),
              testing::ElementsAre(testing::HasSubstr(
                  "--access io-uring-direct: 6 reads went through the page cache")));
}

TEST_F(RingReader, ReadsWithoutRingIfNoneIsLeft) {
  kernel.faults.emplace();
  kernel.rings = 1;
  open();
  reader = files->make_reader();
  expect({1, 2});
  expect_all_read({1, 2, 3});
  EXPECT_THAT(files->notes(), testing::ElementsAre("--access io-uring: 1 workers read without "
                                                   "io_uring: the kernel has no ring left"));
}

}  // namespace
}  // namespace loaderscope::source
