# The CUDA toolkit, whose version is LOADERSCOPE_CUDA, and loaderscope_cuda_sources. Without a toolkit, `none`, the device
# `cuda` says so; -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON hides it.
set(LOADERSCOPE_CUDA12 "" CACHE PATH "What scripts/cuda12/toolkit prints: for drivers from 525 on")
set(LOADERSCOPE_CUDA none)

if(LOADERSCOPE_CUDA12)
  find_program(LOADERSCOPE_CUDA_CLANG NAMES clang++-16 clang++-17 clang++-18 clang++-19)
  if(NOT LOADERSCOPE_CUDA_CLANG)
    message(FATAL_ERROR "Kernels for CUDA 12 need clang 16 or newer: run scripts/install-deps cuda.")
  endif()
  set(LOADERSCOPE_CUDA 12.9)
  set(CUDAToolkit_VERSION_MAJOR 12)
  set(CUDAToolkit_LIBRARY_ROOT ${LOADERSCOPE_CUDA12})
  set(CUDAToolkit_INCLUDE_DIRS ${LOADERSCOPE_CUDA12}/include)
  set(CUDAToolkit_LIBRARY_DIR ${LOADERSCOPE_CUDA12}/lib64)
  if(CMAKE_CROSSCOMPILING)
    list(APPEND CMAKE_FIND_ROOT_PATH ${LOADERSCOPE_CUDA12})  # headers are searched in such folders alone
  endif()
  find_package(Threads REQUIRED)
  add_library(CUDA::cudart_static STATIC IMPORTED GLOBAL)
  set_target_properties(CUDA::cudart_static PROPERTIES
    IMPORTED_LOCATION ${CUDAToolkit_LIBRARY_DIR}/libcudart_static.a
    INTERFACE_INCLUDE_DIRECTORIES ${CUDAToolkit_INCLUDE_DIRS}
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};rt")
elseif(NOT CMAKE_CROSSCOMPILING)  # an installed toolkit is for this machine
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND AND TARGET CUDA::cudart_static AND CUDAToolkit_NVCC_EXECUTABLE)
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
      set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
    endif()
    if(LOADERSCOPE_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${LOADERSCOPE_CCACHE})
    endif()
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)  # without -real also PTX, for what is newer
      if(CUDAToolkit_VERSION VERSION_LESS 12.8)
        set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 90)
      else()
        set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 90-real 120-real 100)
      endif()
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      enable_language(CUDA)
      set(CMAKE_CUDA_STANDARD 17)  # newest standard that CMake 3.25 knows for nvcc
      set(CMAKE_CUDA_STANDARD_REQUIRED ON)
      set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
      set(LOADERSCOPE_CUDA ${CUDAToolkit_VERSION_MAJOR}.${CUDAToolkit_VERSION_MINOR})
    endif()
  endif()
endif()

# loaderscope_cuda_sources(TARGET FILE.cu...): kernels as part of the target. No product is fused with a sum: kernels round as
# the host does.
function(loaderscope_cuda_sources target)
  if(NOT LOADERSCOPE_CUDA12)
    target_sources(${target} PRIVATE ${ARGN})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>)
    return()
  endif()
  set(machines --cuda-gpu-arch=sm_75 --cuda-gpu-arch=sm_80 --cuda-gpu-arch=sm_86 --cuda-gpu-arch=sm_90
    --no-cuda-include-ptx=all --cuda-include-ptx=sm_90)  # newer ones from this PTX, by scripts/cuda12/fatbinary
  if(CMAKE_CROSSCOMPILING)
    list(APPEND machines --target=${CMAKE_CXX_COMPILER_TARGET} --sysroot=${CMAKE_SYSROOT})
  endif()
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    get_filename_component(source ${source} ABSOLUTE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.cu.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${LOADERSCOPE_CUDA_CLANG} -x cuda --cuda-path=${LOADERSCOPE_CUDA12} ${machines} -Wno-unknown-cuda-version
        -std=c++17 -O3 -ffp-contract=off -fPIC -Wall -Wextra -Werror -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include
        -I${PROJECT_SOURCE_DIR}/tests -isystem ${LOADERSCOPE_CUDA12}/include
        -MD -MT ${object} -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(${target} PRIVATE ${object})
  endforeach()
endfunction()
