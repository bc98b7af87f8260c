# Licence terms of other people's code in the portable package. share/doc/loaderscope/licenses has a file for each Debian
# package, the terms of NVIDIA, and in common/ the files that these refer to.
set(licenses ${CMAKE_INSTALL_DOCDIR}/licenses)

# loaderscope_install_terms(WHERE PACKAGE...): WHERE has the arguments of install() after the destination.
function(loaderscope_install_terms component)
  foreach(package ${ARGN})
    set(terms ${CMAKE_SYSROOT}/usr/share/doc/${package}/copyright)
    if(NOT EXISTS ${terms})
      message(WARNING "The terms of ${package} are not in ${terms}: what is built here is for this machine, not to be given away.")
      continue()
    endif()
    install(FILES ${terms} DESTINATION ${licenses} RENAME ${package} ${component})
    file(READ ${terms} text)
    string(REGEX MATCHALL "/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]" common "${text}")
    list(REMOVE_DUPLICATES common)
    foreach(file ${common})
      get_filename_component(name ${file} NAME)
      get_filename_component(file ${file} REALPATH)
      if(EXISTS ${file})
        install(FILES ${file} DESTINATION ${licenses}/common RENAME ${name} ${component})
      endif()
    endforeach()
  endforeach()
endfunction()

get_property(packages GLOBAL PROPERTY LOADERSCOPE_TAKES)
list(REMOVE_ITEM packages libc6-dev)  # the machine that runs the program has it
loaderscope_install_terms("" ${packages} libstdc++6 libgcc-s1)
if(TARGET loaderscope_gpu_tests)
  loaderscope_install_terms("COMPONENT;gpu-check;EXCLUDE_FROM_ALL" libgtest-dev)
endif()

if(LOADERSCOPE_CUDA12)
  install(FILES ${LOADERSCOPE_CUDA12}/licenses/nvidia-cuda-runtime ${LOADERSCOPE_CUDA12}/licenses/nvidia-nvtx
    DESTINATION ${licenses})
  install(FILES ${LOADERSCOPE_CUDA12}/licenses/nvidia-cuda-cupti DESTINATION ${licenses}
    COMPONENT gpu-check EXCLUDE_FROM_ALL)
elseif(NOT LOADERSCOPE_CUDA STREQUAL none)
  find_file(LOADERSCOPE_CUDA_TERMS NAMES EULA.txt LICENSE HINTS ${CUDAToolkit_LIBRARY_ROOT} NO_DEFAULT_PATH)
  mark_as_advanced(LOADERSCOPE_CUDA_TERMS)
  if(LOADERSCOPE_CUDA_TERMS)
    install(FILES ${LOADERSCOPE_CUDA_TERMS} DESTINATION ${licenses} RENAME nvidia-cuda)
  endif()
endif()

# Packages of which something is part of the program: scripts/packaging/sbom reads these lines.
list(JOIN packages "\n" lines)
set(lines "${lines}\nlibstdc++6\nlibgcc-s1\n")
if(CMAKE_SYSROOT)
  string(PREPEND lines "root ${CMAKE_SYSROOT}\n")  # folder of these packages
endif()
if(LOADERSCOPE_STATIC)
  string(APPEND lines "libc6-dev\n")
endif()
if(LOADERSCOPE_CUDA12)
  string(APPEND lines "cuda12 ${LOADERSCOPE_CUDA12}\n")
elseif(NOT LOADERSCOPE_CUDA STREQUAL none)
  string(APPEND lines "cuda ${LOADERSCOPE_CUDA}\n")
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/linked-packages.txt CONTENT "${lines}" @ONLY)
