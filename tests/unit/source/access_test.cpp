// Ways of reading that a kernel or a file system refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/fd.h"
#include "container_bytes.h"
#include "pretend_kernel.h"
#include "source/registry.h"
#include "source/store.h"
#include "source/tar.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct WaysOfReading : testing::Test {
  TempFolder data;
  PretendKernel kernel;

  std::unique_ptr<FileSource> open(FileAccess access) {
    data.write("a.jpg", std::string(5000, 'a'));
    data.write("b.jpg", std::string(4096, 'b'));
    SourceOptions options = without_cache({data.path()});
    options.access = access;
    options.kernel = &kernel;
    return open_files(options);
  }
  static std::string read(SampleReader& reader, std::int64_t sample) {
    const auto bytes = reader.read(sample);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // Read all the same, and said why not as was asked for.
  void expect_pread(FileAccess access, const std::string& note) {
    const auto files = open(access);
    EXPECT_EQ(files->access(), FileAccess::pread);
    EXPECT_THAT(files->notes(), ElementsAre(note));
    EXPECT_EQ(read(*files->make_reader(), 0), std::string(5000, 'a'));
  }
};

TEST_F(WaysOfReading, FallsBackToPreadIfKernelRefuses) {
  kernel.no_ring = "the kernel forbids it";
  kernel.direct = DirectReads{0, "no such thing"};
  const std::string middle = " is not possible, files are read with pread: ";
  expect_pread(FileAccess::io_uring, "--access io-uring" + middle + "the kernel forbids it");
  expect_pread(FileAccess::io_uring_direct,
               "--access io-uring-direct" + middle + "the kernel forbids it");
  expect_pread(FileAccess::direct, "--access direct" + middle + "no such thing");
  EXPECT_THAT(open(FileAccess::pread)->notes(), IsEmpty());
}

TEST_F(WaysOfReading, RefusesDirectReadsOfFileSystemInMemory) {
  const std::string path = "/dev/shm/loaderscope-access-" + std::to_string(::getpid());
  const Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (fd < 0) GTEST_SKIP() << "no /dev/shm here";
  ::unlink(path.c_str());
  if (!find_file_system(fd).memory_only) GTEST_SKIP() << "/dev/shm is no tmpfs here";
  EXPECT_EQ(this_kernel().direct_reads(fd).refusal,
            "a tmpfs lies in memory, past which nothing can be read");
}

// The probe of the disk succeeds, but one file refuses direct reads.
TEST_F(WaysOfReading, ReadsRefusingFileThroughPageCache) {
  kernel.direct = DirectReads{512, ""};
  const auto files = open(FileAccess::direct);
  kernel.direct = DirectReads{0, "this one not"};
  const auto reader = files->make_reader();
  EXPECT_EQ(read(*reader, 0), std::string(5000, 'a'));
  EXPECT_EQ(read(*reader, 1), std::string(4096, 'b'));
  EXPECT_EQ(files->access(), FileAccess::direct);
  EXPECT_THAT(files->notes(),
              ElementsAre("--access direct: 2 reads went through the page cache, of files whose "
                          "file system refuses O_DIRECT"));
}

TEST_F(WaysOfReading, ReportsFileThatIsCutAfterOpening) {
  for (const FileAccess access : {FileAccess::direct, FileAccess::io_uring_direct}) {
    kernel.direct = DirectReads{512, ""};
    const auto files = open(access);
    const auto reader = files->make_reader();
    kernel.before_direct_reads = [this] { std::filesystem::resize_file(data / "a.jpg", 700); };
    EXPECT_EQ(error_message<SampleError>([&] { reader->read(0); }),
              "shrank while it was read: ended after 700 of 5000 bytes");
    EXPECT_EQ(read(*reader, 1), std::string(4096, 'b'));
    kernel.before_direct_reads = [] {};
  }
}

// The second and third sample lie in an object that is open; direct reads bring whole blocks.
TEST_F(WaysOfReading, CountsWorkOfReaders) {
  const std::string tar = data.write("0.tar", TarBytes()
                                                  .add("1.jpg", std::string(700, 'a'))
                                                  .add("2.jpg", std::string(700, 'b'))
                                                  .add("3.jpg", std::string(700, 'c'))
                                                  .finish());
  const auto counts = [&](FileAccess access) {
    SourceOptions options = without_cache({tar});
    options.access = access;
    options.kernel = &kernel;
    const auto source = open_tar(options, {});
    const auto reader = source->make_reader();
    for (std::int64_t i = 0; i < 3; ++i) reader->read(i);
    std::map<std::string, double> found;
    for (const Metric& metric : source->metrics()) found[metric.name] = metric.value;
    return found;
  };
  EXPECT_THAT(counts(FileAccess::pread),
              testing::UnorderedElementsAre(
                  testing::Pair("source.opened", 1), testing::Pair("source.requests", 3),
                  testing::Pair("source.samples", 3), testing::Pair("source.bytes_brought", 2100),
                  testing::Pair("source.bytes_of_samples", 2100)));
  kernel.direct = DirectReads{512, ""};
  auto direct = counts(FileAccess::direct);
  EXPECT_EQ(direct["source.opened"], 2);  // one to ask the file system
  EXPECT_EQ(direct["source.bytes_brought"], 3 * 1024);
}

TEST_F(WaysOfReading, ReadsAnySizeWithEveryAlignment) {
  for (const std::size_t alignment : {512U, 4096U, 65536U}) {
    for (const std::size_t size : {1U, 511U, 512U, 513U, 4095U, 4096U, 4097U, 70'000U, 3U << 20}) {
      kernel.direct = DirectReads{alignment, ""};
      data.write("a.jpg", "");
      const auto files = open(FileAccess::direct);
      const std::string bytes(size, static_cast<char>('a' + size % 26));
      data.write("a.jpg", bytes);
      EXPECT_EQ(read(*files->make_reader(), 0), bytes) << size << " by " << alignment;
    }
  }
}

TEST_F(WaysOfReading, ReportsAlignmentOfRealKernel) {
  const std::string path = data.write("x", std::string(10'000, 'x'));
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const DirectReads reads = this_kernel().direct_reads(fd);
  EXPECT_EQ(reads.alignment == 0, !reads.refusal.empty());
  if (reads.alignment > 0) {
    EXPECT_EQ(65536 % reads.alignment, 0U);
  }
}

TEST_F(WaysOfReading, ListsEveryRowAsWordOfFlag) {
  std::vector<std::string_view> names;
  for (const AccessRow& row : access_table()) {
    names.push_back(row.row.name);
    EXPECT_EQ(&access_row(row.access), &row);
  }
  EXPECT_EQ(names, loaderscope::enum_names<FileAccess>());
}

}  // namespace
}  // namespace loaderscope::source
