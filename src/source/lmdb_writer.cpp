#include "source/lmdb_writer.h"

#include <fmt/format.h>
#include <lmdb.h>

#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope::source {
namespace {

constexpr Bytes kFirstMap = Bytes{64} << 20;
constexpr Bytes kSpare = Bytes{1} << 20;  // room for the library's own data
constexpr Bytes kMapPage = 4096;

void check_written(int result) {
  if (result == MDB_SUCCESS) return;
  throw ValueError(fmt::format("cannot be written by LMDB: {}", ::mdb_strerror(result)));
}

}  // namespace

LmdbWriter::LmdbWriter(const std::string& path) : map_(kFirstMap) {
  check_written(::mdb_env_create(&environment_));
  try {
    check_written(::mdb_env_set_mapsize(environment_, static_cast<std::size_t>(map_)));
    check_written(
        ::mdb_env_open(environment_, path.c_str(), MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0666));
    begin();
  } catch (const ValueError&) {
    close();
    throw;
  }
}

void LmdbWriter::begin() {
  check_written(::mdb_txn_begin(environment_, nullptr, 0, &writing_));
  check_written(::mdb_dbi_open(writing_, nullptr, 0, &values_));
}

// A value has pages of its own, where it is no small one, and a place in a page of keys.
void LmdbWriter::add(std::string_view key, std::span<const std::byte> value) {
  const Bytes most = (std::ssize(value) / kMapPage + 2) * kMapPage;
  make_room(most);
  MDB_val name{key.size(), const_cast<char*>(key.data())};
  MDB_val content{value.size(), const_cast<std::byte*>(value.data())};
  check_written(::mdb_put(writing_, values_, &name, &content, MDB_APPEND));
  used_ += most;
}

// The map grows between two transactions only.
void LmdbWriter::make_room(Bytes bytes) {
  if (used_ + bytes + kSpare <= map_) return;
  check_written(::mdb_txn_commit(std::exchange(writing_, nullptr)));
  while (used_ + bytes + kSpare > map_) map_ *= 2;
  check_written(::mdb_env_set_mapsize(environment_, static_cast<std::size_t>(map_)));
  begin();
}

void LmdbWriter::finish() {
  check_written(::mdb_txn_commit(std::exchange(writing_, nullptr)));
  check_written(::mdb_env_sync(environment_, 1));
  close();
}

void LmdbWriter::close() {
  if (writing_ != nullptr) ::mdb_txn_abort(std::exchange(writing_, nullptr));
  if (environment_ != nullptr) ::mdb_env_close(std::exchange(environment_, nullptr));
}

}  // namespace loaderscope::source
