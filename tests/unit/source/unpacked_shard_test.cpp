// Checks that compressed shards give their content in pieces of any size, and report damage.
#include "source/shard_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "loaderscope/errors.h"
#include "packed_bytes.h"
#include "source/read_counts.h"
#include "temp_folder.h"

namespace loaderscope::source {
namespace {

using testing::HasSubstr;

class BytesInMemory final : public ShardBytes {
 public:
  explicit BytesInMemory(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t read(Bytes begin, std::span<std::byte> to) override {
    const std::string piece =
        bytes_.substr(std::min(static_cast<std::size_t>(begin), bytes_.size()), to.size());
    std::memcpy(to.data(), piece.data(), piece.size());
    return piece.size();
  }

 private:
  std::string bytes_;
};

struct NotedStages : SubstageListener {
  int entered = 0, left = 0;
  void enter(Stage stage) override {
    EXPECT_EQ(stage, Stage::read_decompress);
    EXPECT_EQ(entered++, left);
  }
  void leave() override { ++left; }
};

// A shard that is unpacked, with all that it needs.
struct Unpacked {
  BytesInMemory packed;
  ReadCounts counts;
  NotedStages stages;
  std::optional<UnpackedShard> shard;

  explicit Unpacked(const std::string& bytes) : packed(bytes) {
    const CompressionRow* row = detect_compression(packed);
    if (row == nullptr || row->make == nullptr) throw std::runtime_error("is not read");
    shard.emplace(packed, *row, counts, stages);
  }
  std::string read(Bytes begin, std::size_t bytes) {
    std::string text(bytes, '?');
    text.resize(shard->read(begin, std::as_writable_bytes(std::span(text))));
    return text;
  }
  // Reads the shard in pieces of `piece` bytes.
  std::string read_all(std::size_t piece) {
    std::string all;
    for (;;) {
      const std::string next = read(std::ssize(all), piece);
      all += next;
      if (next.size() < piece) return all;
    }
  }
};

// Text that is packed to about a third, and noise.
std::string make_noisy_text(std::size_t bytes) {
  std::string text;
  unsigned state = 1;
  while (text.size() < bytes) {
    state = state * 1664525 + 1013904223;
    text += text.size() % 3000 < 2000 ? static_cast<char>(state >> 24)
                                      : static_cast<char>('a' + (text.size() / 100) % 20);
  }
  return text;
}

class UnpackedShards : public testing::TestWithParam<Packing> {
 protected:
  static std::string pack(std::string_view text) { return GetParam().pack(text); }
  static std::optional<SampleError> read_error(const std::string& packed) {
    try {
      Unpacked(packed).read_all(1000);
    } catch (const SampleError& error) {
      return error;
    }
    return std::nullopt;
  }
};

TEST_P(UnpackedShards, ReturnsPackedText) {
  for (const std::size_t size : {0U, 1U, 512U, 65'536U, 300'000U}) {
    const std::string text = make_noisy_text(size), packed = pack(text);
    for (const std::size_t piece : {100U, 512U, 65'536U, 65'537U, 1'000'000U}) {
      Unpacked unpacked(packed);
      EXPECT_TRUE(unpacked.read_all(piece) == text) << size << " by " << piece;
      EXPECT_EQ(unpacked.shard->packed_bytes(), std::ssize(packed));
      EXPECT_EQ(unpacked.stages.entered, unpacked.stages.left);
      EXPECT_GT(unpacked.stages.entered, 0);
    }
  }
}

TEST_P(UnpackedShards, SkipsUnrequestedBytes) {
  const std::string text = make_noisy_text(500'000);
  Unpacked unpacked(pack(text));
  EXPECT_TRUE(unpacked.read(10, 100) == text.substr(10, 100));
  EXPECT_TRUE(unpacked.read(200'000, 150'000) == text.substr(200'000, 150'000));
  EXPECT_TRUE(unpacked.read(350'000, 10) == text.substr(350'000, 10));
  EXPECT_TRUE(unpacked.read(499'999, 10) == text.substr(499'999));
  EXPECT_EQ(unpacked.read(600'000, 10), "");
  EXPECT_NO_THROW(unpacked.shard->check_rest());
}

TEST_P(UnpackedShards, JoinsSeveralParts) {
  const std::string first = make_noisy_text(70'000), last = make_noisy_text(3);
  Unpacked unpacked(pack(first) + pack("") + pack(last));
  EXPECT_TRUE(unpacked.read_all(900) == first + last);
}

TEST_P(UnpackedShards, ReportsCutAnywhere) {
  const std::string text = make_noisy_text(100'000), packed = pack(text);
  for (std::size_t size = 6; size < packed.size(); size += 1 + size / 7) {
    Unpacked unpacked(packed.substr(0, size));
    std::string all;
    try {
      while (all.size() < text.size()) all += unpacked.read(std::ssize(all), 10);
      unpacked.shard->check_rest();
      ADD_FAILURE() << size;
    } catch (const SampleError& error) {
      EXPECT_EQ(error.kind, SampleError::Kind::truncated) << size;
      EXPECT_THAT(error.what(), HasSubstr("end early: the shard is cut"));
    }
    EXPECT_TRUE(text.starts_with(all)) << size;
  }
}

TEST_P(UnpackedShards, ReportsChangesAsDamage) {
  const std::string packed = pack(make_noisy_text(100'000));
  for (const std::size_t at : {packed.size() / 2, packed.size() - 5, packed.size() - 3}) {
    std::string changed = packed;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const auto error = read_error(changed);
    ASSERT_TRUE(error) << at;
    EXPECT_EQ(error->kind, SampleError::Kind::damaged) << at;
    EXPECT_THAT(error->what(), HasSubstr("data are damaged: "));
  }
  EXPECT_EQ(read_error(packed + "something else")->kind, SampleError::Kind::damaged);
}

TEST_P(UnpackedShards, CountsPackedAndUnpackedBytes) {
  const std::string text(1'000'000, 'x'), packed = pack(text);
  Unpacked unpacked(packed);
  unpacked.read_all(1000);
  const std::vector<Metric> metrics = unpacked.counts.metrics();
  EXPECT_EQ(value_of(metrics, "source.bytes_unpacked"), 1e6);
  EXPECT_EQ(value_of(metrics, "source.unpacked_per_byte"),
            1e6 / static_cast<double>(packed.size()));
  EXPECT_FALSE(value_of(ReadCounts().metrics(), "source.bytes_unpacked"));
}

INSTANTIATE_TEST_SUITE_P(Packed, UnpackedShards, testing::ValuesIn(packings()),
                         [](const auto& test) { return std::string(test.param.row); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(UnpackedShards);

TEST(GzipShard, AcceptsZeroPadding) {
  if (!built_with::kZlib.is_built) GTEST_SKIP() << "built without zlib";
  Unpacked unpacked(gzip_bytes("one") + std::string(700, '\0') + gzip_bytes("two") +
                    std::string(70'000, '\0'));
  EXPECT_EQ(unpacked.read_all(10), "onetwo");
}

TEST(ZstdShard, SkipsSkippableFrames) {
  if (!built_with::kZstd.is_built) GTEST_SKIP() << "built without zstd";
  const std::string skippable = std::string("\x50\x2a\x4d\x18\x04\0\0\0", 8) + "note";
  Unpacked unpacked(zstd_bytes("one") + skippable + zstd_bytes("two") + skippable);
  EXPECT_EQ(unpacked.read_all(10), "onetwo");
}

TEST(ZstdShard, CountsMemoryOfLargeWindowAndRejectsHugeOne) {
  if (!built_with::kZstd.is_built) GTEST_SKIP() << "built without zstd";
  const std::string text = make_noisy_text(100'000);
  Unpacked large(zstd_window_bytes(text, 24));
  EXPECT_TRUE(large.read_all(1000) == text);
  EXPECT_GE(large.shard->memory(), Bytes{16} << 20);
  EXPECT_LT(large.shard->memory(), Bytes{18} << 20);
  Unpacked huge(zstd_window_bytes(text, 28));
  try {
    huge.read(0, 10);
    FAIL();
  } catch (const SampleError& error) {
    EXPECT_EQ(error.kind, SampleError::Kind::too_large);
    EXPECT_THAT(error.what(), HasSubstr("zstd --long=27"));
  }
}

}  // namespace
}  // namespace loaderscope::source
