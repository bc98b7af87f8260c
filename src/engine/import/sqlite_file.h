// An SQLite file of another program. It is opened read-only: nothing in it is executed, and no file
// is written next to it. No other file includes SQLite's own header.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace loaderscope::traces {

// One row of a query while it is visited. A column that the table does not have reads as absent.
class SqliteRow {
 public:
  SqliteRow(sqlite3_stmt* statement, const std::vector<int>& columns)
      : statement_(statement), columns_(columns) {}

  bool has(std::size_t column) const;  // there, and not null
  std::int64_t integer(std::size_t column, std::int64_t otherwise = 0) const;
  std::string_view text(std::size_t column) const;  // up to 4 KiB; "" if absent

 private:
  sqlite3_stmt* statement_;
  const std::vector<int>& columns_;  // positions in the statement; -1: absent
};

class SqliteFile {
 public:
  explicit SqliteFile(const std::string& path);  // throws RunError
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  // A true table: neither a view nor a virtual one.
  bool has_table(std::string_view table) const;
  bool has_column(std::string_view table, std::string_view column) const;
  // Calls `visit` with each row of the table, if it is there, sorted by `columns`: the order in the
  // file has no meaning. Throws RunError where the file is damaged.
  void for_each(std::string_view table, const std::vector<std::string_view>& columns,
                const std::function<void(const SqliteRow&)>& visit) const;

 private:
  struct Statement;
  [[noreturn]] void fail(const char* doing) const;

  std::string path_;
  sqlite3* file_ = nullptr;
};

}  // namespace loaderscope::traces
