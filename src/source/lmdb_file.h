// A file of LMDB, open in this process.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

struct MDB_env;  // of the library
struct MDB_txn;

namespace loaderscope::source {

// Never one that this process was forked with. It takes no lock, and leaves no file beside the
// data; nobody may write there meanwhile. Throws ValueError, as it continues "PATH: ".
class LmdbFile {
 public:
  explicit LmdbFile(const std::string& path);
  ~LmdbFile() { close(); }
  LmdbFile(const LmdbFile&) = delete;
  LmdbFile& operator=(const LmdbFile&) = delete;

  // Valid as long as this is; nothing for a key that is not there.
  std::optional<std::string_view> value_of(std::string_view key) const;
  void for_each_key(const std::function<void(std::string_view)>& see) const;  // in their order

 private:
  void check_size(const std::string& path) const;
  void close();

  MDB_env* environment_ = nullptr;
  MDB_txn* reading_ = nullptr;
  unsigned values_ = 0;
};

}  // namespace loaderscope::source
