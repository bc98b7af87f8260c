// The data for the measurements of storage and decoding: the samples of a data set, or a file of
// our own.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "loaderscope/source.h"

namespace loaderscope::probe {

// Part of a file.
struct FileRange {
  std::string path;
  Bytes offset = 0, length = 0;
};

class ProbedData {
 public:
  // `data`: a text of --data; `folder`: where a file is written instead. Both "": there is nothing
  // to read. Throws RunError or UsageError.
  ProbedData(const std::string& data, const std::string& folder, Bytes read_at_most,
             const std::atomic<int>& stop);

  const std::string& place() const { return place_; }        // name for people; "": there is none
  const std::string& file() const { return file_; }          // file that identifies its device
  const std::string& why_none() const { return why_none_; }  // reason against random reads
  const Source* source() const { return source_.get(); }     // null: none was opened
  bool has_images() const { return has_images_; }
  bool is_written() const { return written_ >= 0; }  // a temporary file of ours, which has no name
  // Limits for the reads of storage and decoding. Their sum is the requested limit.
  Bytes storage_bytes() const { return read_at_most_ / 16 * 15; }
  Bytes image_bytes() const { return read_at_most_ / 16; }

  // Returns samples drawn at random, none twice, as parts of files. Limits: `most` samples and
  // `bytes`. Empty if the source does not know their places.
  std::vector<FileRange> pieces(std::size_t most, Bytes bytes, std::uint64_t seed) const;
  // Stored bytes of a sample, the mean of some; 0: not known.
  double sample_bytes() const;

 private:
  void open(const std::string& data, const std::atomic<int>& stop);
  void try_to_write_file(const std::string& folder, const std::atomic<int>& stop);
  void write_file(const std::string& folder, const std::atomic<int>& stop);
  FileRange sample_piece(std::int64_t sample) const;

  std::string place_, file_, why_none_;
  std::unique_ptr<Source> source_;
  bool has_images_ = false;
  Fd written_;
  Bytes written_bytes_ = 0, read_at_most_ = 0;
};

// The device that a file lies on.
struct StorageDevice {
  std::string type;    // type of the file system: "ext4"; "": not known
  std::string source;  // mounted device or export: "/dev/nvme0n1p1", "server:/export"
  std::string kind;  // "NVMe", "rotational disk", "virtual disk", "network", "memory", "disk"; "":
                     // not known
};
// `root`: of the kernel's files.
StorageDevice find_storage_device(const std::filesystem::path& root, const std::string& file);

}  // namespace loaderscope::probe
