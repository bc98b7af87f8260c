#include "source/lmdb_file.h"

#include <fmt/format.h>
#include <lmdb.h>

#include <filesystem>
#include <memory>

#include "loaderscope/errors.h"

namespace loaderscope::source {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_by_lmdb(int result) {
  const std::string remedy = result == MDB_INVALID || result == MDB_VERSION_MISMATCH
                                 ? "; it is none, or was written by another kind of machine: write "
                                   "it again here (mdb_dump, mdb_load)"
                                 : "";
  throw ValueError(fmt::format("cannot be read by LMDB: {}{}", ::mdb_strerror(result), remedy));
}
void check_lmdb(int result) {
  if (result != MDB_SUCCESS) fail_by_lmdb(result);
}

std::string_view text_of(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

}  // namespace

LmdbFile::LmdbFile(const std::string& path) {
  check_lmdb(::mdb_env_create(&environment_));
  try {
    check_lmdb(::mdb_env_open(environment_, path.c_str(),
                              MDB_NOSUBDIR | MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS, 0));
    check_size(path);
    check_lmdb(::mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &reading_));
    check_lmdb(::mdb_dbi_open(reading_, nullptr, 0, &values_));
  } catch (const ValueError&) {
    close();
    throw;
  }
}

std::optional<std::string_view> LmdbFile::value_of(std::string_view key) const {
  MDB_val name{key.size(), const_cast<char*>(key.data())}, value{};
  const int result = ::mdb_get(reading_, values_, &name, &value);
  if (result == MDB_NOTFOUND) return std::nullopt;
  check_lmdb(result);
  return text_of(value);
}

void LmdbFile::for_each_key(const std::function<void(std::string_view)>& see) const {
  MDB_cursor* cursor = nullptr;
  check_lmdb(::mdb_cursor_open(reading_, values_, &cursor));
  const std::unique_ptr<MDB_cursor, decltype(&::mdb_cursor_close)> held(cursor,
                                                                        &::mdb_cursor_close);
  MDB_val key{}, value{};
  int result = ::mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
  for (; result == MDB_SUCCESS; result = ::mdb_cursor_get(cursor, &key, &value, MDB_NEXT))
    see(text_of(key));
  if (result != MDB_NOTFOUND) fail_by_lmdb(result);
}

// A page behind the end of a mapped file would end this process.
void LmdbFile::check_size(const std::string& path) const {
  MDB_envinfo info{};
  MDB_stat stat{};
  check_lmdb(::mdb_env_info(environment_, &info));
  check_lmdb(::mdb_env_stat(environment_, &stat));
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || info.me_last_pgno >= size / stat.ms_psize)
    throw ValueError(fmt::format("is cut off: it has {} bytes and {} pages of {}; copy it again",
                                 error ? 0 : size, info.me_last_pgno + 1, stat.ms_psize));
}
void LmdbFile::close() {
  if (reading_ != nullptr) ::mdb_txn_abort(reading_);
  ::mdb_env_close(environment_);
}

}  // namespace loaderscope::source
