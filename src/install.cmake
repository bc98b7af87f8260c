# cmake --install, the release tarball: cpack --preset portable, and Debian's package: cpack --preset debian.
include(GNUInstallDirs)

if(LOADERSCOPE_PORTABLE)
  # libfmt, libhwy and libspng have no static form in Debian. They travel with the program, and with them what
  # they need apart from glibc: libhwy the C++ library, which therefore is not linked statically.
  set(carried ${CMAKE_INSTALL_LIBDIR}/loaderscope)
  file(RELATIVE_PATH from_program /${CMAKE_INSTALL_BINDIR} /${carried})
  set(programs loaderscope)
  if(TARGET loaderscope_gpu_tests)
    list(APPEND programs loaderscope_gpu_tests)
  endif()
  foreach(program ${programs})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${from_program}")
    # DT_RPATH counts for the libraries of libraries too, DT_RUNPATH does not.
    target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
  endforeach()
  set(glibc "^(ld-linux-x86-64|lib(c|m|dl|rt|pthread))\\.so")
  install(TARGETS loaderscope
    RUNTIME_DEPENDENCIES PRE_EXCLUDE_REGEXES ${glibc} POST_EXCLUDE_REGEXES ${glibc}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${carried})
else()
  install(TARGETS loaderscope)
endif()
install(DIRECTORY scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/loaderscope OPTIONAL)
file(GLOB schemas CONFIGURE_DEPENDS reports/*.schema.json)
install(FILES ${schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/loaderscope/schemas)
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
set(CPACK_PACKAGE_FILE_NAME loaderscope-${PROJECT_VERSION}-linux-x86_64)
set(CPACK_GENERATOR TGZ)
set(CPACK_STRIP_FILES ON)
# Debian's names and versions of the libraries that the program is linked with; it finds others at run time, if they are there.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The authors of loaderscope <loaderscope@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, ffmpeg")
include(CPack)
