// Exports of nsys, to the schema that it documents, and SQLite files that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "engine/import/import_engine.h"
#include "loaderscope/analysis.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::traces {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTables = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, shortName INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER,
  srcKind INTEGER);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER, name TEXT);
CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER, name TEXT);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,
  globalTid INTEGER, textId INTEGER);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2026.1');
INSERT INTO META_DATA_CAPTURE VALUES ('CAPTURE_EVENT_TYPE', 'Cuda'),
  ('CAPTURE_EVENT_TYPE', 'NvtxEvents'),
  ('PROCESS_0:ENVIRONMENT_VARIABLE', 'AWS_SECRET=hunter2');
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'kernel'), (3, 'epoch'),
  (4, 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__');
-- Numbers that are not NVIDIA's: what counts are the names.
INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (71, 'CUDA_MEMCPY_KIND_HTOD');
INSERT INTO ENUM_CUDA_MEM_KIND VALUES (30, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE');
)";

// The process and its first thread, as global ids.
constexpr long long kProcess = (1LL << 48) + (77LL << 24), kThread = kProcess + 77;

// 30 steps of 100 ms: 20 ms of waiting, 10 ms of a pageable copy, 70 ms of a kernel.
std::string sql_of_steps() {
  std::string sql;
  for (long long k = 0; k < 30; ++k) {
    const long long at = k * 100'000'000 + 5'000'000;
    const auto ns = [&](long long ms) { return std::to_string(at + ms * 1'000'000); };
    const std::string id = std::to_string(2 * k + 1), next = std::to_string(2 * k + 2);
    const std::string thread = std::to_string(kThread), process = std::to_string(kProcess);
    sql +=
        "INSERT INTO NVTX_EVENTS VALUES (" + ns(0) + "," + ns(20) + ",59,NULL," + thread + ",4);";
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (" + ns(20) + "," + ns(30) + ",0,7," +
           id + "," + process + ",1000000,71,30);";
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + ns(30) + "," + ns(100) + ",0,7," +
           next + "," + process + ",2);";
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + ns(20) + "," + ns(21) + "," +
           thread + "," + id + ",1),(" + ns(21) + "," + ns(22) + "," + thread + "," + next + ",1);";
  }
  return sql;
}

class NsysTrace : public ::testing::Test {
 protected:
  std::string made(const std::string& sql) {
    const std::string path = folder_.path() + "/trace.sqlite";
    std::filesystem::remove(path);
    sqlite3* file = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &file), SQLITE_OK);
    char* wrong = nullptr;
    EXPECT_EQ(sqlite3_exec(file, ("PRAGMA synchronous = OFF; BEGIN;" + sql + "COMMIT;").c_str(),
                           nullptr, nullptr, &wrong),
              SQLITE_OK)
        << wrong;
    sqlite3_close(file);
    return path;
  }
  static RunRecord read(const std::string& path, const std::string& step_range = "") {
    return read_traces({{path}, step_range, 0});
  }
  static std::string refusal(const std::string& path) {
    try {
      read(path);
    } catch (const RunError& error) {
      return error.what();
    }
    return "it was read";
  }

  source::TempFolder folder_;
};

TEST_F(NsysTrace, GivesTheAccountOfItsSteps) {
  const RunRecord record = read(made(kTables + sql_of_steps()));
  const Account account = analyse(record).account;
  EXPECT_EQ(record.ranks.at(0).steps(), 30);
  EXPECT_EQ(account.window, 3 * kSecond);
  EXPECT_EQ(account.compute, 2'100 * kMillisecond);
  EXPECT_EQ(account.stall[Cause::opaque], 600 * kMillisecond);
  EXPECT_EQ(account.stall[Cause::h2d], 300 * kMillisecond);
  EXPECT_EQ(record.config.loader.memory.value, MemoryMode::pageable);
}

TEST_F(NsysTrace, TakesTheProgramsOwnRangeAsAStep) {
  const std::string range = "INSERT INTO NVTX_EVENTS VALUES (5000000, 1505000000, 59, 'epoch', " +
                            std::to_string(kThread) +
                            ", NULL), (1505000000, 3005000000, 59, NULL, " +
                            std::to_string(kThread) + ", 3);";
  EXPECT_EQ(read(made(kTables + sql_of_steps() + range), "epoch").ranks.at(0).steps(), 2);
}

TEST_F(NsysTrace, ReadsKernelsOfGraph) {
  const RunRecord record = read(made(
      std::string(kTables) +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER,"
      "streamId INTEGER, graphId INTEGER, globalPid INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (0, 1000, 0, 7, 1, 5);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (500, 1500, 0, 7, 1, 5, 2);"));
  EXPECT_EQ(analyse(record).account.compute, 1500);
}

TEST_F(NsysTrace, TreatsTwoGpusOfProcessAsTwoRanks) {
  const RunRecord record =
      read(made(std::string(kTables) +
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 10, 0, 7, 1, 5, 2), "
                "(0, 20, 1, 7, 2, 5, 2);"));
  EXPECT_EQ(record.ranks.size(), 2U);
}

TEST_F(NsysTrace, OmitsEnvironmentOfUser) {
  const RunRecord record = read(made(kTables + sql_of_steps()));
  for (const std::string& note : record.notes) EXPECT_THAT(note, Not(HasSubstr("hunter2")));
  EXPECT_FALSE(record.machine.host);
}

TEST_F(NsysTrace, RejectsFileWithoutItsTables) {
  EXPECT_THAT(refusal(made("CREATE TABLE bookmarks (url TEXT);")), HasSubstr("no export of nsys"));
  EXPECT_THAT(refusal(made(kTables)), HasSubstr("neither a GPU's work nor"));
}

// Views in place of tables, triggers, and names that are none.
TEST_F(NsysTrace, RunsNothingOfTheFile) {
  EXPECT_THAT(refusal(made("CREATE TABLE META_DATA_CAPTURE (name, value); CREATE TABLE \"evil\"\"; "
                           "DROP\" (x); CREATE VIEW StringIds AS SELECT 1 AS id, "
                           "load_extension('/tmp/x.so') AS value;")),
              HasSubstr("no export of nsys"));
  const RunRecord record = read(made(
      std::string(kTables) + sql_of_steps() +
      "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END;"
      "CREATE VIEW PROFILER_OVERHEAD AS SELECT 0 AS start, 9000000000 AS end, 1 AS globalTid;"));
  EXPECT_EQ(analyse(record).account.window, 3 * kSecond);
}

TEST_F(NsysTrace, RejectsCutFile) {
  const std::string path = made(kTables + sql_of_steps());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_THAT(refusal(path), HasSubstr("export it again"));
}

TEST_F(NsysTrace, LeavesOutAndCountsImpossibleTimes) {
  const RunRecord record =
      read(made(std::string(kTables) + sql_of_steps() +
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (-5, 10, 0, 7, 1, 5, 2), "
                "(10, 5, 0, 7, 1, 5, 2), (0, 9223372036854775807, 0, 7, 1, 5, 2), ('x', 'y', 0, 7, "
                "1, 5, 2);"));
  EXPECT_EQ(analyse(record).account.window, 3 * kSecond);
  EXPECT_THAT(record.notes, ::testing::Contains(HasSubstr("4 events had no times")));
}

// The thread reads for 10 of the 20 ms before its copy, and is off a core for 5 more.
TEST_F(NsysTrace, ExplainsGapsBySystemCallsAndScheduler) {
  const std::string thread = std::to_string(kThread);
  std::string sql = std::string(kTables) + sql_of_steps() + "DELETE FROM NVTX_EVENTS;" +
                    "CREATE TABLE OSRT_API (start, end, globalTid, nameId);"
                    "CREATE TABLE SCHED_EVENTS (start, cpu, isSchedIn, globalTid);"
                    "INSERT INTO StringIds VALUES (50, 'read'), (51, 'ioctl');";
  for (long long k = 0; k < 30; ++k) {
    const auto ns = [&](long long ms) {
      return std::to_string(k * 100'000'000 + 5'000'000 + ms * 1'000'000);
    };
    sql += "INSERT INTO OSRT_API VALUES (" + ns(0) + "," + ns(10) + "," + thread + ",50),(" +
           ns(0) + "," + ns(20) + "," + thread + ",51),(" + ns(0) + "," + ns(20) + ",12345,50);";
    sql += "INSERT INTO SCHED_EVENTS VALUES (" + ns(12) + ",3,0," + thread + "),(" + ns(12) +
           ",3,1,999),(" + ns(17) + ",2,1," + thread + ");";
  }
  const RunRecord record = read(made(sql));
  // The first step has no gap before its copy: it begins there.
  EXPECT_NEAR(*value_of(record.metrics, "gap.file_read_s"), 0.290, 1e-9);
  EXPECT_NEAR(*value_of(record.metrics, "gap.off_core_s"), 0.145, 1e-9);
}

TEST_F(NsysTrace, ReportsLossesThatNsysWarnsOf) {
  const RunRecord record = read(made(
      std::string(kTables) + sql_of_steps() +
      "CREATE TABLE ENUM_DIAGNOSTIC_SEVERITY_LEVEL (id INTEGER, name TEXT);"
      "INSERT INTO ENUM_DIAGNOSTIC_SEVERITY_LEVEL VALUES (7, 'Info'), (9, 'Warning');"
      "CREATE TABLE DIAGNOSTIC_EVENT (timestamp, severity, text);"
      "INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 9, 'Not all CUDA events might have been "
      "collected.'), (0, 9, 'AWS_SECRET=hunter2'), (0, 7, 'Events were dropped in no case');"));
  EXPECT_THAT(record.notes, ::testing::Contains(HasSubstr("Not all CUDA events")));
  EXPECT_THAT(record.notes, ::testing::Contains(HasSubstr("warned of something else")));
  for (const std::string& note : record.notes) {
    EXPECT_THAT(note, Not(HasSubstr("hunter2")));
    EXPECT_THAT(note, Not(HasSubstr("in no case")));
  }
}

TEST_F(NsysTrace, AlignsFilesOfOneMachineByWorldClock) {
  const auto at = [&](const char* utc) {
    return std::string(kTables) + sql_of_steps() +
           "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs);"
           "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (" +
           utc + ");";
  };
  const std::string one = folder_.path() + "/one.sqlite";
  std::filesystem::rename(made(at("1700000000000000000")), one);
  const RunRecord record = read_traces({{one, made(at("1700000001000000000"))}, "", 0});
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[1].first_ask - record.ranks[0].first_ask, kSecond);
  EXPECT_DOUBLE_EQ(*value_of(record.metrics, "gap.loader_wait_at_s"), 0.005);
}

TEST_F(NsysTrace, SaysThatLoaderIsUnknownWithoutNvtx) {
  const RunRecord record =
      read(made(std::string(kTables) + "DELETE FROM META_DATA_CAPTURE WHERE value = 'NvtxEvents';" +
                sql_of_steps() + "DROP TABLE NVTX_EVENTS;"));
  EXPECT_THAT(record.notes, ::testing::Contains(HasSubstr("NVTX was not recorded")));
  EXPECT_EQ(value_of(record.metrics, "gap.loader_wait_s"), std::nullopt);
}

// Steps and waits alone are an account of the host's.
TEST_F(NsysTrace, AccountsForHostWithoutGpuWork) {
  const RunRecord record =
      read(made(std::string(kTables) + sql_of_steps() +
                "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY;"));
  EXPECT_THAT(record.notes, ::testing::Contains(HasSubstr("no GPU was recorded")));
  EXPECT_EQ(analyse(record).account.stall[Cause::opaque], 600 * kMillisecond);
}

TEST_F(NsysTrace, AsksForExportOfNsysReport) {
  const std::string path = folder_.path() + "/run.nsys-rep";
  std::ofstream(path) << "anything";
  EXPECT_THAT(refusal(path), HasSubstr("nsys export --type sqlite --output"));
}

}  // namespace
}  // namespace loaderscope::traces
