// TFRecord files: records behind one another, each with its length before it and checksums of both,
// read by an index that is made by walking the lengths. A record is a tf.train.Example, of which
// one feature is decoded, or the image itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/source.h"
#include "source/index.h"
#include "source/options.h"
#include "source/shard_bytes.h"

namespace loaderscope::source {

inline constexpr std::string_view kTfrecordSuffixes[] = {".tfrecord", ".tfrecords"};

// Why no checksum can be made here, a sentence.
std::optional<std::string> no_crc32c();
// As TFRecord stores it: rotated, and a constant added.
std::uint32_t masked_crc32c(std::span<const std::byte> bytes);

inline constexpr Bytes kRecordHead = 12, kRecordTail = 4;  // a length and checksums

// A record, with its head and tail.
struct StoredRecord {
  Bytes begin = 0, size = 0;
};

// Walks the lengths of a file.
class RecordWalk {
 public:
  explicit RecordWalk(ShardBytes& file) : file_(file) {}
  // Nothing at the end; the last one may lie beyond it, of a file that is cut. Throws ValueError,
  // as it continues "PATH: ".
  std::optional<StoredRecord> next();

 private:
  ShardBytes& file_;
  Bytes at_ = 0;
};

// What is stored between head and tail. Throws SampleError where its checksum is wrong.
std::span<const std::byte> checked_record(std::span<const std::byte> stored);

// The bytes of a feature of a tf.train.Example. Throws SampleError.
std::span<const std::byte> feature_of(std::span<const std::byte> example, std::string_view name);
// The one that holds an image, by its name or as the longest; "": none holds bytes.
std::string image_feature(std::span<const std::byte> example);
// Likewise the one that is called as classes are; "": none is.
std::string class_feature(std::span<const std::byte> example);
// What it holds, a number or text. Throws SampleError.
std::string class_in(std::span<const std::byte> example, std::string_view name);

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for words that do not fit.
std::unique_ptr<Source> open_tfrecord(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
