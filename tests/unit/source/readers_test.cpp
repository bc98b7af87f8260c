// Reading files that are not what they seem, and that change meanwhile.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "access_names.h"
#include "base/fd.h"
#include "record/family_traits.h"
#include "source/readers.h"
#include "source/tokens.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

namespace fs = std::filesystem;
using Kind = SampleError::Kind;
using testing::HasSubstr;

struct Readers : testing::TestWithParam<FileAccess> {
  TempFolder data;
  std::unique_ptr<FileSource> files;
  std::unique_ptr<SampleReader> reader;

  // The manifest lists names without looking at them.
  void open(const std::string& name, Bytes largest = 1 << 30) {
    SourceOptions options = without_cache({});
    options.access = GetParam();
    options.largest_sample = largest;
    options.index_file = data.write("list.csv", "path\n" + name + "\n");
    files = open_files(options);
    reader = files->make_reader();
  }
  void expect_error(Kind kind, const std::string& text) {
    try {
      reader->read(0);
      ADD_FAILURE() << "was read";
    } catch (const SampleError& error) {
      EXPECT_EQ(error.kind, kind);
      EXPECT_THAT(error.what(), HasSubstr(text));
      EXPECT_THAT(error.what(), testing::Not(HasSubstr(data.path())));
    }
  }
};

TEST_P(Readers, RejectsMissingFilesFoldersAndPipes) {
  open("gone.jpg");
  expect_error(Kind::unreadable, "No such file or directory");
  fs::create_symlink("nowhere", data / "link.jpg");
  open("link.jpg");
  expect_error(Kind::unreadable, "link to a file that is missing");
  fs::create_directory(data / "folder.jpg");
  open("folder.jpg");
  expect_error(Kind::unreadable, "is a folder");
  ASSERT_EQ(::mkfifo((data / "pipe.jpg").c_str(), 0600), 0);
  open("pipe.jpg");
  expect_error(Kind::unreadable, "not a regular file");
}

// A run error, because the next sample could not be opened either.
TEST_P(Readers, FailsWithoutFileDescriptors) {
  data.write("good.jpg");
  open("good.jpg");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const Fd lowest(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(lowest) + 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::string message = error_message<RunError>([&] { reader->read(0); });
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT(message, HasSubstr("good.jpg: cannot be opened: Too many open files; "));
  EXPECT_THAT(message, HasSubstr("ulimit -n"));
  EXPECT_EQ(reader->read(0).size(), 1U);
}

TEST_P(Readers, RejectsEmptyAndTooLargeFiles) {
  data.write("empty.jpg", "");
  open("empty.jpg");
  expect_error(Kind::truncated, "is empty");
  data.write("large.jpg", "");
  fs::resize_file(data / "large.jpg", 1'000'000'000'000);  // a hole
  open("large.jpg");
  expect_error(Kind::too_large, "has 1000000000000 bytes");
}

TEST_P(Readers, ReportsUnreadableFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  fs::permissions(data.write("secret.jpg"), fs::perms::none);
  open("secret.jpg");
  expect_error(Kind::not_allowed, "Permission denied");
}

// Many rounds, because the file may be cut before, during and after a read.
TEST_P(Readers, ReportsFileThatShrinksDuringRead) {
  constexpr std::uintmax_t kWhole = 32 << 20;
  const std::string path = data.write("shrinks.jpg", "");
  fs::resize_file(path, kWhole);
  open("shrinks.jpg");
  std::atomic<bool> done{false};
  std::jthread other([&] {
    for (unsigned i = 0; !done; ++i) {
      fs::resize_file(path, 5'000'000 + i % 4096);
      fs::resize_file(path, kWhole);
      std::this_thread::sleep_for(std::chrono::milliseconds(i % 8));
    }
  });
  int truncated = 0;
  for (int i = 0; i < 400 && truncated < 3; ++i) {
    try {
      reader->read(0);
    } catch (const SampleError& error) {
      EXPECT_EQ(error.kind, Kind::truncated) << error.what();
      ++truncated;
    }
  }
  done = true;
  // No file is cut while the kernel reads it directly; access_test.cpp cuts one before.
  if (!access_traits(GetParam()).is_direct) {
    EXPECT_GT(truncated, 0);
  }
}

// An object with several samples stays open, and stays mapped with mmap.
TEST_P(Readers, ReadsRestOfObjectThatWasCut) {
  const std::string path = data.write("tokens.bin", std::string(1 << 20, 'x'));
  SourceOptions options = without_cache({path});
  options.access = GetParam();
  options.words["length"] = "4096";
  const auto tokens = open_tokens(options, {});
  const auto token_reader = tokens->make_reader();
  ASSERT_EQ(tokens->size(), 128);
  for (const std::int64_t sample : {0, 127, 64})
    EXPECT_EQ(token_reader->read(sample).size(), 8192U);
  fs::resize_file(path, 100 * 8192 + 100);
  EXPECT_EQ(token_reader->read(99).size(), 8192U);
  for (const std::int64_t sample : {100, 127}) {
    try {
      token_reader->read(sample);
      ADD_FAILURE() << "was read";
    } catch (const SampleError& error) {
      EXPECT_EQ(error.kind, Kind::truncated) << error.what();
    }
  }
}

// Holds for readers with and without a copy. A sample that ends in zeros is whole, too.
TEST_P(Readers, ReadsToGivenPlace) {
  std::string stored(3 * 8192, 'x');
  std::fill_n(stored.begin() + 8192 + 100, 8192 - 100, '\0');
  const std::string path = data.write("tokens.bin", stored);
  SourceOptions options = without_cache({path});
  options.access = GetParam();
  options.words = {{"length", "40"}};  // 80 bytes
  const auto tokens = open_tokens(options, {});
  const auto token_reader = tokens->make_reader();
  for (std::int64_t sample = 0; sample < tokens->size(); ++sample) {
    std::string place(90, '.');
    const auto bytes = token_reader->read_to(sample, reinterpret_cast<std::byte*>(place.data()));
    EXPECT_EQ(reinterpret_cast<const char*>(bytes.data()), place.data());
    EXPECT_EQ(bytes.size(), 80U);
    const auto from = static_cast<std::size_t>(80 * sample);
    EXPECT_EQ(place, stored.substr(from, 80) + std::string(10, '.')) << sample;
  }
}

// Holds also for an object that ends in zeros, as the cut part of a mapped page reads as zeros.
TEST_P(Readers, RejectsZerosPastTheEnd) {
  const std::string path = data.write("tokens.bin", std::string(8192, '\0') + "yy");
  SourceOptions options = without_cache({path});
  options.access = GetParam();
  options.words = {{"length", "40"}};
  const auto tokens = open_tokens(options, {});
  const auto token_reader = tokens->make_reader();
  EXPECT_EQ(token_reader->read(0).size(), 80U);
  fs::resize_file(path, 4096 + 160 + 79);
  for (const std::int64_t sample : {0, 50, 51, 52})
    EXPECT_EQ(token_reader->read(sample).size(), 80U);
  for (const std::int64_t sample : {54, 101}) {
    std::string place(80, '.');
    try {
      token_reader->read_to(sample, reinterpret_cast<std::byte*>(place.data()));
      ADD_FAILURE() << sample << " was read";
    } catch (const SampleError& error) {
      EXPECT_EQ(error.kind, Kind::truncated) << error.what();
    }
  }
}

TEST_P(Readers, ReadsLargeAndSmallFilesInAnyOrder) {
  std::string list = "path\n";
  const std::vector<std::size_t> sizes = {10, 5'000'001, 4096, 1, 12 << 20, 4097, 5'000'001};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string name = std::to_string(i) + ".jpg";
    data.write(name, std::string(sizes[i], static_cast<char>('a' + i)));
    list += name + (i + 1 < sizes.size() ? "\n" : "");
  }
  open(list.substr(5));
  const std::vector<std::int64_t> samples = {0, 1, 2, 3, 4, 5, 6, 3, 1};
  reader->expect(samples);
  for (const std::int64_t sample : samples) {
    const auto i = static_cast<std::size_t>(sample);
    const auto bytes = reader->read(sample);
    ASSERT_EQ(bytes.size(), sizes[i]);
    EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(),
                            [i](std::byte b) { return b == static_cast<std::byte>('a' + i); }));
  }
}

INSTANTIATE_TEST_SUITE_P(Access, Readers, testing::ValuesIn(all_accesses()),
                         [](const auto& test) { return access_test_name(test.param); });

TEST(CopyGuarded, StopsWhereTheFileWasCut) {
  const TempFolder data;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::string path = data.write("x", std::string(3 * page, 'x'));
  const Fd fd(::open(path.c_str(), O_RDONLY));
  void* mapped = ::mmap(nullptr, 3 * page, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  fs::resize_file(path, page);
  std::vector<std::byte> bytes(3 * page);
  EXPECT_EQ(copy_guarded(bytes, static_cast<const std::byte*>(mapped)), page);
  ::munmap(mapped, 3 * page);
}

}  // namespace
}  // namespace loaderscope::source
