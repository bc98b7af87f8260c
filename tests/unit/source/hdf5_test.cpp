// HDF5: what h5py wrote, its chunks, its lock, and files that cannot be used.
#include "source/hdf5.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "base/thread_io.h"
#include "fixtures.h"
#include "hdf5_writer.h"
#include "loaderscope/errors.h"
#include "source/hdf5_library.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<Source> open(const std::string& path, const FormatParameters& words = {}) {
  SourceOptions options = without_cache({path});
  options.words = words;
  return open_hdf5(options, {});
}
std::string why_not(const std::string& path, const FormatParameters& words = {}) {
  return error_message<RunError>([&] { open(path, words); });
}
double value_of_metric(const Source& source, std::string_view name) {
  return value_of(source.metrics(), name).value_or(-1);
}

TEST(Hdf5, ReadsRowsOfH5pyInAnyOrder) {
  const auto source = open(fixture("hdf5/images.h5"));
  ASSERT_EQ(source->size(), kFixtureSamples);
  EXPECT_EQ(source->sample_bytes(), 60);
  const auto reader = source->make_reader();
  for (const std::int64_t row : {6, 0, 3, 5, 1}) {
    std::string bytes;
    for (std::int64_t i = 0; i < 60; ++i) bytes += static_cast<char>((row * 60 + i) % 251);
    EXPECT_EQ(read_sample(*reader, row), bytes) << row;
  }
  EXPECT_THAT(source->notes(),
              ElementsAre("train/images: chunks of 2 rows (120 B, deflate), each read as a "
                          "whole"));
  EXPECT_THAT(source->describe(3), HasSubstr("images.h5[3]"));
}

TEST(Hdf5, RequiresNameIfThereAreSeveralDataSets) {
  EXPECT_THAT(why_not(fixture("hdf5/two.h5")),
              HasSubstr("holds the data sets images, masks, names; choose one with ?dataset=NAME"));
  EXPECT_EQ(open(fixture("hdf5/two.h5"), {{"dataset", "masks"}})->size(), kFixtureSamples);
  EXPECT_THAT(why_not(fixture("hdf5/two.h5"), {{"dataset", "names"}}),
              HasSubstr("names holds no plain numbers"));
  EXPECT_THAT(why_not(fixture("hdf5/two.h5"), {{"dataset", "x"}}), HasSubstr("x cannot be opened"));
  EXPECT_THAT(why_not(fixture("hdf5/images.h5"), {{"dataset", "train/labels"}}),
              HasSubstr("one long row of numbers"));
  const auto windows =
      open(fixture("hdf5/images.h5"), {{"dataset", "train/labels"}, {"length", "3"}});
  EXPECT_EQ(windows->size(), 2);
  EXPECT_EQ(windows->sample_bytes(), 24);
}

TEST(Hdf5, NamesMissingFilter) {
  EXPECT_THAT(why_not(fixture("hdf5/lzf.h5")),
              testing::AllOf(HasSubstr("is packed by the filter 32000 (lzf)"),
                             HasSubstr("HDF5_PLUGIN_PATH")));
}

TEST(Hdf5, ReadsLargeChunksForEverySample) {
  const TempFolder data;
  const std::string path = data / "rows.h5";
  std::string bytes;
  std::uint64_t noise = 1;
  for (int i = 0; i < 64 * 1000; ++i) {
    noise = noise * 6364136223846793005u + 1442695040888963407u;
    bytes += static_cast<char>(noise >> 56);
  }
  write_hdf5(path, bytes, {64, 1000}, {64, 1000});
  const auto read_all = [&](const char* cache) {
    const auto source = open(path, {{"chunk-cache", cache}});
    const auto reader = source->make_reader();
    for (std::int64_t i = 0; i < 64; ++i)
      EXPECT_EQ(read_sample(*reader, i), bytes.substr(static_cast<std::size_t>(i) * 1000, 1000));
    return value_of_metric(*source, "source.bytes_brought") /
           value_of_metric(*source, "source.bytes_of_samples");
  };
  if (!ThreadIo().is_known()) GTEST_SKIP() << "this kernel does not count what a thread reads";
  EXPECT_NEAR(read_all("1MiB"), 1, 0.2);
  EXPECT_NEAR(read_all("1KiB"), 64, 2);
  EXPECT_THAT(open(path, {{"chunk-cache", "1KiB"}})->notes(),
              ElementsAre(HasSubstr("more than the chunk cache holds")));
}

TEST(Hdf5, CountsWaitsForTheLibraryLock) {
  const TempFolder data;
  write_hdf5(data / "rows.h5", std::string(100 * 50'000, 'x'), {100, 50'000}, {1, 50'000});
  const auto source = open(data / "rows.h5");
  EXPECT_TRUE(source->details().empty());
  // Threads on a crowded machine may run one after another, so several rounds are allowed.
  for (int round = 0; round < 50 && source->details().empty(); ++round) {
    std::vector<std::jthread> threads;
    for (std::int64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        const auto reader = source->make_reader();
        for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(reader->read(i).size(), 50'000u);
      });
    }
  }
  EXPECT_GT(value_of_metric(*source, "source.waited_for_lock_s"), 0);
  ASSERT_EQ(source->details().size(), 1u);
  EXPECT_EQ(source->details().front().text, "waiting for HDF5's lock");
}

// The pitfall of its users: a file that was opened before the fork.
TEST(Hdf5, ReopensFileInForkedProcess) {
  const auto source = open(fixture("hdf5/images.h5"));
  const auto before = source->make_reader();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto reader = source->make_reader();
    ::_exit(reader->read(1).size() == 60 ? 0 : 1);
  }
  EXPECT_EQ(before->read(2).size(), 60u);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Hdf5, RejectsForeignAndCutFiles) {
  const TempFolder data;
  EXPECT_THAT(
      why_not(data.write("0.h5", "no HDF5")),
      testing::AllOf(HasSubstr("is no HDF5 file that can be read"), HasSubstr("signature")));
  const std::string whole = content_of_fixture("hdf5/images.h5");
  for (const std::size_t size : {std::size_t{100}, whole.size() / 2, whole.size() - 1})
    EXPECT_NE(why_not(data.write("0.h5", whole.substr(0, size))), "") << size;
}

// Changes the header fields that locate the rows of a contiguous data set.
TEST(Hdf5, RejectsRowsOutsideTheirPlace) {
  const TempFolder data;
  const std::string path = data / "rows.h5";
  write_hdf5(path, std::string(64 * 1000, 'x'), {64, 1000}, {});
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const std::uint64_t bytes = 64 * 1000;
  const std::size_t size_at = whole.find({reinterpret_cast<const char*>(&bytes), sizeof bytes});
  const std::size_t place_at = size_at - 8, kind_at = place_at - 1;
  ASSERT_EQ(whole.substr(kind_at - 1, 2), "\3\1");  // layout version 3, and "contiguous"
  const auto with = [&](std::size_t at, std::uint64_t bits, std::size_t count) {
    std::string changed = whole;
    std::memcpy(changed.data() + at, &bits, count);
    static int number = 0;
    return data.write(std::to_string(number++) + ".h5", changed);
  };
  EXPECT_EQ(open(with(size_at, bytes, 8))->size(), 64);
  // In place of "contiguous": within the header, no bytes.
  for (const std::string& damaged : {with(kind_at, 0, 3), with(size_at, bytes - 1, 8),
                                     with(place_at, 1 << 20, 8), with(place_at, ~1ull, 8)})
    EXPECT_THAT(why_not(damaged), HasSubstr("is damaged: its rows")) << damaged;
}

// The library would read zeros for rows that are missing in the other files.
TEST(Hdf5, RejectsRowsInOtherFilesIfMissing) {
  const TempFolder data;
  data.write("rows.raw", std::string(10, 'x'));
  const auto made = [&](const std::string& name, const std::function<void(hid_t, hid_t)>& place) {
    const hsize_t axes[] = {64, 10};
    const Hdf5Id file(::H5Fcreate((data / name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                      ::H5Fclose);
    const Hdf5Id space(::H5Screate_simple(2, axes, nullptr), ::H5Sclose);
    const Hdf5Id creation(::H5Pcreate(H5P_DATASET_CREATE), ::H5Pclose);
    place(creation, space);
    const Hdf5Id rows(
        ::H5Dcreate2(file, "rows", H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT),
        ::H5Dclose);
    EXPECT_GE(rows, 0);
    return data / name;
  };
  const std::string external = made("external.h5", [&](hid_t creation, hid_t) {
    ::H5Pset_external(creation, (data / "rows.raw").c_str(), 0, 640);
  });
  EXPECT_THAT(why_not(external), HasSubstr("keeps its rows in other files (external storage)"));
  const auto virtual_rows = [&](const char* other) {
    return [other](hid_t creation, hid_t space) {
      ::H5Pset_virtual(creation, space, other, "rows", space);
    };
  };
  EXPECT_THAT(why_not(made("virtual.h5", virtual_rows("other.h5"))),
              HasSubstr("has rows in other.h5, which is not there"));
  write_hdf5(data / "other.h5", std::string(640, 'x'), {64, 10}, {});
  EXPECT_EQ(read_sample(*open(made("virtual.h5", virtual_rows("other.h5")))->make_reader(), 63),
            std::string(10, 'x'));
}

// The packed chunks have 8 rows each. The changed file claims more rows, for which the library
// would read outside of its unpacked bytes.
TEST(Hdf5, RejectsChunksShorterThanStated) {
  const TempFolder data;
  const std::string path = data / "rows.h5";
  write_hdf5(path, std::string(64 * 1000, 'x'), {64, 1000}, {8, 1000});
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const std::uint32_t lengths[] = {8, 1000, 1};
  const std::size_t at = whole.find({reinterpret_cast<const char*>(lengths), sizeof lengths});
  ASSERT_NE(at, std::string::npos);
  for (const int rows : {9, 16, 63, 64}) {
    std::string changed = whole;
    changed[at] = static_cast<char>(rows);
    EXPECT_THAT(why_not(data.write(std::to_string(rows) + ".h5", changed)),
                HasSubstr("is damaged: its chunks are not as long as it says"));
  }
  EXPECT_EQ(open(path)->size(), 64);
}

TEST(Hdf5, ReadsZerosForUnwrittenRows) {
  const TempFolder data;
  write_hdf5(data / "rows.h5", "", {64, 1000}, {});
  const auto source = open(data / "rows.h5");
  EXPECT_EQ(read_sample(*source->make_reader(), 63), std::string(1000, '\0'));
}

// The files are only opened. The library reads beyond its memory for rows of some of them.
TEST(Hdf5, SurvivesChangedBytes) {
  const TempFolder data;
  const std::string whole = content_of_fixture("hdf5/images.h5");
  std::string changed = whole;
  for (std::size_t i = 0; i < changed.size(); i += 97) {
    changed[i] = static_cast<char>(changed[i] ^ 0x55);
    // The library remembers a file that it could not close, so each file has a new name.
    const std::string path = data.write(std::to_string(i) + ".h5", changed);
    try {
      EXPECT_GT(open(path, {{"dataset", "train/images"}})->size(), 0);
    } catch (const RunError& error) {
      EXPECT_STRNE(error.what(), "");
    }
    changed[i] = whole[i];
  }
}

}  // namespace
}  // namespace loaderscope::source
