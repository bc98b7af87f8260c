// A file of LMDB that is written, by its library.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/units.h"

struct MDB_env;  // of the library
struct MDB_txn;

namespace loaderscope::source {

// Throws ValueError, as it continues "PATH: ".
class LmdbWriter {
 public:
  explicit LmdbWriter(const std::string& path);  // where there is nothing
  ~LmdbWriter() { close(); }
  LmdbWriter(const LmdbWriter&) = delete;
  LmdbWriter& operator=(const LmdbWriter&) = delete;

  // Keys come in their order.
  void add(std::string_view key, std::span<const std::byte> value);
  void finish();  // all is written, and the file closed

 private:
  void begin();
  void make_room(Bytes bytes);
  void close();

  MDB_env* environment_ = nullptr;
  MDB_txn* writing_ = nullptr;
  unsigned values_ = 0;
  Bytes map_ = 0, used_ = 0;  // as large as the file may become; what was put at most
};

}  // namespace loaderscope::source
