# Optional libraries: a row is all that the build knows of one. Without a library its sources are left out, and the rows
# of the program say which package is missing. scripts/install-deps reads the words after DEBIAN here.
#
# loaderscope_optional(NAME TITLE words...)
#   DEBIAN packages...    with its headers, for scripts/install-deps and for the reason that a row gives
#   HEADERS headers...    to find; PATH_SUFFIXES and HINTS are those of find_path
#   LIBRARIES names...    to find and link; without this word only headers are needed
#   FLOOR floor           that links it, with all floors above
#   SOURCES expressions.. of sources and tests that need it, as regular expressions without .cpp
#   INSTEAD expressions.. of sources that replace them
#   IF condition          ON or OFF; OFF: the library is not searched for
#   AT_RUN_TIME           loaded by the program; no part of it is distributed with the program
# Makes loaderscope::NAME if it is found, and always the constant built_with::kName for C++.
set(LOADERSCOPE_WITHOUT "" CACHE STRING "Optional libraries to leave out, such as JPEG;ZSTD, or ALL")
set(LOADERSCOPE_LEFT_OUT "")   # expressions of sources
set(LOADERSCOPE_LINKED "")     # file names, for --version
set(LOADERSCOPE_CONSTANTS "")  # the lines of built_with.h

# Sets `found`, `headers` and `libraries` in the caller.
function(loaderscope_find_optional name)
  cmake_parse_arguments(PARSE_ARGV 1 row "" "" "HEADERS;LIBRARIES;PATH_SUFFIXES;HINTS")
  set(found ON)
  foreach(header ${row_HEADERS})
    string(MAKE_C_IDENTIFIER LOADERSCOPE_${name}_${header} place)  # LOADERSCOPE_CUPTI_cupti_h
    find_path(${place} ${header} PATH_SUFFIXES ${row_PATH_SUFFIXES} HINTS ${row_HINTS})
    mark_as_advanced(${place})
    list(APPEND headers ${${place}})
    if(NOT ${place})
      set(found OFF)
    endif()
  endforeach()
  foreach(library ${row_LIBRARIES})
    set(place LOADERSCOPE_${name}_LIBRARY_${library})
    set(file_names ${library})
    if(LOADERSCOPE_PORTABLE)
      list(PREPEND file_names lib${library}.a)
    endif()
    find_library(${place} NAMES ${file_names})
    mark_as_advanced(${place})
    list(APPEND libraries ${${place}})
    if(NOT ${place})
      set(found OFF)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES headers)
  set(found ${found} PARENT_SCOPE)
  set(headers ${headers} PARENT_SCOPE)
  set(libraries ${libraries} PARENT_SCOPE)
endfunction()

function(loaderscope_optional name title)
  cmake_parse_arguments(PARSE_ARGV 2 row "AT_RUN_TIME" "FLOOR;IF"
    "DEBIAN;HEADERS;LIBRARIES;PATH_SUFFIXES;HINTS;SOURCES;INSTEAD")
  list(JOIN row_DEBIAN " and " packages)
  set(found OFF)
  if(DEFINED row_IF AND NOT row_IF)
  elseif(row_HEADERS AND (name IN_LIST LOADERSCOPE_WITHOUT OR LOADERSCOPE_WITHOUT STREQUAL ALL))
    message(STATUS "Left out: ${title}")
  else()
    loaderscope_find_optional(${name} HEADERS ${row_HEADERS} LIBRARIES ${row_LIBRARIES}
      PATH_SUFFIXES ${row_PATH_SUFFIXES} HINTS ${row_HINTS})
    if(NOT found)
      message(STATUS "Built without ${title} (${packages})")
    endif()
  endif()

  set(without ${row_INSTEAD})
  if(NOT found)
    set(without ${row_SOURCES})
  else()
    add_library(loaderscope::${name} INTERFACE IMPORTED GLOBAL)
    target_include_directories(loaderscope::${name} INTERFACE ${headers})
    target_link_libraries(loaderscope::${name} INTERFACE ${libraries})
    if(row_LIBRARIES)
      list(GET libraries 0 library)
      get_filename_component(library ${library} NAME_WE)
      list(APPEND LOADERSCOPE_LINKED ${library})
    endif()
    if(row_FLOOR)
      list(APPEND LOADERSCOPE_LIBRARIES_OF_${row_FLOOR} loaderscope::${name})
    endif()
    if(NOT row_AT_RUN_TIME)
      foreach(package ${row_DEBIAN})
        loaderscope_takes(${package})
      endforeach()
    endif()
  endif()
  foreach(expression ${without})
    list(APPEND LOADERSCOPE_LEFT_OUT "(^|/)(${expression})\\.cpp$")
  endforeach()

  string(SUBSTRING ${name} 0 1 initial)
  string(SUBSTRING ${name} 1 -1 constant)
  string(TOLOWER ${constant} constant)
  if(found)
    set(is_built true)
  else()
    set(is_built false)
  endif()
  string(APPEND LOADERSCOPE_CONSTANTS
    "inline constexpr OptionalLibrary k${initial}${constant} = {\"${title}\", \"${packages}\", ${is_built}};\n")
  foreach(result LEFT_OUT LINKED CONSTANTS LIBRARIES_OF_${row_FLOOR})
    set(LOADERSCOPE_${result} "${LOADERSCOPE_${result}}" PARENT_SCOPE)
  endforeach()
endfunction()

# loaderscope_leave_out(LIST): takes the sources without a library, and those that another replaces, off a list.
function(loaderscope_leave_out name_of_list)
  foreach(expression ${LOADERSCOPE_LEFT_OUT})
    list(FILTER ${name_of_list} EXCLUDE REGEX ${expression})
  endforeach()
  set(${name_of_list} ${${name_of_list}} PARENT_SCOPE)
endfunction()

# Some have no static form in Debian, or need libraries that have none.
set(not_portable ON)
if(LOADERSCOPE_PORTABLE)
  set(not_portable OFF)
endif()
set(has_cuda ON)
if(LOADERSCOPE_CUDA STREQUAL none)
  set(has_cuda OFF)
endif()

# Images.
loaderscope_optional(JPEG libjpeg-turbo DEBIAN libjpeg-dev HEADERS jpeglib.h LIBRARIES jpeg FLOOR decode
  SOURCES decode/jpeg_[a-z_]+ dataset/encode_jpeg[a-z_]* dataset/restarts_test dataset/jpeg_engines_test
  fuzz/jpeg_engines_fuzz bench/decode_bench)
loaderscope_optional(PNG libspng DEBIAN libspng-dev HEADERS spng.h LIBRARIES spng FLOOR decode
  SOURCES decode/png_[a-z_]+ dataset/encode_png)
loaderscope_optional(WEBP libwebp DEBIAN libwebp-dev HEADERS webp/decode.h LIBRARIES webp FLOOR decode
  SOURCES decode/webp_[a-z_]+ dataset/encode_webp)

# Access methods, compressions and containers.
loaderscope_optional(URING liburing DEBIAN liburing-dev HEADERS liburing.h LIBRARIES uring FLOOR source
  SOURCES source/uring INSTEAD source/no_uring)
loaderscope_optional(ZLIB zlib DEBIAN zlib1g-dev HEADERS zlib.h LIBRARIES z FLOOR source
  SOURCES source/gzip_[a-z_]+)
loaderscope_optional(SQLITE SQLite DEBIAN libsqlite3-dev HEADERS sqlite3.h LIBRARIES sqlite3 FLOOR import_engine
  SOURCES engine/import/nsys_[a-z]+ engine/import/sqlite_file import/nsys_trace_test
  INSTEAD engine/import/no_sqlite)
loaderscope_optional(ZSTD libzstd DEBIAN libzstd-dev HEADERS zstd.h LIBRARIES zstd FLOOR source
  SOURCES source/zstd_[a-z_]+)
loaderscope_optional(LZ4 liblz4 DEBIAN liblz4-dev HEADERS lz4frame.h LIBRARIES lz4 FLOOR source
  SOURCES source/lz4_[a-z_]+)
loaderscope_optional(SNAPPY libsnappy DEBIAN libsnappy-dev HEADERS snappy-c.h LIBRARIES snappy FLOOR source
  SOURCES source/snappy_[a-z_]+)
loaderscope_optional(LMDB LMDB DEBIAN liblmdb-dev HEADERS lmdb.h LIBRARIES lmdb FLOOR source
  SOURCES "source/lmdb(_file)?" dataset/write_lmdb)
loaderscope_optional(HDF5 HDF5 DEBIAN libhdf5-dev IF ${not_portable}
  HEADERS hdf5.h LIBRARIES hdf5_serial PATH_SUFFIXES hdf5/serial FLOOR source
  SOURCES source/hdf5[a-z_]* dataset/write_hdf5)
loaderscope_optional(FLATBUFFERS FlatBuffers DEBIAN libflatbuffers-dev HEADERS flatbuffers/flatbuffers.h FLOOR source
  SOURCES source/arrow[a-z_]*)  # FlatBuffers headers describe Arrow's files
loaderscope_optional(CURL "libcurl, OpenSSL or expat" DEBIAN libcurl4-openssl-dev libssl-dev libexpat1-dev
  IF ${not_portable} HEADERS curl/curl.h openssl/hmac.h expat.h LIBRARIES curl crypto expat FLOOR source
  SOURCES source/remote/[a-z0-9_]+ s3_test answers_fuzz INSTEAD source/no_remote)
loaderscope_optional(FFMPEG FFmpeg DEBIAN libavformat-dev libswscale-dev AT_RUN_TIME
  HEADERS libavformat/avformat.h libswscale/swscale.h FLOOR base
  SOURCES base/ffmpeg "(source|decode)/video[a-z_]*" INSTEAD base/no_ffmpeg)

# Settings of a project.
loaderscope_optional(TOML toml++ DEBIAN libtomlplusplus-dev HEADERS toml++/toml.h FLOOR settings
  SOURCES settings/project_toml settings/project_test fuzz/project_fuzz INSTEAD settings/no_toml)

# The machine and its tools.
loaderscope_optional(HWLOC hwloc DEBIAN libhwloc-dev IF ${not_portable} HEADERS hwloc.h LIBRARIES hwloc FLOOR machine
  SOURCES machine/hwloc INSTEAD machine/no_hwloc)
loaderscope_optional(CUDA "the CUDA toolkit" IF ${has_cuda}
  SOURCES device/cuda/real_runtime INSTEAD device/cuda/no_runtime)
loaderscope_optional(CUPTI "CUPTI of the CUDA toolkit" IF ${has_cuda} AT_RUN_TIME
  HEADERS cupti.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include
  SOURCES guest/library/gpu_activity guest/library/stage_marks INSTEAD guest/library/no_gpu_activity)
loaderscope_optional(NVTX "NVTX 3 of the CUDA toolkit" HEADERS nvtx3/nvToolsExt.h HINTS ${CUDAToolkit_INCLUDE_DIRS}
  SOURCES nvtx/library nvtx/tool INSTEAD nvtx/no_library)

if(LOADERSCOPE_PORTABLE AND TARGET loaderscope::WEBP)
  find_library(LOADERSCOPE_SHARPYUV_LIBRARY libsharpyuv.a)  # a part of libwebp.a before 1.3
  if(LOADERSCOPE_SHARPYUV_LIBRARY)
    target_link_libraries(loaderscope::WEBP INTERFACE ${LOADERSCOPE_SHARPYUV_LIBRARY})
  endif()
endif()
if(LOADERSCOPE_STATIC_LIBRARIES AND TARGET loaderscope::PNG)
  find_library(LOADERSCOPE_ZLIB_OF_PNG libz.a)
  target_link_libraries(loaderscope::PNG INTERFACE ${LOADERSCOPE_ZLIB_OF_PNG})
endif()
if(TARGET loaderscope::CUPTI)
  target_include_directories(loaderscope::CUPTI INTERFACE ${CUDAToolkit_INCLUDE_DIRS})  # CUPTI includes them
endif()

set(LOADERSCOPE_GENERATED ${PROJECT_BINARY_DIR}/src/generated)  # include folder
file(CONFIGURE OUTPUT ${LOADERSCOPE_GENERATED}/built_with.h @ONLY CONTENT [[
// Made by src/optional_libraries.cmake of its rows.
#pragma once

#include "base/optional_library.h"

namespace loaderscope::built_with {

@LOADERSCOPE_CONSTANTS@
}  // namespace loaderscope::built_with
]])
