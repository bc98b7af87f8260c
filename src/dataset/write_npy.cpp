// NumPy arrays of pixels, (samples, height, width, 3) of 8 bits; the labels as arrays of the same
// names in a folder of their own.
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "base/image_formats.h"
#include "dataset/files.h"
#include "dataset/writer.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

constexpr std::size_t kHeader = 128;  // with spaces, as NumPy has it

std::string file_name(std::int64_t shard) { return fmt::format("shard-{:06}.npy", shard); }

// Version 1.0.
std::string npy_header(std::string_view type, std::string_view shape) {
  std::string header = "\x93NUMPY";
  header += {'\1', '\0', static_cast<char>(kHeader - 10), '\0'};
  header += fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  header.resize(kHeader - 1, ' ');
  return header + "\n";
}

class NpyWriter final : public ShardWriter {
 public:
  NpyWriter(const Container& container, std::int64_t shard)
      : container_(container), shard_(shard), file_(npy_path(container, shard)) {
    file_.append(std::vector<std::byte>(kHeader));
  }

  void add(const PackedSample& sample) override {
    check_sides(container_, sample);
    file_.append(sample.bytes.subspan(kRawHeader));
    labels_.push_back(sample.label);
  }

  void finish() override {
    const std::string header =
        npy_header("|u1", fmt::format("{}, {}, {}, 3", labels_.size(), container_.sides.height,
                                      container_.sides.width));
    file_.put(0, std::as_bytes(std::span(header)));
    if (container_.plan.classes > 0) write_labels();
    file_.finish();
  }
  Bytes bytes() const override { return file_.bytes(); }

 private:
  void write_labels() const {
    const std::string folder = container_.folder + "/labels";
    make_folder(folder);
    OutputFile file(folder + "/" + file_name(shard_));
    const std::string header = npy_header("<i8", fmt::format("{},", labels_.size()));
    file.append(std::as_bytes(std::span(header)));
    file.append(std::as_bytes(std::span(labels_)));
    file.finish();
  }

  const Container& container_;
  const std::int64_t shard_;
  OutputFile file_;
  std::vector<std::int64_t> labels_;
};

}  // namespace

ImageSides image_sides(std::span<const std::byte> raw_image) {
  ImageSides sides;
  if (raw_image.size() < kRawHeader) return sides;
  std::memcpy(&sides.width, raw_image.data() + 8, sizeof sides.width);
  std::memcpy(&sides.height, raw_image.data() + 12, sizeof sides.height);
  return sides;
}

void check_sides(const Container& container, const PackedSample& sample) {
  const ImageSides sides = image_sides(sample.bytes);
  if (sides != container.sides) {
    throw RunError(
        fmt::format(
            "{}: an array needs images of one size, sample {} has {}x{} pixels and others {}x{}",
            shown_text(container.folder), sample.number, sides.width, sides.height,
            container.sides.width, container.sides.height),
        "pack images of other sizes as tar, or give a --max-side that makes them alike");
  }
}

std::string npy_path(const Container& container, std::int64_t shard) {
  return container.folder + "/" + file_name(shard);
}

std::unique_ptr<ShardWriter> open_npy_writer(const Container& container, std::int64_t shard) {
  return std::make_unique<NpyWriter>(container, shard);
}

}  // namespace loaderscope::dataset
