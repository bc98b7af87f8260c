# cmake --install, and the release tarball: cpack --preset portable.
include(GNUInstallDirs)

if(LOADERSCOPE_PORTABLE)
  # libhwy and libspng have no static form in Debian. They travel with the program, and with them what
  # they need apart from glibc: libhwy the C++ library, which therefore is not linked statically.
  set(carried ${CMAKE_INSTALL_LIBDIR}/loaderscope)
  file(RELATIVE_PATH from_program /${CMAKE_INSTALL_BINDIR} /${carried})
  set_target_properties(loaderscope PROPERTIES INSTALL_RPATH "$ORIGIN/${from_program}")
  # DT_RPATH counts for the libraries of libraries too, DT_RUNPATH does not.
  target_link_options(loaderscope PRIVATE -Wl,--disable-new-dtags)
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
if(EXISTS ${PROJECT_SOURCE_DIR}/scripts/gpu-check)
  install(PROGRAMS scripts/gpu-check DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_FILE_NAME loaderscope-${PROJECT_VERSION}-linux-x86_64)
set(CPACK_GENERATOR TGZ)
set(CPACK_STRIP_FILES ON)
include(CPack)
