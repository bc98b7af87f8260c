#include "unit/source/lmdb_writer.h"

#include <lmdb.h>

#include <stdexcept>

namespace loaderscope::source {

void write_lmdb_file(const std::string& path,
                     std::vector<std::pair<std::string, std::string>> values) {
  MDB_env* environment = nullptr;
  MDB_txn* writing = nullptr;
  MDB_dbi database = 0;
  int failed = ::mdb_env_create(&environment);
  failed |= ::mdb_env_set_mapsize(environment, std::size_t{64} << 20);
  failed |= ::mdb_env_open(environment, path.c_str(), MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0644);
  failed |= ::mdb_txn_begin(environment, nullptr, 0, &writing);
  failed |= ::mdb_dbi_open(writing, nullptr, 0, &database);
  for (auto& [key, value] : values) {
    MDB_val name{key.size(), key.data()}, content{value.size(), value.data()};
    failed |= ::mdb_put(writing, database, &name, &content, 0);
  }
  failed |= ::mdb_txn_commit(writing);
  ::mdb_env_close(environment);
  if (failed != 0) throw std::runtime_error("LMDB " + path);
}

}  // namespace loaderscope::source
