// Inspection of images by one thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "dataset/image_facts.h"
#include "dataset/info.h"
#include "dataset/stored_image.h"
#include "loaderscope/source.h"

namespace loaderscope::dataset {

class Inspector {
 public:
  // Inspects files below `root`. The context outlives it. Decodes images if it has decoders.
  Inspector(std::string root, const InfoContext& context)
      : root_(std::move(root)),
        on_image_(context.on_image),
        decoder_(context.make_decoder ? context.make_decoder() : nullptr) {}

  // Books the file at `path`, relative to the root. Returns its size.
  Bytes inspect(const std::string& path);
  // Books a sample. `name` is its name in messages.
  void inspect(const std::string& name, std::span<const std::byte> stored);
  // Books a sample that cannot be read.
  void book_damaged(const std::string& name, std::string cause);
  void book_array() { ++seen_.samples; }

  const DatasetInfo& seen() const { return seen_; }

 private:
  Bytes inspect_at_server(const std::string& path, const std::string& whole);
  void look(const std::string& name, StoredImage& stored, bool is_file);
  void tell(const std::string& name, const ImageFacts& facts, Bytes size, bool is_damaged) const;
  ImageFacts facts_of(StoredImage& stored);
  std::string damage_of(StoredImage& stored, const ImageFacts& facts);
  std::string damage_in_pixels(StoredImage& stored);
  void book(const ImageFacts& facts, Bytes size);
  static std::string group_of(const std::string& path);

  std::string root_;
  const std::function<void(SeenImage)>& on_image_;
  std::unique_ptr<Decoder> decoder_;
  DatasetInfo seen_;
  std::vector<std::byte> buffer_;
};

}  // namespace loaderscope::dataset
