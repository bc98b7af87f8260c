// LMDB files: reading, and writing with the library of LMDB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/units.h"

struct MDB_env;  // declared by the library
struct MDB_txn;

namespace loaderscope::source {

// A reader that must not be used after a fork. It takes no lock, and writes no file next to the
// data. No process may write to the file in the meantime. Throws ValueError, which continues "PATH:
// ".
class LmdbFile {
 public:
  explicit LmdbFile(const std::string& path);
  ~LmdbFile() { close(); }
  LmdbFile(const LmdbFile&) = delete;
  LmdbFile& operator=(const LmdbFile&) = delete;

  // Valid as long as this object. Read it under guard. Nothing for a missing key.
  std::optional<std::string_view> value_of(std::string_view key) const;
  // Returns false if the file shrank in the meantime.
  bool copy(std::string_view value, std::span<std::byte> to) const;
  // visits the keys in order
  void for_each_key(const std::function<void(std::string_view)>& see) const;

 private:
  void check_size();
  std::uintmax_t size_now() const;  // size of the file; 0: unknown
  void close();

  std::string path_;
  std::uintmax_t size_ = 0;  // size when it was opened
  MDB_env* environment_ = nullptr;
  MDB_txn* reading_ = nullptr;
  unsigned values_ = 0;
};

// An LMDB file that is written with the library of LMDB. Throws ValueError, which continues "PATH:
// ".
class LmdbWriter {
 public:
  explicit LmdbWriter(const std::string& path);  // requires that no file exists there
  ~LmdbWriter() { close(); }
  LmdbWriter(const LmdbWriter&) = delete;
  LmdbWriter& operator=(const LmdbWriter&) = delete;

  // Requires keys in ascending order.
  void add(std::string_view key, std::span<const std::byte> value);
  void finish();  // writes everything and closes the file

 private:
  void begin();
  void make_room(Bytes bytes);
  void close();

  MDB_env* environment_ = nullptr;
  MDB_txn* writing_ = nullptr;
  unsigned values_ = 0;
  Bytes map_ = 0, used_ = 0;  // maximum size of the file; upper bound of the added bytes
};

}  // namespace loaderscope::source
