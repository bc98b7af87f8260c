# cmake --install, the release tarball: cpack --preset portable, and Debian's package: cpack --preset debian.
include(GNUInstallDirs)

if(LOADERSCOPE_PORTABLE)
  # libfmt, libhwy and libspng have no static form in Debian. Without LOADERSCOPE_STATIC_LIBRARIES they travel with the
  # program, and with them what they need apart from glibc.
  set(carried ${CMAKE_INSTALL_LIBDIR}/loaderscope)
  file(RELATIVE_PATH from_program /${CMAKE_INSTALL_BINDIR} /${carried})
  set(programs loaderscope)
  if(TARGET loaderscope_gpu_tests)
    list(APPEND programs loaderscope_gpu_tests)
  endif()
  if(NOT LOADERSCOPE_STATIC_LIBRARIES)
    foreach(program ${programs})
      # A build tree without a path of its own would get as many colons, to make room. Each is the current folder.
      set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${from_program}" BUILD_WITH_INSTALL_RPATH ON)
      # DT_RPATH counts for the libraries of libraries too, DT_RUNPATH does not.
      target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
    endforeach()
  endif()
  if(LOADERSCOPE_STATIC)
    target_sources(loaderscope PRIVATE src/no_libraries.cpp)
    target_link_options(loaderscope PRIVATE -static-pie -Wl,--wrap=dlopen,--wrap=dlerror)
    loaderscope_link_older_glibc(loaderscope_guest)  # carried by the program, and loaded by others
  else()
    loaderscope_link_older_glibc(${programs} loaderscope_guest)
  endif()
  set(glibc "^(ld-linux-x86-64|lib(c|m|dl|rt|pthread))\\.so")
  set(dependencies RUNTIME_DEPENDENCIES PRE_EXCLUDE_REGEXES ${glibc} POST_EXCLUDE_REGEXES ${glibc})
  if(CMAKE_CROSSCOMPILING)
    set(dependencies)  # CMake looks for them on this machine alone; scripts/check-package refuses a missing library
  endif()
  install(TARGETS loaderscope ${dependencies}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${carried})
else()
  install(TARGETS loaderscope)
endif()
install(DIRECTORY scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/loaderscope OPTIONAL)
file(GLOB schemas CONFIGURE_DEPENDS reports/*.schema.json)
install(FILES ${schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/loaderscope/schemas)
install(DIRECTORY src/share/ DESTINATION ${CMAKE_INSTALL_DATADIR}/loaderscope)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(LOADERSCOPE_PORTABLE)
  include(src/licenses.cmake)
endif()
include(src/manual/man_pages.cmake)

# Completion scripts of shells: the program writes them if it can run here.
if(NOT LOADERSCOPE_SANITIZE AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
  set(scripts)
  foreach(place "bash bash-completion/completions loaderscope" "zsh zsh/vendor-completions _loaderscope"
      "fish fish/vendor_completions.d loaderscope.fish")
    separate_arguments(place)
    list(GET place 0 shell)
    list(GET place 1 folder)
    list(GET place 2 name)
    set(script ${PROJECT_BINARY_DIR}/completion/${shell})
    add_custom_command(OUTPUT ${script} COMMAND loaderscope completion ${shell} > ${script} DEPENDS loaderscope VERBATIM)
    list(APPEND scripts ${script})
    install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} RENAME ${name})
  endforeach()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completion)
  add_custom_target(loaderscope_completion ALL DEPENDS ${scripts})
endif()

# Programs that are carried to a machine with a GPU, for proofs that need one.
set(gpu_check DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT gpu-check EXCLUDE_FROM_ALL)
install(PROGRAMS scripts/gpu-check ${gpu_check})
install(DIRECTORY scripts/gpu_check ${gpu_check} FILES_MATCHING PATTERN *.py)
if(TARGET loaderscope_gpu_tests)
  install(TARGETS loaderscope_gpu_tests RUNTIME ${gpu_check})
endif()
if(TARGET loaderscope_nvjpeg_check)
  install(TARGETS loaderscope_nvjpeg_check RUNTIME ${gpu_check})
endif()
if(TARGET loaderscope_cupti_check)
  install(TARGETS loaderscope_cupti_check LIBRARY ${gpu_check})
  install(FILES ${PROJECT_BINARY_DIR}/libcupti.so.${CUDAToolkit_VERSION_MAJOR} ${gpu_check})
endif()

set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_FILE_NAME loaderscope-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_GENERATOR TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "The authors of loaderscope <loaderscope@localhost>")
set(CPACK_PACKAGE_VENDOR "The authors of loaderscope")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package_description.txt @ONLY CONTENT [[
loaderscope finds the part of a data loader that makes a GPU wait, and prints
the line to change. It measures PyTorch programs and simulated pipelines.
]])
set(CPACK_PACKAGE_DESCRIPTION_FILE ${PROJECT_BINARY_DIR}/package_description.txt)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, ffmpeg")
if(LOADERSCOPE_OLDER_GLIBC)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.28)")
else()
  # Debian's names and versions of the libraries that the program is linked with; it finds others at run time.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_GROUP Development/Tools)
# The same files give the same bytes if SOURCE_DATE_EPOCH is set.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none
%define _buildhost localhost
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1")
foreach(folder man man/man1 man/man7 bash-completion bash-completion/completions zsh zsh/vendor-completions
    fish fish/vendor_completions.d doc)
  list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/${folder})  # the system's folders
endforeach()
include(CPack)
