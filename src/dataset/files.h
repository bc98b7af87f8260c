// Files of a data set, which are complete or missing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/errors.h"
#include "loaderscope/units.h"
#include "source/compression.h"

namespace loaderscope::dataset {

// "PATH: cannot be written: CAUSE; NEXT STEP" for an errno.
RunError cannot_write(const std::string& path, int error);

// A folder that this process uses alone, until destruction. Throws RunError if another process uses
// it.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  // Waits until all data written to this file system is on the disk.
  void sync() const;

 private:
  int fd_;
};

// A file that is written next to its path under a hidden name until it is complete. Readers of the
// path see the whole file. A killed process leaves at most the hidden file, which the next run
// overwrites. All functions throw RunError.
class WholeFile {
 public:
  explicit WholeFile(std::string path);
  ~WholeFile();  // removes an unfinished file
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void append(std::span<const std::byte> bytes);
  // Replaces appended bytes.
  void put(Bytes offset, std::span<const std::byte> bytes);
  // Reads appended bytes; fewer at the end.
  std::size_t read(Bytes offset, std::span<std::byte> to) const;
  void finish();

 private:
  void check(int error) const;

  std::string path_, part_;
  int fd_;
};

// Like WholeFile, for a library that opens and writes the file itself.
class LibraryFile {
 public:
  explicit LibraryFile(std::string path);  // removes a file with the hidden name
  ~LibraryFile();                          // removes an unfinished file
  LibraryFile(const LibraryFile&) = delete;
  LibraryFile& operator=(const LibraryFile&) = delete;

  const std::string& hidden() const { return part_; }
  // Runs an action that throws ValueError, which continues "PATH: ".
  template <class Action>
  void guarded(const Action& action) const {
    try {
      action();
    } catch (const ValueError& error) {
      throw add_place<RunError>(shown_text(path_) + ": ", error);
    }
  }
  Bytes bytes() const;  // size of the file
  // Call after the library has closed the file.
  void finish();

 private:
  std::string path_, part_;
};

void write_whole(const std::string& path, std::span<const std::byte> bytes);
inline void write_whole(const std::string& path, std::string_view text) {
  write_whole(path, std::as_bytes(std::span(text.data(), text.size())));
}

void make_folder(const std::string& path);  // fine when it is there
bool is_written(const std::string& path);   // a regular file that is not empty
bool is_free(const std::string& path);  // missing, or an empty folder; throws RunError for a file

// Throws RunError if the file system of `path` has less than `bytes` left. `remedy` is an
// alternative to making room.
void demand_space(const std::string& path, double bytes, std::string_view remedy);

// A file of a shard, written in large pieces and optionally packed. Complete or missing, like
// WholeFile. All functions throw RunError.
class OutputFile {
 public:
  // `compression` must support packing; null: none.
  explicit OutputFile(const std::string& path, const CompressionRow* compression = nullptr);

  void append(std::span<const std::byte> bytes);
  void append_file(OutputFile& other);  // requires an unpacked file
  // Replaces appended bytes. Requires a file that is not packed.
  void put(Bytes offset, std::span<const std::byte> bytes);
  void finish();
  Bytes bytes() const { return bytes_; }  // size of the file so far

 private:
  void hold(std::span<const std::byte> bytes);
  void flush();

  WholeFile file_;
  std::unique_ptr<source::Packer> packer_;
  std::vector<std::byte> held_, packed_;
  Bytes bytes_ = 0;
};

}  // namespace loaderscope::dataset
