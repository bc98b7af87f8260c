// What storage and decoding are measured with: the samples of a data set, or a file of our own.
#pragma once

#include <atomic>
#include <cstddef>
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

  const std::string& place() const { return place_; }        // for people; "": there is none
  const std::string& file() const { return file_; }          // of it, by which its device is known
  const std::string& why_none() const { return why_none_; }  // it cannot be read at random
  const Source* source() const { return source_.get(); }     // null: none was opened
  bool has_images() const { return has_images_; }
  bool is_written() const { return written_ >= 0; }  // by us: nobody can find it
  // What storage and decoding may read of it: together what was asked for.
  Bytes storage_bytes() const { return read_at_most_ / 16 * 15; }
  Bytes image_bytes() const { return read_at_most_ / 16; }

  // Samples drawn at random, none twice, as parts of files; none where the source does not say
  // where they lie. At most so many, and so many bytes.
  std::vector<FileRange> pieces(std::size_t most, Bytes bytes, std::uint64_t seed) const;
  // Stored bytes of a sample, the mean of some; 0: not known.
  double sample_bytes() const;

 private:
  void open(const std::string& data, const std::atomic<int>& stop);
  void try_to_write_file(const std::string& folder, const std::atomic<int>& stop);
  void write_file(const std::string& folder, const std::atomic<int>& stop);
  FileRange piece_of(std::int64_t sample) const;

  std::string place_, file_, why_none_;
  std::unique_ptr<Source> source_;
  bool has_images_ = false;
  Fd written_;
  Bytes written_bytes_ = 0, read_at_most_ = 0;
};

}  // namespace loaderscope::probe
