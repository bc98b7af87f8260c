#include "engine/import/sqlite_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "loaderscope/errors.h"

namespace loaderscope::traces {
namespace {

constexpr std::size_t kMaxText = 4096;

// Escapes a path for a file URI.
std::string file_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        std::isalnum(byte) != 0 || std::string_view("/._-").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri + "?mode=ro&immutable=1";
}

std::string quoted_name(std::string_view name) { return fmt::format("\"{}\"", name); }

}  // namespace

struct SqliteFile::Statement {
  Statement(const SqliteFile& file, const std::string& text) {
    if (::sqlite3_prepare_v2(file.file_, text.c_str(), -1, &statement, nullptr) != SQLITE_OK)
      file.fail("cannot be read");
  }
  ~Statement() { ::sqlite3_finalize(statement); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  sqlite3_stmt* statement = nullptr;
};

bool SqliteRow::has(std::size_t column) const {
  const int at = columns_.at(column);
  return at >= 0 && ::sqlite3_column_type(statement_, at) != SQLITE_NULL;
}

std::int64_t SqliteRow::integer(std::size_t column, std::int64_t otherwise) const {
  const int at = columns_.at(column);
  if (at < 0 || ::sqlite3_column_type(statement_, at) != SQLITE_INTEGER) return otherwise;
  return ::sqlite3_column_int64(statement_, at);
}

std::string_view SqliteRow::text(std::size_t column) const {
  const int at = columns_.at(column);
  if (at < 0 || ::sqlite3_column_type(statement_, at) != SQLITE_TEXT) return {};
  const auto* text = reinterpret_cast<const char*>(::sqlite3_column_text(statement_, at));
  if (text == nullptr) return {};
  const auto bytes = static_cast<std::size_t>(::sqlite3_column_bytes(statement_, at));
  return {text, std::min(bytes, kMaxText)};
}

SqliteFile::SqliteFile(const std::string& path) : path_(path) {
  const int flags =
      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  if (::sqlite3_open_v2(file_uri(path).c_str(), &file_, flags, nullptr) != SQLITE_OK) {
    const std::string reason = file_ != nullptr ? ::sqlite3_errmsg(file_) : "no memory";
    ::sqlite3_close(file_);
    throw RunError(fmt::format("{}: cannot be opened ({})", path_, reason),
                   "give an SQLite export of nsys");
  }
  ::sqlite3_db_config(file_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  ::sqlite3_db_config(file_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  ::sqlite3_db_config(file_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  ::sqlite3_db_config(file_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  ::sqlite3_db_config(file_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  // A text or a row of a hostile file takes no more; nor does a query that it could not have made.
  ::sqlite3_limit(file_, SQLITE_LIMIT_LENGTH, 16 << 20);
  ::sqlite3_limit(file_, SQLITE_LIMIT_ATTACHED, 0);
}

SqliteFile::~SqliteFile() { ::sqlite3_close(file_); }

void SqliteFile::fail(const char* doing) const {
  throw RunError(fmt::format("{}: {}: {}", path_, doing, shown_text(::sqlite3_errmsg(file_))),
                 "export it again: nsys export --type sqlite REPORT.nsys-rep");
}

bool SqliteFile::has_table(std::string_view table) const {
  const Statement query(*this,
                        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1 AND "
                        "sql NOT LIKE 'CREATE VIRTUAL%'");
  ::sqlite3_bind_text(query.statement, 1, table.data(), static_cast<int>(table.size()),
                      SQLITE_STATIC);
  const int result = ::sqlite3_step(query.statement);
  if (result != SQLITE_ROW) fail("cannot be read");
  return ::sqlite3_column_int64(query.statement, 0) > 0;
}

// The names of tables and columns are those of our own code.
bool SqliteFile::has_column(std::string_view table, std::string_view column) const {
  const Statement query(*this, "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2");
  ::sqlite3_bind_text(query.statement, 1, table.data(), static_cast<int>(table.size()),
                      SQLITE_STATIC);
  ::sqlite3_bind_text(query.statement, 2, column.data(), static_cast<int>(column.size()),
                      SQLITE_STATIC);
  if (::sqlite3_step(query.statement) != SQLITE_ROW) fail("cannot be read");
  return ::sqlite3_column_int64(query.statement, 0) > 0;
}

void SqliteFile::for_each(std::string_view table, const std::vector<std::string_view>& columns,
                          const std::function<void(const SqliteRow&)>& visit) const {
  if (!has_table(table)) return;
  std::string names;
  std::vector<int> places;
  int next = 0;
  for (const std::string_view column : columns) {
    const bool is_there = has_column(table, column);
    places.push_back(is_there ? next++ : -1);
    if (is_there) names += (names.empty() ? "" : ", ") + quoted_name(column);
  }
  if (names.empty()) return;
  const Statement query(*this,
                        fmt::format("SELECT {0} FROM {1} ORDER BY {0}", names, quoted_name(table)));
  int result = SQLITE_ROW;
  while ((result = ::sqlite3_step(query.statement)) == SQLITE_ROW)
    visit(SqliteRow(query.statement, places));
  if (result != SQLITE_DONE) fail("is damaged or cut off");
}

}  // namespace loaderscope::traces
