// A file of LMDB, open in this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
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

  // Valid as long as this is, to be read under guard; nothing for a key that is not there.
  std::optional<std::string_view> value_of(std::string_view key) const;
  // False where the file shrank meanwhile.
  bool copy(std::string_view value, std::span<std::byte> to) const;
  void for_each_key(const std::function<void(std::string_view)>& see) const;  // in their order

 private:
  void check_size();
  std::uintmax_t size_now() const;  // of the file; 0: not known
  void close();

  std::string path_;
  std::uintmax_t size_ = 0;  // when it was opened
  MDB_env* environment_ = nullptr;
  MDB_txn* reading_ = nullptr;
  unsigned values_ = 0;
};

}  // namespace loaderscope::source
