"""An export of nsys, to the schema that it documents: made_nsys.py FILE [every-table].

30 steps of 100 ms of one process on one GPU: 20 ms in the DataLoader's next, 10 ms of a copy from
pageable memory, 70 ms of a kernel. Some names are hostile. With every-table, a second process works at the same times, and
all tables that the importer reads have rows: threads, collectives, system calls, the scheduler, overhead and warnings.
"""
import sqlite3
import sys

PROCESS = (1 << 48) + (77 << 24)
THREAD = PROCESS + 77
MS = 1_000_000
HOSTILE = "</script>\u202e\x1b[31m"

TABLES = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_GPU (name TEXT);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, shortName);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind,
  srcKind);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER, name TEXT);
CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER, name TEXT);
CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, textId);
"""


def fill(file):
    file.executescript(TABLES)
    file.executemany("INSERT INTO META_DATA_CAPTURE VALUES (?, ?)",
                     [("CAPTURE_EVENT_TYPE", "Cuda"), ("PROCESS_0:ENVIRONMENT_VARIABLE", "SECRET=hunter2")])
    file.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', ?)", ["2026" + HOSTILE])
    file.execute("INSERT INTO TARGET_INFO_GPU VALUES (?)", ["H100" + HOSTILE])
    file.executemany("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (?, ?)",
                     [("Hostname", "node1" + HOSTILE), ("DeviceEnvironment", "SECRET=hunter2")])
    file.executemany("INSERT INTO StringIds VALUES (?, ?)",
                     [(1, "cudaLaunchKernel_v7000"), (2, "kernel" + HOSTILE),
                      (3, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")])
    file.execute("INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (1, 'CUDA_MEMCPY_KIND_HTOD')")
    file.execute("INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE')")
    for step in range(30):
        def at(ms):
            return (100 * step + ms + 5) * MS
        copy, kernel = 2 * step + 1, 2 * step + 2
        file.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?, 3)", [at(0), at(20), THREAD])
        file.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 0, 7, ?, ?, 1000000, 1, 0)",
                     [at(20), at(30), copy, PROCESS])
        file.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, ?, 2)",
                     [at(30), at(100), kernel, PROCESS])
        file.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 1)",
                         [(at(20), at(21), THREAD, copy), (at(21), at(22), THREAD, kernel)])


MORE_TABLES = """
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, streamId, correlationId, globalPid);
CREATE TABLE OSRT_API (start, end, globalTid, nameId);
CREATE TABLE SCHED_EVENTS (start, cpu, isSchedIn, globalTid);
CREATE TABLE PROFILER_OVERHEAD (start, end, globalTid);
CREATE TABLE ThreadNames (nameId, globalTid);
CREATE TABLE ENUM_DIAGNOSTIC_SEVERITY_LEVEL (id, name);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp, severity, text);
"""


def fill_more(file):
    file.executescript(MORE_TABLES)
    file.executemany("INSERT INTO StringIds VALUES (?, ?)",
                     [(10, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"), (11, "ncclDevKernel_Broadcast_RING_LL"),
                      (12, "read"), (13, "poll"), (14, "pt_data_worker"), (15, "aten::conv2d"),
                      (16, "cudaStreamSynchronize_v3020")])
    file.executemany("INSERT INTO TARGET_INFO_GPU VALUES (?)", [["H200"], ["A100"]])
    file.execute("INSERT INTO ENUM_DIAGNOSTIC_SEVERITY_LEVEL VALUES (3, 'Warning')")
    file.executemany("INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 3, ?)", [[f"{n} events were lost"] for n in range(6)])
    other = PROCESS + (1 << 24)
    for process in (PROCESS, other):
        thread, loads = process + 77, process + 78
        file.execute("INSERT INTO ThreadNames VALUES (14, ?)", [process + (9 << 24)])
        for step in range(30):
            def at(ms):
                return int((100 * step + ms + 5) * MS)
            first = 1000 + 10 * step
            if process == other:
                file.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?, 3)", [at(0), at(25), thread])
                file.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 1, 7, ?, ?, 2)",
                             [at(30), at(90), first, process])
            file.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?, 15)", [at(22), at(24), thread])
            file.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, 9, ?, ?, ?)",
                         [at(90 + step % 3), at(100), process == other, first + 1, process, 10 + step % 2])
            file.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (?, ?, ?, 7, ?, ?)",
                         [at(29), at(30), process == other, first + 2, process])
            file.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, ?)",
                             [(at(25), at(26), thread, first, 1), (at(26), at(27), loads, first + 1, 1),
                              (at(26), at(26.5), thread, first + 2, 1), (at(95), at(100), thread, 0, 16)])
            file.executemany("INSERT INTO OSRT_API VALUES (?, ?, ?, ?)",
                             [(at(0), at(6), thread, 12), (at(6), at(9), thread, 13), (at(0), at(9), loads, 12)])
            file.executemany("INSERT INTO SCHED_EVENTS VALUES (?, 0, ?, ?)",
                             [(at(10), 0, thread), (at(14), 1, thread), (at(10), 0, loads), (at(12), 1, loads)])
            file.execute("INSERT INTO PROFILER_OVERHEAD VALUES (?, ?, ?)", [at(27), at(28), thread])


if __name__ == "__main__":
    with sqlite3.connect(sys.argv[1]) as made:
        fill(made)
        if sys.argv[2:] == ["every-table"]:
            fill_more(made)
