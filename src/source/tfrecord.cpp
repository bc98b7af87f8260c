// TFRecord files as a source.
#include "source/tfrecord.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "loaderscope/errors.h"
#include "source/access.h"
#include "source/compression.h"
#include "source/index_cache.h"
#include "source/named_files.h"
#include "source/parallel.h"
#include "source/store.h"
#include "source/walk.h"

#ifdef __aarch64__
#include <arm_acle.h>
#include <sys/auxv.h>
#else
#include <nmmintrin.h>
#endif

namespace loaderscope::source {
namespace {

// Raised whenever the same files would be listed in another way.
constexpr std::string_view kRecordRules = "1";
// Width of a record's begin in the index. Each such part of a larger file is a folder of the index,
// numbered by its label.
constexpr int kPartBits = 32;
constexpr std::size_t kLookEveryRecords = 4096;  // records, whether the listing is to stop

struct RecordListing {
  FolderStamp stamp;
  std::vector<StoredRecord> records;
};

RecordListing list_records(const std::string& path, const SourceContext& context) {
  RecordListing listing;
  try {
    const std::unique_ptr<StoredObject> file = find_store(path).open(path);
    listing.stamp = file->stamp();
    RecordWalk walk(*file);
    if (const CompressionRow* row = detect_compression(*file))
      throw ValueError(why_not_indexed(*row));
    while (const auto record = walk.next()) {
      listing.records.push_back(*record);
      if (listing.records.size() % kLookEveryRecords == 0) context.throw_if_stopped();
    }
  } catch (const ValueError& error) {
    throw add_place<RunError>(shown_text(path) + ": ", error);
  }
  return listing;
}

void add_listing(const RecordListing& listing, std::uint32_t file, IndexBuilder& builder) {
  std::uint32_t folder = 0;
  Bytes part = -1;
  std::int64_t number = 0;
  for (const StoredRecord& record : listing.records) {
    if (record.begin >> kPartBits != part) {
      part = record.begin >> kPartBits;
      folder = builder.add_folder({file, "", static_cast<std::int32_t>(part), listing.stamp});
    }
    builder.add(folder, std::to_string(number++));
    builder.place_last(
        {static_cast<std::uint32_t>(record.begin),
         static_cast<std::uint32_t>(std::min<Bytes>(record.size, StoredExtent::kMax))});
  }
}

Index index_records(const std::vector<std::string>& files, std::string_view identity,
                    const SourceContext& context) {
  std::vector<RecordListing> listings(files.size());
  for_each_index(std::ssize(files), "listing records", context, [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    listings[place] = list_records(files[place], context);
  });
  IndexBuilder builder;
  for (std::uint32_t i = 0; i < files.size(); ++i) add_listing(listings[i], i, builder);
  if (builder.samples() == 0) throw RunError(shown_text(files.front()) + ": holds no record");
  return builder.finish(identity);
}

bool takes_whole_records(const FormatParameters& words) {
  const auto word = words.find("value");
  if (word == words.end() || word->second == "example") return false;
  if (word->second == "raw") return true;
  throw UsageError("data: value=" + shown_text(word->second) + ": expected example or raw",
                   "give value=example if a feature is the image, value=raw if a record is one");
}

class TfrecordSource final : public ExtentSource {
 public:
  TfrecordSource(const SourceOptions& options, std::vector<std::string> files, Index index)
      : ExtentSource(options),
        files_(std::move(files)),
        index_(std::move(index)),
        whole_(takes_whole_records(options.words)),
        classes_(options.classes),
        feature_(text_parameter(options.words, options.classes ? "label" : "feature")) {
    if (whole_ && !feature_.empty())
      throw UsageError(fmt::format("data: {} is of value=example", classes_ ? "label" : "feature"),
                       "leave one of them out");
    if (whole_ && classes_)
      throw RunError(shown_text(files_.front()) + ": whole records have no classes");
  }

  // Chooses the feature by the first record if no parameter does. Throws RunError.
  void choose_feature() {
    if (whole_ || !feature_.empty()) return;
    if (!classes_) feature_ = "image/encoded";
    try {
      const auto reader = ExtentSource::make_reader();
      const auto record = checked_record(reader->read(0));
      feature_ = classes_ ? class_feature(record) : image_feature(record);
    } catch (const SampleError&) {  // the run will name it
      return;
    }
    if (feature_.empty())
      throw RunError(describe(0) + (classes_ ? ": has no feature that is called as classes are"
                                             : ": has no feature that holds bytes, and no image"));
    add_note(fmt::format("the feature {} of each record is decoded", shown_text(feature_)));
  }

  std::int64_t size() const override { return index_.samples(); }
  std::string describe(std::int64_t sample) const override {
    std::string number;
    const FolderEntry part = index_.folder(index_.file(sample, number));
    return fmt::format("{}: record {}", files_[part.root], number);
  }
  std::unique_ptr<SampleReader> make_reader() const override {
    return make_reader_of_parts(
        [this, name = std::string()](std::int64_t, std::span<const std::byte> stored) mutable {
          const std::span<const std::byte> record = checked_record(stored);
          if (!classes_) return whole_ ? record : read_feature(record, feature_);
          name = read_class(record, feature_);
          return std::as_bytes(std::span(std::as_const(name)));
        });
  }

  std::int64_t objects() const override { return std::ssize(files_); }
  Extent extent(std::int64_t sample) const override {
    thread_local std::string number;
    const FolderEntry part = index_.folder(index_.file(sample, number));
    const StoredExtent where = index_.extent(sample).value_or(StoredExtent{});
    return {part.root, Bytes{part.label} << kPartBits | where.begin, where.bytes};
  }
  void get_path(std::int64_t object, std::string& path) const override {
    path = files_[static_cast<std::size_t>(object)];
  }
  std::vector<std::string> roots() const override { return files_; }

 private:
  std::vector<std::string> files_;
  Index index_;
  bool whole_, classes_;
  std::string feature_;
};

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_tfrecord(const SourceOptions& options, const SourceContext& context) {
  std::vector<std::string> files = source::named_files(options.paths, source::kTfrecordSuffixes);
  std::string key = fmt::format("tfrecord {} ", source::kRecordRules);
  for (const std::string& file : files) source::append_path(key, file);
  source::Index index = source::cached_index(options, key, key, files, 0, context, [&] {
                          return source::index_records(files, key, context);
                        }).index;
  auto source =
      std::make_unique<source::TfrecordSource>(options, std::move(files), std::move(index));
  source->settle_access();
  source->choose_feature();
  return source;
}

}  // namespace loaderscope

namespace loaderscope::source {

// The checksum of TFRecord: CRC-32C, by the instruction that processors have for it.

namespace {

#ifdef __aarch64__
#ifdef __clang__
#define LOADERSCOPE_WITH_CRC __attribute__((target("crc")))
#else
#define LOADERSCOPE_WITH_CRC __attribute__((target("+crc")))
#endif
LOADERSCOPE_WITH_CRC std::uint32_t word_crc(std::uint32_t sum, std::uint64_t word) {
  return __crc32cd(sum, word);
}
LOADERSCOPE_WITH_CRC std::uint32_t byte_crc(std::uint32_t sum, std::uint8_t byte) {
  return __crc32cb(sum, byte);
}
constexpr const char* kMissing = "this processor has no CRC instructions";
bool has_crc() { return (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#else
#define LOADERSCOPE_WITH_CRC __attribute__((target("sse4.2")))
LOADERSCOPE_WITH_CRC std::uint32_t word_crc(std::uint32_t sum, std::uint64_t word) {
  return static_cast<std::uint32_t>(_mm_crc32_u64(sum, word));
}
LOADERSCOPE_WITH_CRC std::uint32_t byte_crc(std::uint32_t sum, std::uint8_t byte) {
  return _mm_crc32_u8(sum, byte);
}
constexpr const char* kMissing = "this processor has no SSE 4.2";
bool has_crc() { return __builtin_cpu_supports("sse4.2") != 0; }
#endif

LOADERSCOPE_WITH_CRC std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0xffffffff;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    sum = word_crc(sum, word);
  }
  for (const std::byte byte : bytes) sum = byte_crc(sum, std::to_integer<std::uint8_t>(byte));
  return ~sum;
}

}  // namespace

std::optional<std::string> no_crc32c() {
  if (has_crc()) return std::nullopt;
  return std::string(kMissing) + ", by which the checksums are made.";
}

std::uint32_t masked_crc32c(std::span<const std::byte> bytes) {
  const std::uint32_t sum = crc32c(bytes);
  return (sum >> 15 | sum << 17) + 0xa282ead8u;
}

}  // namespace loaderscope::source
