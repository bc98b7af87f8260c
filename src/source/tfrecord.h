// TFRecord files: consecutive records, each with its length and checksums of both. The index is
// made by walking the lengths. A record is a tf.train.Example with one feature to decode, or the
// image itself.
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

// Returns a sentence on why checksums are not available, or nothing.
std::optional<std::string> no_crc32c();
// Returns the checksum in TFRecord's form: rotated, with a constant added.
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
  // Returns the next record, or nothing at the end. The last record of a truncated file may exceed
  // its end. Throws ValueError, which continues "PATH: ".
  std::optional<StoredRecord> next();

 private:
  ShardBytes& file_;
  Bytes at_ = 0;
};

// Returns the content between head and tail. Throws SampleError if the checksum is wrong.
std::span<const std::byte> checked_record(std::span<const std::byte> stored);

// The bytes of a feature of a tf.train.Example. Throws SampleError.
std::span<const std::byte> read_feature(std::span<const std::byte> example, std::string_view name);
// Returns the feature that holds an image, by its name or as the longest; "": no feature holds
// bytes.
std::string image_feature(std::span<const std::byte> example);
// Returns the feature with a usual name of a class; "": none.
std::string class_feature(std::span<const std::byte> example);
// Returns the class in a feature, a number or text. Throws SampleError.
std::string read_class(std::span<const std::byte> example, std::string_view name);

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for parameters that do not fit.
std::unique_ptr<Source> open_tfrecord(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
