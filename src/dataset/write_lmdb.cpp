// LMDB files: a key a sample, counted up in the order in which they are packed; the value is the
// image, or where there are classes Caffe's Datum of both.
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "dataset/files.h"
#include "dataset/writer.h"
#include "source/lmdb_file.h"

namespace loaderscope::dataset {
namespace {

constexpr protozero::pbf_tag_type kData = 4, kLabel = 5, kIsCoded = 7;  // fields of a Datum

class LmdbShard final : public ShardWriter {
 public:
  LmdbShard(const Container& container, std::int64_t shard)
      : has_labels_(container.plan.classes > 0),
        next_(container.plan.first(shard)),
        file_(lmdb_path(container, shard)) {
    file_.guarded([&] { writer_.emplace(file_.hidden()); });
  }

  void add(const PackedSample& sample) override {
    const std::string key = sample_key(next_++);
    file_.guarded([&] { writer_->add(key, has_labels_ ? encode_datum(sample) : sample.bytes); });
    bytes_ += std::ssize(sample.bytes);
  }
  void finish() override {
    file_.guarded([&] { writer_->finish(); });
    bytes_ = file_.bytes();
    file_.finish();
  }
  Bytes bytes() const override { return bytes_; }

 private:
  std::span<const std::byte> encode_datum(const PackedSample& sample) {
    datum_.clear();
    protozero::pbf_writer datum(datum_);
    datum.add_bytes(kData, reinterpret_cast<const char*>(sample.bytes.data()), sample.bytes.size());
    datum.add_int32(kLabel, sample.label);
    datum.add_bool(kIsCoded, true);
    return std::as_bytes(std::span(datum_));
  }

  bool has_labels_;
  std::int64_t next_;
  LibraryFile file_;
  std::optional<source::LmdbWriter> writer_;
  std::string datum_;
  Bytes bytes_ = 0;
};

}  // namespace

std::unique_ptr<ShardWriter> open_lmdb_writer(const Container& container, std::int64_t shard) {
  return std::make_unique<LmdbShard>(container, shard);
}

}  // namespace loaderscope::dataset
