// Image files, a folder per class. What is a shard elsewhere is here a part of the files, of which
// a hidden note says that they are there.
#include <fmt/format.h>

#include <set>

#include "dataset/files.h"
#include "dataset/plan.h"
#include "dataset/writer.h"

namespace loaderscope::dataset {
namespace {

class FilesWriter final : public ShardWriter {
 public:
  FilesWriter(const Container& container, std::string note)
      : container_(container), note_(std::move(note)) {}

  void add(const PackedSample& sample) override {
    write_whole(
        label_folder(sample.label) + "/" + sample_key(sample.number) + std::string(sample.suffix),
        sample.bytes);
    bytes_ += std::ssize(sample.bytes);
  }
  void finish() override { write_whole(note_, std::string_view("written\n")); }
  Bytes bytes() const override { return bytes_; }

 private:
  std::string label_folder(std::int32_t label) {
    if (container_.plan.classes == 0) return container_.folder;
    std::string folder = container_.folder + "/" + class_folder(container_.plan.classes, label);
    if (made_.insert(label).second) make_folder(folder);
    return folder;
  }

  const Container& container_;
  const std::string note_;
  std::set<std::int32_t> made_;  // classes
  Bytes bytes_ = 0;
};

}  // namespace

std::string files_note_path(const Container& container, std::int64_t shard) {
  return fmt::format("{}/.part-{:06}", container.folder, shard);
}

std::unique_ptr<ShardWriter> open_files_writer(const Container& container, std::int64_t shard) {
  return std::make_unique<FilesWriter>(container, files_note_path(container, shard));
}

}  // namespace loaderscope::dataset
