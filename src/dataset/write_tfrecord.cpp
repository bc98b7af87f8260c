// TFRecord files: a tf.train.Example for each sample, with the names that TensorFlow's own data
// sets of images have.
#include <protozero/pbf_writer.hpp>
#include <string>

#include "dataset/files.h"
#include "dataset/writer.h"
#include "source/tfrecord.h"

namespace loaderscope::dataset {
namespace {

// Field numbers of tf.train.
constexpr protozero::pbf_tag_type kFeatures = 1, kEntry = 1, kName = 1, kFeature = 2,
                                  kBytesList = 1, kInt64List = 3, kValue = 1;

void add_feature(protozero::pbf_writer& features, std::string_view name,
                 protozero::pbf_tag_type kind, const std::string& list) {
  protozero::pbf_writer entry(features, kEntry);
  entry.add_string(kName, name.data(), name.size());
  protozero::pbf_writer feature(entry, kFeature);
  feature.add_message(kind, list);
}

void add_bytes(protozero::pbf_writer& features, std::string_view name, std::string_view value) {
  std::string list;
  protozero::pbf_writer(list).add_bytes(kValue, value.data(), value.size());
  add_feature(features, name, kBytesList, list);
}

void add_number(protozero::pbf_writer& features, std::string_view name, std::int64_t value) {
  std::string list;
  protozero::pbf_writer(list).add_packed_int64(kValue, &value, &value + 1);
  add_feature(features, name, kInt64List, list);
}

class TfrecordWriter final : public ShardWriter {
 public:
  TfrecordWriter(const std::string& path, bool has_labels) : file_(path), has_labels_(has_labels) {}

  void add(const PackedSample& sample) override {
    example_.clear();
    {
      protozero::pbf_writer example(example_);
      protozero::pbf_writer features(example, kFeatures);
      const std::string_view image(reinterpret_cast<const char*>(sample.bytes.data()),
                                   sample.bytes.size());
      add_bytes(features, "image/encoded", image);
      add_bytes(features, "image/filename", sample_key(sample.number) + std::string(sample.suffix));
      if (has_labels_) add_number(features, "image/class/label", sample.label);
    }
    append_record(std::as_bytes(std::span(example_)));
  }
  void finish() override { file_.finish(); }
  Bytes bytes() const override { return file_.bytes(); }

 private:
  void append_record(std::span<const std::byte> record) {
    const std::uint64_t length = record.size();
    const auto head = std::as_bytes(std::span(&length, 1));
    const std::uint32_t head_crc = source::masked_crc32c(head);
    const std::uint32_t record_crc = source::masked_crc32c(record);
    file_.append(head);
    file_.append(std::as_bytes(std::span(&head_crc, 1)));
    file_.append(record);
    file_.append(std::as_bytes(std::span(&record_crc, 1)));
  }

  OutputFile file_;
  bool has_labels_;
  std::string example_;
};

}  // namespace

std::unique_ptr<ShardWriter> open_tfrecord_writer(const Container& container, std::int64_t shard) {
  return std::make_unique<TfrecordWriter>(tfrecord_path(container, shard),
                                          container.plan.classes > 0);
}

}  // namespace loaderscope::dataset
