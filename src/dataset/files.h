// Files of a data set: whole or not there.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/errors.h"
#include "loaderscope/units.h"

namespace loaderscope::dataset {

// "PATH: cannot be written: CAUSE; NEXT STEP" for an errno.
RunError cannot_write(const std::string& path, int error);

// A folder on which this process alone works, until destruction. Throws RunError when another one
// does.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  // Waits until all that was written to this file system is on the disk.
  void sync() const;

 private:
  int fd_;
};

// A file that is written beside its path under a hidden name, until it is whole: whoever sees the
// path sees all of it. A process that is killed leaves at most the hidden file, which the next run
// overwrites. All throw RunError.
class WholeFile {
 public:
  explicit WholeFile(std::string path);
  ~WholeFile();  // what was not finished is removed
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void append(std::span<const std::byte> bytes);
  // Instead of what was appended there.
  void put(Bytes offset, std::span<const std::byte> bytes);
  // Of what was appended; fewer at its end.
  std::size_t read(Bytes offset, std::span<std::byte> to) const;
  void finish();

 private:
  void check(int error) const;

  std::string path_, part_;
  int fd_;
};

// Likewise one that a library writes, which opens it itself.
class LibraryFile {
 public:
  explicit LibraryFile(std::string path);  // nothing is left under the hidden name
  ~LibraryFile();                          // what was not finished is removed
  LibraryFile(const LibraryFile&) = delete;
  LibraryFile& operator=(const LibraryFile&) = delete;

  const std::string& hidden() const { return part_; }
  // Does what throws ValueError, as it continues "PATH: ".
  template <class Action>
  void guarded(const Action& action) const {
    try {
      action();
    } catch (const ValueError& error) {
      throw RunError(shown_text(path_) + ": " + error.what());
    }
  }
  Bytes bytes() const;  // of it
  // Once the library has closed it.
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

// Throws RunError when the file system of `path` has less than `bytes` left; `remedy`: what else
// than to make room would help.
void demand_space(const std::string& path, double bytes, std::string_view remedy);

}  // namespace loaderscope::dataset
