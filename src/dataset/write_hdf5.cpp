// HDF5 files of pixels: "images", (samples, height, width, 3) of 8 bits, an image a chunk, and
// "labels".
#include <vector>

#include "base/image_formats.h"
#include "dataset/files.h"
#include "dataset/writer.h"
#include "source/hdf5_writer.h"

namespace loaderscope::dataset {
namespace {

class Hdf5Shard final : public ShardWriter {
 public:
  Hdf5Shard(const Container& container, std::int64_t shard)
      : container_(container), file_(hdf5_path(container, shard)) {
    file_.guarded([&] {
      writer_ = std::make_unique<source::Hdf5Writer>(file_.hidden(), container.sides.height,
                                                     container.sides.width);
    });
  }

  void add(const PackedSample& sample) override {
    check_sides(container_, sample);
    file_.guarded([&] { writer_->add(sample.bytes.subspan(kRawHeader)); });
    bytes_ += std::ssize(sample.bytes);
    if (container_.plan.classes > 0) labels_.push_back(sample.label);
  }
  void finish() override {
    file_.guarded([&] { writer_->finish(labels_); });
    bytes_ = file_.bytes();
    file_.finish();
  }
  Bytes bytes() const override { return bytes_; }

 private:
  const Container& container_;
  LibraryFile file_;
  std::unique_ptr<source::Hdf5Writer> writer_;
  std::vector<std::int64_t> labels_;
  Bytes bytes_ = 0;
};

}  // namespace

std::unique_ptr<ShardWriter> open_hdf5_writer(const Container& container, std::int64_t shard) {
  return std::make_unique<Hdf5Shard>(container, shard);
}

}  // namespace loaderscope::dataset
