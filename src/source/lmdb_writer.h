// An LMDB file that is written with the library of LMDB.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/units.h"

struct MDB_env;  // declared by the library
struct MDB_txn;

namespace loaderscope::source {

// Throws ValueError, which continues "PATH: ".
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
