#include "source/lmdb_file.h"

#include <fmt/format.h>
#include <lmdb.h>

#include <filesystem>
#include <utility>

#include "loaderscope/errors.h"
#include "source/readers.h"

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

[[noreturn]] void refuse_damaged_map() {
  throw ValueError("is damaged: its pages cannot be followed", "copy or write it again");
}

[[noreturn]] void fail_as_too_long() {
  throw ValueError("is damaged: a value continues after its end", "copy or write it again");
}

// The library trusts what pages say about each other and about themselves. What it does in a
// transaction that only reads needs no undoing.
int checked_call(const std::function<int()>& call) {
  int result = MDB_SUCCESS;
  if (!call_guarded([&] { result = call(); })) refuse_damaged_map();
  return result;
}

// A failed assertion would end the process otherwise.
void on_failed_assertion(MDB_env*, const char*) { give_up_guarded(); }

}  // namespace

// Memory that `mdb_env_open` allocates leaks if the call is stopped.
LmdbFile::LmdbFile(const std::string& path) : path_(path) {
  MDB_env* environment = nullptr;
  check_lmdb(::mdb_env_create(&environment));
  ::mdb_env_set_assert(environment, on_failed_assertion);
  const int opened = checked_call([&] {
    return ::mdb_env_open(environment, path.c_str(),
                          MDB_NOSUBDIR | MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS, 0);
  });
  environment_ = environment;
  try {
    check_lmdb(opened);
    check_size();
    check_lmdb(checked_call(
        [this] { return ::mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &reading_); }));
    check_lmdb(checked_call([this] { return ::mdb_dbi_open(reading_, nullptr, 0, &values_); }));
  } catch (const ValueError&) {
    close();
    throw;
  }
}

std::optional<std::string_view> LmdbFile::value_of(std::string_view key) const {
  MDB_val name{key.size(), const_cast<char*>(key.data())}, value{};
  const int result = checked_call([&] { return ::mdb_get(reading_, values_, &name, &value); });
  if (result == MDB_NOTFOUND) return std::nullopt;
  check_lmdb(result);
  if (value.mv_size > size_) fail_as_too_long();
  return std::string_view(static_cast<const char*>(value.mv_data), value.mv_size);
}

bool LmdbFile::copy(std::string_view value, std::span<std::byte> to) const {
  if (copy_guarded(to, reinterpret_cast<const std::byte*>(value.data())) == to.size()) return true;
  if (size_now() < size_) return false;
  fail_as_too_long();
}

void LmdbFile::for_each_key(const std::function<void(std::string_view)>& see) const {
  MDB_cursor* cursor = nullptr;
  check_lmdb(::mdb_cursor_open(reading_, values_, &cursor));
  const std::unique_ptr<MDB_cursor, decltype(&::mdb_cursor_close)> held(cursor,
                                                                        &::mdb_cursor_close);
  MDB_val key{}, value{};
  MDB_cursor_op where = MDB_FIRST;
  const std::function<int()> next = [&] { return ::mdb_cursor_get(cursor, &key, &value, where); };
  std::string name;
  int result = checked_call(next);
  for (; result == MDB_SUCCESS; result = checked_call(next)) {
    name.resize(key.mv_size);
    const auto bytes = std::as_writable_bytes(std::span(name));
    if (copy_guarded(bytes, static_cast<const std::byte*>(key.mv_data)) < bytes.size())
      refuse_damaged_map();
    see(name);
    where = MDB_NEXT;
  }
  if (result != MDB_NOTFOUND) fail_by_lmdb(result);
}

std::uintmax_t LmdbFile::size_now() const {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path_, error);
  return error ? 0 : size;
}

// Checks the size, because a page after the end of a mapped file would end this process.
void LmdbFile::check_size() {
  MDB_envinfo info{};
  MDB_stat stat{};
  check_lmdb(checked_call([&] { return ::mdb_env_info(environment_, &info); }));
  check_lmdb(checked_call([&] { return ::mdb_env_stat(environment_, &stat); }));
  if (stat.ms_psize == 0) refuse_damaged_map();
  size_ = size_now();
  if (info.me_last_pgno >= size_ / stat.ms_psize)
    throw ValueError(fmt::format("is cut off: it has {} bytes and {} pages of {}", size_,
                                 info.me_last_pgno + 1, stat.ms_psize),
                     "copy it again");
}

void LmdbFile::close() {
  if (reading_ != nullptr) ::mdb_txn_abort(reading_);
  ::mdb_env_close(environment_);
}

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
