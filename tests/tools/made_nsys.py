"""An export of nsys, to the schema that it documents: made_nsys.py FILE.

30 steps of 100 ms of one process on one GPU: 20 ms in the DataLoader's next, 10 ms of a copy from
pageable memory, 70 ms of a kernel. Some names are hostile.
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


if __name__ == "__main__":
    with sqlite3.connect(sys.argv[1]) as made:
        fill(made)
