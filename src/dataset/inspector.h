// One thread's eye on files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dataset/image_facts.h"
#include "dataset/info.h"

namespace loaderscope::dataset {

class Inspector {
 public:
  // `decoder` may be null: headers and lengths only.
  Inspector(std::string root, std::unique_ptr<Decoder> decoder)
      : root_(std::move(root)), decoder_(std::move(decoder)) {}

  // Books the file at `path`, relative to the root. Returns its size.
  Bytes inspect(const std::string& path);

  const DatasetInfo& seen() const { return seen_; }

 private:
  struct File;
  ImageFacts facts_of(File& file);
  std::string damage_of(File& file, const ImageFacts& facts);
  std::string damage_in_pixels(File& file);
  void book(const std::string& path, const ImageFacts& facts, Bytes size);
  void book_damaged(const std::string& path, std::string cause);

  std::string root_;
  std::unique_ptr<Decoder> decoder_;
  DatasetInfo seen_;
  std::vector<std::byte> buffer_;
};

}  // namespace loaderscope::dataset
