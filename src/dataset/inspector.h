// Inspection of images by one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "dataset/image_facts.h"
#include "dataset/info.h"
#include "loaderscope/source.h"
#include "loaderscope/units.h"
#include "source/store.h"

namespace loaderscope::dataset {

// The bytes of one image in any storage. Image in a file, from an offset, in an object of a server,
// or in memory.
struct StoredImage {
  int fd = -1;  // -1: memory
  Bytes begin = 0, size = 0;
  int error = 0;  // errno of a read
  std::span<const std::byte> bytes;
  std::vector<std::byte>& buffer;                 // destination of reads
  source::StoredObject* server_object = nullptr;  // used in place of `fd` and of memory

  // Returns up to `count` bytes from `offset`, valid until the next call. Fewer at the end, or
  // after an error. Throws ValueError if a server fails.
  std::span<const std::byte> read(Bytes offset, std::size_t count);
};

int opened_file(const std::string& path);  // -1 with errno
// Returns `error`, the cause of a failed open. Throws RunError if a resource of the machine ran
// out, which is not a fault of the file.
int reportable_error(const std::string& path, int error);

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
  void report(const std::string& name, const ImageFacts& facts, Bytes size, bool is_damaged) const;
  ImageFacts read_facts(StoredImage& stored);
  std::string find_damage(StoredImage& stored, const ImageFacts& facts);
  std::string damage_in_pixels(StoredImage& stored);
  void book(const ImageFacts& facts, Bytes size);
  static std::string folder_group(const std::string& path);

  std::string root_;
  const std::function<void(SeenImage)>& on_image_;
  std::unique_ptr<Decoder> decoder_;
  DatasetInfo seen_;
  std::vector<std::byte> buffer_;
};

}  // namespace loaderscope::dataset
